import type { CalledTool, CallTarget } from "../../call/call-contract.ts";
import type { NamedCatalog, NamedTool } from "../../catalog/catalog-names.ts";
import type { CatalogTool } from "../../catalog/catalog-tool.ts";
import type { ToolCatalog } from "../../catalog/tool-catalog.ts";
import { type Naming, mayOwnName } from "../../catalog/tool-names.ts";
import {
  parseOrigin,
  referenceText,
  type ToolOrigin,
  type ToolReference,
} from "../../catalog/tool-origin.ts";
import { definitionOf } from "../../config/keys/server-config.ts";
import { createError } from "../../errors/families.ts";
import type { McpError } from "../../errors/mcp-error.ts";
import { type Denial, errorOfDenial } from "../../policy/decide-access.ts";
import type { RegisteredServer, ServerRegistry } from "../../registry/server-registry.ts";
import { closest } from "../../text/closest.ts";
import { boundedLine } from "../../text/untrusted/bounded-text.ts";
import type { NativeTools } from "../native/native-tools.ts";
import type { ToolJudge } from "../rights/tool-judge.ts";
import type { ToolDirectory } from "./tool-directory.ts";
import type { ToolList } from "./tool-list.ts";

export interface ToolResolverParts {
  readonly judge: ToolJudge;
  readonly registry: ServerRegistry;
  readonly catalog: ToolCatalog;
  readonly natives: NativeTools;
  readonly directory: ToolDirectory;
  readonly list: ToolList;
  readonly naming: Naming;
}

export interface FoundTool {
  /** Its public name. */
  readonly name: string;
  readonly target: CallTarget;
}

export interface LocatedTool {
  readonly server: RegisteredServer;
  /** The tool's own name. */
  readonly toolName: string;
  /** Undefined when the server has no such tool as far as is known. */
  readonly tool: CatalogTool | undefined;
}

const maxShownName = 128;

/** Finds what references to tools stand for in one session, judged for its agent. */
export class ToolResolver {
  readonly #parts: ToolResolverParts;

  constructor(parts: ToolResolverParts) {
    this.#parts = parts;
  }

  named(): NamedCatalog {
    return this.#parts.directory.named();
  }

  /** Finds a known tool, allowed or not; undefined when no known tool has this reference. */
  find(reference: ToolReference): FoundTool | undefined {
    const target = typeof reference === "string" ? this.#findName(reference) : undefined;
    if (target !== undefined) return { name: reference as string, target };
    const { judge } = this.#parts;
    const origin = this.#visibleOrigin(reference);
    const named = origin && judge.sees(origin.server) ? this.named().byOrigin(origin) : undefined;
    return named && { name: named.name, target: judge.judge(named.tool) };
  }

  /**
   * Finds the tool that a question about rights is about. A server that the agent cannot see is found, too, and so is a
   * tool that its entry leaves out: both have their reasons.
   */
  locate(reference: ToolReference): LocatedTool | undefined {
    const { registry } = this.#parts;
    const named = typeof reference === "string" ? this.named().byName.get(reference) : undefined;
    const origin =
      named === undefined
        ? readOrigin(reference, (name) => registry.find(name) !== undefined)
        : { server: named.tool.serverName, tool: named.tool.originalName };
    const server = origin && registry.find(origin.server);
    if (origin === undefined || server === undefined) return undefined;
    const { tool } = named ?? this.named().byOrigin(origin) ?? {};
    return { server, toolName: origin.tool, tool };
  }

  /** For a call: connects the servers that may own an unknown tool. Rejects with why there is no such tool. */
  resolve(called: CalledTool, signal: AbortSignal | undefined): CallTarget | Promise<CallTarget> {
    const { reference } = called;
    const known = typeof reference === "string" ? this.#findCalled(reference) : undefined;
    return known ?? this.#resolveOrigin(called, signal);
  }

  /** Names the agent may have meant, in the spelling it used; only of what it is offered. */
  suggest(reference: ToolReference): readonly string[] {
    if (typeof reference !== "string")
      return closest(reference.tool, this.#listedNames("tool", reference.server));
    return closest(reference, this.#listedNames(reference.includes(".") ? "origin" : "public"));
  }

  #findName(name: string): CallTarget | undefined {
    const named = this.named().byName.get(name);
    return named === undefined ? this.#findNative(name) : this.#parts.judge.judge(named.tool);
  }

  #findCalled(name: string): CallTarget | undefined {
    const named = this.named().byName.get(name);
    return named === undefined
      ? this.#findNative(name)
      : this.#parts.judge.judgeForCall(named.tool);
  }

  #findNative(name: string): CallTarget | undefined {
    const { judge, natives } = this.#parts;
    const native = natives.find(name);
    return native === undefined ? undefined : judge.judgeNative(native);
  }

  #resolveOrigin(
    called: CalledTool,
    signal: AbortSignal | undefined,
  ): CallTarget | Promise<CallTarget> {
    const origin = this.#visibleOrigin(called.reference);
    if (origin === undefined) return this.#discoverName(called.reference as string, signal);
    const server = this.#parts.judge.visibleServer(origin.server);
    const named = this.named().byOrigin(origin);
    return named === undefined
      ? this.#discoverOrigin(called, origin, server, signal)
      : this.#use(called, named);
  }

  #use(called: CalledTool, { name, tool }: NamedTool): CallTarget {
    called.publicName = name;
    return this.#parts.judge.judgeForCall(tool);
  }

  /** `server.tool` of a server that the agent cannot see reads like any name that nobody has. */
  #visibleOrigin(reference: ToolReference): ToolOrigin | undefined {
    const { judge, registry } = this.#parts;
    return readOrigin(reference, (name) => registry.find(name) !== undefined && judge.sees(name));
  }

  /** Starts the server only for a tool that the agent may call, as far as can be told before it is listed. */
  async #discoverOrigin(
    called: CalledTool,
    origin: ToolOrigin,
    server: RegisteredServer,
    signal: AbortSignal | undefined,
  ): Promise<CallTarget> {
    const { judge, catalog } = this.#parts;
    const denial = judge.toolDenial(server, origin.tool);
    if (denial?.code === "tool_unknown")
      throw this.#unknownTool(called.reference, origin, denial.reason);
    if (denial !== undefined) throw this.#refused(denial, server);
    if (!catalog.isNamed(origin.server)) await this.#connect(server, signal);
    const named = this.named().byOrigin(origin);
    if (named === undefined) throw this.#unknownTool(called.reference, origin);
    return this.#use(called, named);
  }

  /**
   * Waits for all candidates, also when the first has a tool of that name: another may have one, too, and
   * then the name belongs to neither. One that cannot be used says so only if none of the others has it.
   */
  async #discoverName(name: string, signal: AbortSignal | undefined): Promise<CallTarget> {
    const { registry } = this.#parts;
    const candidates = registry.all().filter((server) => this.#mayOwn(name, server));
    const attempts = await Promise.allSettled(
      candidates.map((server) => this.#connect(server, signal)),
    );
    const found = this.#findCalled(name);
    if (found !== undefined) return found;
    const failed = attempts.find((attempt) => attempt.status === "rejected");
    throw failed === undefined ? this.#unknownName(name) : failed.reason;
  }

  #mayOwn(name: string, server: RegisteredServer): boolean {
    const { catalog, judge, naming, registry } = this.#parts;
    const { config } = server;
    if (catalog.isNamed(config.name) || !judge.sees(config.name)) return false;
    // The naming rule of an unapproved entry is ignored: only its server name counts.
    if (!registry.isApproved(server)) return mayOwnName(name, { name: config.name }, naming);
    return mayOwnName(name, config, config.naming ?? naming);
  }

  async #connect(server: RegisteredServer, signal: AbortSignal | undefined): Promise<void> {
    const { judge } = this.#parts;
    const denial = judge.serverDenial(server);
    if (denial !== undefined) throw this.#refused(denial, server);
    await server.connections.connectionOf(judge.rights.agent)?.client({ signal });
  }

  #refused(denial: Denial, { config }: RegisteredServer): McpError {
    return errorOfDenial(denial, config.name, definitionOf(config.provenance));
  }

  #unknownName(name: string): McpError {
    const publicName = boundedLine(name, maxShownName);
    return unknown(`no tool "${publicName}"`, { publicName, suggestions: this.suggest(name) });
  }

  #unknownTool(
    reference: ToolReference,
    { server, tool }: ToolOrigin,
    reason = `${server} has no tool "${boundedLine(tool, maxShownName)}"`,
  ): McpError {
    const toolName = boundedLine(tool, maxShownName);
    return unknown(reason, { toolName, suggestions: this.suggest(reference) }, server);
  }

  *#listedNames(spelling: "public" | "origin" | "tool", ofServer?: string): Generator<string> {
    for (const { name, serverName: server, originalName } of this.#parts.list.tools()) {
      if (spelling === "public") yield name;
      else if (spelling === "tool" && server === ofServer) yield originalName;
      else if (spelling === "origin" && server !== undefined)
        yield referenceText({ server, tool: originalName });
    }
  }
}

function readOrigin(
  reference: ToolReference,
  isServer: (name: string) => boolean,
): ToolOrigin | undefined {
  return typeof reference === "string" ? parseOrigin(reference, isServer) : reference;
}

interface UnknownTool extends Readonly<Record<string, unknown>> {
  readonly suggestions: readonly string[];
}

function unknown(message: string, details: UnknownTool, serverName?: string): McpError {
  const { suggestions } = details;
  const hint = suggestions.length > 0 ? `closest: ${suggestions.join(", ")}` : undefined;
  return createError("tool_unknown", message, { serverName, details, hint });
}
