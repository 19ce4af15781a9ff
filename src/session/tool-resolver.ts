import type { CallTarget } from "../call/call-path.ts";
import type { PinLookup } from "../catalog/pin-lookup.ts";
import type { NamedCatalog, ToolCatalog } from "../catalog/tool-catalog.ts";
import { type Naming, mayOwnName } from "../catalog/tool-names.ts";
import { definitionOf } from "../config/server-config.ts";
import { createError } from "../errors/families.ts";
import type { McpError } from "../errors/mcp-error.ts";
import { errorOfDenial } from "../policy/decide-access.ts";
import type { Human } from "../ports/human.ts";
import type { RegisteredServer, ServerRegistry } from "../registry/server-registry.ts";
import { closest } from "../text/closest.ts";
import type { NativeTools } from "./native-tools.ts";
import type { ToolDirectory } from "./tool-directory.ts";
import type { ToolJudge } from "./tool-judge.ts";

export interface ToolResolverParts {
  readonly judge: ToolJudge;
  readonly registry: ServerRegistry;
  readonly catalog: ToolCatalog;
  readonly pins: PinLookup;
  readonly natives: NativeTools;
  readonly directory: ToolDirectory;
  readonly naming: Naming;
  /** Tools that would ask first: listed, or left out. */
  readonly pending: "list" | "omit";
  readonly human: Human | undefined;
}

/** What the public names of one session stand for, judged for its agent. */
export class ToolResolver {
  readonly #parts: ToolResolverParts;

  constructor(parts: ToolResolverParts) {
    this.#parts = parts;
  }

  named(): NamedCatalog {
    return this.#parts.directory.named();
  }

  /** What the agent is shown: native tools, then those of servers in their order. */
  *listed(): Generator<readonly [name: string, target: CallTarget]> {
    const { natives, judge } = this.#parts;
    for (const tool of natives.all()) {
      const target = judge.judgeNative(tool);
      if (this.isListed(target)) yield [tool.originalName, target];
    }
    for (const { name, tool } of this.named().tools) {
      const target = judge.judge(tool);
      if (this.isListed(target)) yield [name, target];
    }
  }

  isListed({ denial, consent }: CallTarget): boolean {
    if (denial !== undefined) return false;
    const { pending, human } = this.#parts;
    return consent !== "ask" || (pending === "list" && human?.confirm !== undefined);
  }

  /** Whatever the verdict; undefined for a name that nobody has as far as is known. */
  find(name: string): CallTarget | undefined {
    const { judge, natives } = this.#parts;
    const named = this.named().byName.get(name);
    if (named !== undefined) return judge.judge(named.tool);
    const native = natives.find(name);
    return native === undefined ? undefined : judge.judgeNative(native);
  }

  /** For a call: connects the servers that may own an unknown name. Rejects with why there is no such tool. */
  resolve(name: string, signal: AbortSignal | undefined): CallTarget | Promise<CallTarget> {
    const known = this.find(name);
    if (known === undefined) return this.#discover(name, signal);
    this.#parts.pins.noteUse();
    return known;
  }

  /**
   * Waits for all candidates, also when the first has a tool of that name: another may have one, too, and
   * then the name belongs to neither. One that cannot be used says so only if none of the others has it.
   */
  async #discover(name: string, signal: AbortSignal | undefined): Promise<CallTarget> {
    const { registry, pins } = this.#parts;
    const candidates = registry.all().filter((server) => this.#mayOwn(name, server));
    const attempts = await Promise.allSettled(
      candidates.map((server) => this.#connect(server, signal)),
    );
    const found = this.find(name);
    if (found === undefined) {
      const failed = attempts.find((attempt) => attempt.status === "rejected");
      throw failed === undefined ? this.#unknown(name) : failed.reason;
    }
    pins.noteUse();
    return found;
  }

  #mayOwn(name: string, server: RegisteredServer): boolean {
    const { catalog, judge, naming, registry } = this.#parts;
    const { config } = server;
    if (catalog.isNamed(config.name) || !judge.sees(config.name)) return false;
    // What a pending entry would call its tools counts for nothing: it is known by its name alone.
    if (!registry.isApproved(server)) return mayOwnName(name, { name: config.name }, naming);
    return mayOwnName(name, config, config.naming ?? naming);
  }

  async #connect(server: RegisteredServer, signal: AbortSignal | undefined): Promise<void> {
    const { judge } = this.#parts;
    const { config, users } = server;
    const denial = judge.serverDenial(server);
    if (denial !== undefined)
      throw errorOfDenial(denial, config.name, definitionOf(config.provenance));
    await users.connectionOf(judge.rights.agent)?.client({ signal });
  }

  #unknown(name: string): McpError {
    const suggestions = closest(name, this.#listedNames());
    return createError("tool_unknown", `no tool "${name.slice(0, 128)}"`, {
      details: { toolName: name.slice(0, 128), suggestions },
      hint: suggestions.length > 0 ? `closest: ${suggestions.join(", ")}` : undefined,
    });
  }

  *#listedNames(): Generator<string> {
    for (const [name] of this.listed()) yield name;
  }
}
