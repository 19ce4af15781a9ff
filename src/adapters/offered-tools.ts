import {
  callback,
  checkArguments,
  number,
  options as optionsShape,
  withMethods,
} from "../errors/check-arguments.ts";
import type { McpTool } from "../session/mcp-tool.ts";
import type { PromptTemplate } from "../session/prompt/prompt-template.ts";
import type { Session } from "../session/session.ts";
import { shownSchema } from "./argument-names.ts";

/** What offers tools to a model: a session all that its agent may use, a prompt those its text speaks of. */
export type ToolSource = Session | PromptTemplate;

/** What every adapter takes beside the source of the tools. */
export interface AdapterOptions {
  /**
   * Which of the tools the model is offered; all by default. It keeps lists short. What the
   * model may call is a question of the session's rights.
   */
  readonly include?: ((tool: McpTool) => boolean) | undefined;
  /** Deadline of each call; the server's own by default, `0` means none. */
  readonly timeoutMs?: number | undefined;
}

const shapes = {
  source: withMethods("a session or a PromptTemplate", "tools", "loadTools"),
  options: optionsShape({ include: callback, timeoutMs: number }),
} as const;

/** A tool as every model provider takes it. */
export interface OfferedTool {
  /** The public name. */
  readonly name: string;
  readonly description: string;
  /** An object schema with properties, whatever the server wrote; made when it is asked for. */
  readonly schema: Readonly<Record<string, unknown>>;
  readonly tool: McpTool;
}

/**
 * The tools to offer, in the order of their source, after servers whose tools are not known yet have been
 * waited for. A tool whose schema was refused is left out: each call of it would fail.
 */
export async function loadOfferedTools(
  source: ToolSource,
  options: AdapterOptions,
): Promise<readonly OfferedTool[]> {
  checkArguments("the tools of a session", shapes, [source, options]);
  return offeredTools(await source.loadTools(), options);
}

/** The same of tools that are known. */
export function offeredTools(
  tools: readonly McpTool[],
  { include = () => true }: AdapterOptions,
): readonly OfferedTool[] {
  return tools
    .filter((tool) => include(tool) && tool.unusable === undefined)
    .map((tool) => ({
      name: tool.name,
      description: tool.description,
      get schema() {
        return shownSchema(tool.inputSchema);
      },
      tool,
    }));
}
