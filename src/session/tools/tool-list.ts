import { TimeSlice } from "../../async/time-slice.ts";
import type {
  CallOptions,
  CallTarget,
  CallableTool,
  NativeCallable,
  ToolArguments,
} from "../../call/call-contract.ts";
import type { Outcome } from "../../call/outcome.ts";
import type { ToolSchemas } from "../../call/tool-schemas.ts";
import type { NamedCatalog, NamedServer } from "../../catalog/catalog-names.ts";
import type { Human } from "../../human/human.ts";
import type { McpTool } from "../mcp-tool.ts";
import type { NativeTools } from "../native/native-tools.ts";
import type { ServerJudgement, ToolJudge, Validity } from "../rights/tool-judge.ts";
import type { ToolDirectory } from "./tool-directory.ts";

/** So many tools are judged in a millisecond or two. */
const pieceTools = 250;

export interface ToolListParts {
  readonly judge: ToolJudge;
  readonly natives: NativeTools;
  readonly directory: ToolDirectory;
  /** Tools that would ask first: listed, or left out. */
  readonly pending: "list" | "omit";
  readonly human: Human | undefined;
  readonly toolParts: AgentToolParts;
}

/** The listed tools of one server, and how long they are what is listed. */
interface ServerPart extends Validity {
  readonly source: NamedServer;
  readonly listsPending: boolean;
  readonly tools: readonly AgentTool[];
}

/** Tools of a server from `start` on, as many as there are verdicts. */
interface JudgedTools {
  readonly source: NamedServer;
  readonly start?: number;
  readonly targets: readonly CallTarget[];
  readonly listsPending: boolean;
  /** The tools that were listed before, by name. */
  readonly known: ReadonlyMap<string, AgentTool>;
}

/** A whole list with everything that it was made from. */
interface Snapshot extends Pick<Validity, "revision" | "validUntil"> {
  readonly named: NamedCatalog;
  readonly listsPending: boolean;
  readonly nativeCount: number;
  readonly nativeAllowances: number;
  readonly tools: readonly McpTool[];
  readonly hasServerTools: boolean;
}

/**
 * The tools that an agent is shown: native tools, then those of servers in their order. The list is kept until
 * something it was made from has changed; then only the parts of the servers concerned are made again. A tool
 * that is listed as before stays the same object.
 */
export class ToolList {
  readonly #parts: ToolListParts;
  readonly #natives = new WeakMap<NativeCallable, AgentTool>();
  #servers = new Map<string, ServerPart>();
  #snapshot: Snapshot | undefined;

  constructor(parts: ToolListParts) {
    this.#parts = parts;
  }

  tools(): readonly McpTool[] {
    return this.#current().tools;
  }

  /** Judges the tools in slices of time, so that `tools()` finds most of its work done. */
  async prepare(): Promise<void> {
    const slice = new TimeSlice();
    for (const source of this.#parts.directory.namedInAdvance().servers) {
      if (slice.isOver) await slice.next();
      const listsPending = this.#listsPending;
      if (this.#currentPart(source, listsPending) !== undefined) continue;
      const part = await this.#partInPieces(source, listsPending, slice);
      // Meanwhile the tools may have been asked for: what was given out then stays.
      if (this.#currentPart(source, listsPending) === undefined)
        this.#servers.set(source.serverName, part);
    }
  }

  /** Whether any tool of a server is listed. */
  get hasServerTools(): boolean {
    return this.#current().hasServerTools;
  }

  /** The tool as it would be listed. */
  describe(name: string, target: CallTarget): McpTool {
    return new AgentTool(name, target, this.#parts.toolParts);
  }

  isListed({ denial, consent }: CallTarget, listsPending = this.#listsPending): boolean {
    return denial === undefined && (consent !== "ask" || listsPending);
  }

  get #listsPending(): boolean {
    const { pending, human } = this.#parts;
    return pending === "list" && human?.confirm !== undefined;
  }

  #current(): Snapshot {
    const { judge, natives, directory } = this.#parts;
    const known = this.#snapshot;
    const named = directory.named();
    if (
      known !== undefined &&
      known.named === named &&
      known.listsPending === this.#listsPending &&
      known.nativeCount === natives.size &&
      known.nativeAllowances === judge.nativeAllowances &&
      judge.isUnchanged(known)
    )
      return known;
    this.#snapshot = this.#assemble(named);
    return this.#snapshot;
  }

  #assemble(named: NamedCatalog): Snapshot {
    const { judge, natives } = this.#parts;
    const { revision, nativeAllowances } = judge;
    const listsPending = this.#listsPending;
    const servers = new Map<string, ServerPart>();
    const tools: McpTool[] = [...this.#nativeTools()];
    const nativeTools = tools.length;
    let validUntil = Number.POSITIVE_INFINITY;
    for (const server of named.servers) {
      const part = this.#partOf(server, listsPending);
      servers.set(server.serverName, part);
      validUntil = Math.min(validUntil, part.validUntil);
      for (const tool of part.tools) tools.push(tool);
    }
    this.#servers = servers;
    const before = this.#snapshot?.tools ?? [];
    const isSame =
      before.length === tools.length && tools.every((tool, index) => tool === before[index]);
    return {
      named,
      listsPending,
      nativeCount: natives.size,
      nativeAllowances,
      revision,
      validUntil,
      tools: isSame ? before : Object.freeze(tools),
      hasServerTools: tools.length > nativeTools,
    };
  }

  #nativeTools(): readonly McpTool[] {
    const { natives, judge } = this.#parts;
    return natives.all().flatMap((native) => {
      const target = judge.judgeNative(native);
      if (!this.isListed(target)) return [];
      const tool = this.#tool(native.originalName, target, this.#natives.get(native));
      this.#natives.set(native, tool);
      return [tool];
    });
  }

  #partOf(source: NamedServer, listsPending: boolean): ServerPart {
    const current = this.#currentPart(source, listsPending);
    if (current !== undefined) return current;
    const { catalogTools, serverName } = source;
    const { targets, ...validity } = this.#parts.judge.judgeAll(serverName, catalogTools);
    const known = this.#toolsBefore(serverName);
    const tools = this.#listed({ source, targets, listsPending, known });
    return { source, listsPending, tools, ...validity };
  }

  /** Makes the part of a server whose list may be long. It holds only if nothing has changed since its first piece. */
  async #partInPieces(
    source: NamedServer,
    listsPending: boolean,
    slice: TimeSlice,
  ): Promise<ServerPart> {
    const { catalogTools, serverName } = source;
    const known = this.#toolsBefore(serverName);
    const judgePiece = (start: number): ServerJudgement =>
      this.#parts.judge.judgeAll(serverName, catalogTools, { start, end: start + pieceTools });
    const { targets, ...validity } = judgePiece(0);
    const tools = [...this.#listed({ source, targets, listsPending, known })];
    let { validUntil } = validity;
    for (let start = pieceTools; start < catalogTools.length; start += pieceTools) {
      if (slice.isOver) await slice.next();
      const piece = judgePiece(start);
      validUntil = Math.min(validUntil, piece.validUntil);
      tools.push(...this.#listed({ source, targets: piece.targets, listsPending, known, start }));
    }
    return { source, listsPending, tools, ...validity, validUntil };
  }

  /** The part as it was made before, if it would be made alike now. */
  #currentPart(source: NamedServer, listsPending: boolean): ServerPart | undefined {
    const part = this.#servers.get(source.serverName);
    const isCurrent =
      part?.source === source &&
      part.listsPending === listsPending &&
      this.#parts.judge.holds(part);
    return isCurrent ? part : undefined;
  }

  #toolsBefore(serverName: string): ReadonlyMap<string, AgentTool> {
    return new Map(this.#servers.get(serverName)?.tools.map((tool) => [tool.name, tool]));
  }

  #listed({ source, targets, listsPending, known, start = 0 }: JudgedTools): readonly AgentTool[] {
    const tools: AgentTool[] = [];
    for (const [index, target] of targets.entries()) {
      if (!this.isListed(target, listsPending)) continue;
      const { name } = source.tools[start + index] as { readonly name: string };
      tools.push(this.#tool(name, target, known.get(name)));
    }
    return tools;
  }

  #tool(name: string, target: CallTarget, known: AgentTool | undefined): AgentTool {
    if (known !== undefined && AgentTool.isCurrent(known, name, target)) return known;
    return new AgentTool(name, target, this.#parts.toolParts);
  }
}

interface AgentToolParts {
  readonly schemas: Pick<ToolSchemas, "refusal">;
  readonly call: (name: string, args: ToolArguments, options: CallOptions) => Promise<Outcome>;
}

/**
 * A tool as one session lists it. All properties are the object's own, so that a copy has them, too; the getter
 * among them is one function for all tools, because a getter per tool makes each of them a shape of its own.
 */
class AgentTool implements McpTool {
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
