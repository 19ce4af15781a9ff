import type {
  CallableTool,
  CallOptions,
  CallTarget,
  ToolArguments,
} from "../../call/call-contract.ts";
import type { Outcome } from "../../call/outcome.ts";
import type { ToolSchemas } from "../../call/tool-schemas.ts";
import type { McpTool } from "../mcp-tool.ts";

export interface AgentToolParts {
  readonly schemas: Pick<ToolSchemas, "refusal">;
  readonly call: (name: string, args: ToolArguments, options: CallOptions) => Promise<Outcome>;
}

/**
 * A tool as one session lists it. All properties are the object's own, so that a copy has them, too; the getter
 * among them is one function for all tools, because a getter per tool makes each of them a shape of its own.
 */
export class AgentTool implements McpTool {
  readonly name: string;
  readonly originalName: string;
  readonly source: "native" | "mcp";
  readonly serverName: string | undefined;
  readonly title: string | undefined;
  readonly description: string;
  readonly inputSchema: Readonly<Record<string, unknown>>;
  readonly outputSchema: Readonly<Record<string, unknown>> | undefined;
  readonly annotations: Readonly<Record<string, unknown>>;
  readonly needsConsent: boolean;
  declare readonly unusable: string | undefined;
  readonly execute: McpTool["execute"];
  readonly #tool: CallableTool;
  readonly #parts: AgentToolParts;

  constructor(name: string, { tool, consent }: CallTarget, parts: AgentToolParts) {
    this.#tool = tool;
    this.#parts = parts;
    this.name = name;
    this.originalName = tool.originalName;
    this.source = tool.serverName === undefined ? "native" : "mcp";
    this.serverName = tool.serverName;
    this.title = tool.title;
    this.description = tool.description;
    this.inputSchema = tool.inputSchema;
    this.outputSchema = tool.outputSchema;
    this.annotations = tool.annotations;
    this.needsConsent = consent === "ask";
    Object.defineProperty(this, "unusable", unusable);
    this.execute = (args = {}, options = {}) => parts.call(name, args, options);
    Object.freeze(this);
  }

  /** Whether another object made of the same would differ from this one. */
  static isCurrent(known: AgentTool, name: string, { tool, consent }: CallTarget): boolean {
    return (
      known.#tool === tool && known.name === name && known.needsConsent === (consent === "ask")
    );
  }

  static refusalOf(tool: AgentTool): string | undefined {
    return tool.#parts.schemas.refusal(tool.#tool);
  }
}

/** Looks at the schema when it is asked for: a long list must not cost the inspection of every schema. */
const unusable = {
  enumerable: true,
  get(this: AgentTool) {
    return AgentTool.refusalOf(this);
  },
};
