import type { ToolCatalog } from "../../catalog/tool-catalog.ts";
import { type ConfigProblem, formatProblem } from "../../config/keys/config-problem.ts";
import type { McpError } from "../../errors/mcp-error.ts";
import type { EventBus } from "../../events/event-bus.ts";
import type { Clock } from "../../ports/clock.ts";
import type { RegisteredServer, ServerRegistry } from "../../registry/server-registry.ts";
import type { ToolJudge } from "../rights/tool-judge.ts";
import type { ToolList } from "./tool-list.ts";

export interface ToolGapsParts {
  readonly agent: string;
  readonly sessionId: string;
  readonly judge: ToolJudge;
  readonly list: ToolList;
  /** Tools that would ask first: listed, or left out. */
  readonly pending: "list" | "omit";
  readonly registry: ServerRegistry;
  readonly catalog: ToolCatalog;
  readonly configProblems: () => readonly ConfigProblem[];
  /** Warnings that any session of the host has published: each is published once. */
  readonly warned: Set<string>;
  readonly events: EventBus;
  readonly clock: Clock;
}

/** Why nothing of a server is offered that has not failed. Servers with the same cause share a warning. */
interface Gap {
  readonly cause: string;
  readonly serverName: string;
  readonly reason: string;
  readonly hint?: string | undefined;
}

/** A server, or a file, decides how many different warnings there could be. */
const maxWarnings = 200;

/**
 * Says why a model is offered fewer tools than the program expects. An empty list looks like a working
 * agent without tools, and nothing else would tell what is missing.
 */
export class ToolGaps {
  readonly #parts: ToolGapsParts;

  constructor(parts: ToolGapsParts) {
    this.#parts = parts;
  }

  /** Warns once for each cause; called when a list has no tool of any server in it. */
  tellEmpty(): void {
    const { judge, agent } = this.#parts;
    this.#tellBrokenEntries();
    this.#tellFailures();
    const byCause = new Map<string, Gap[]>();
    for (const server of judge.visibleServers()) {
      const gap = this.#gapOf(server);
      if (gap !== undefined) byCause.set(gap.cause, [...(byCause.get(gap.cause) ?? []), gap]);
    }
    for (const [first, ...more] of byCause.values()) {
      if (first === undefined) continue;
      const others = more.map(({ serverName }) => serverName).join(", ");
      const also = others === "" ? "" : ` (likewise: ${others})`;
      this.#warn(`agent "${agent}" is offered no tools: ${first.reason}${also}`, first.hint);
    }
  }

  /** Warns of servers that could not be loaded, whatever the others offer; called after waiting for them. */
  tellFailed(): void {
    this.#tellBrokenEntries();
    this.#tellFailures();
  }

  #tellFailures(): void {
    const { registry, judge } = this.#parts;
    for (const server of registry.all()) {
      const error = judge.serverDenial(server) === undefined ? this.#failureOf(server) : undefined;
      if (error !== undefined)
        this.#warn(
          `server "${server.config.name}" could not be loaded: ${error.message}`,
          error.hint,
        );
    }
  }

  #tellBrokenEntries(): void {
    for (const problem of this.#parts.configProblems())
      if (problem.severity === "error")
        this.#warn(`left out of the configuration: ${formatProblem(problem)}`);
  }

  #gapOf(server: RegisteredServer): Gap | undefined {
    const { judge, catalog, list } = this.#parts;
    const serverName = server.config.name;
    const denial = judge.serverDenial(server);
    if (denial !== undefined) return { ...denial, serverName, cause: denial.rule };
    // Told by itself, whatever the others offer.
    if (this.#failureOf(server) !== undefined) return undefined;
    if (!catalog.isKnown(serverName))
      return {
        cause: "unloaded",
        serverName,
        reason: `the tools of server "${serverName}" are not known yet`,
        hint: "await session.loadTools() in place of session.tools()",
      };
    const [first] = catalog.tools(serverName);
    if (first === undefined)
      return { cause: "empty", serverName, reason: `server "${serverName}" lists no tools` };
    const target = judge.judge(first);
    if (list.isListed(target)) return undefined;
    if (target.denial !== undefined)
      return { ...target.denial, serverName, cause: target.denial.rule };
    return { ...this.#consentGap(), serverName, cause: "consent" };
  }

  #consentGap(): Pick<Gap, "reason" | "hint"> {
    if (this.#parts.pending === "omit")
      return {
        reason: 'the session leaves out tools that need consent (pending: "omit")',
        hint: "grant them with host.grants.allow(), or list them",
      };
    return {
      reason: "its tools need consent, and there is nobody to ask",
      hint: 'pass a human to createHost or to the session, allow tools with host.grants.allow(), or use level "yolo"',
    };
  }

  #failureOf({ config, connections }: RegisteredServer): McpError | undefined {
    const { judge, catalog } = this.#parts;
    if (catalog.isKnown(config.name)) return undefined;
    return connections.connectionOf(judge.rights.agent)?.lastError;
  }

  #warn(reason: string, hint?: string): void {
    const { events, clock, warned, sessionId } = this.#parts;
    const text = hint === undefined ? reason : `${reason}; ${hint}`;
    if (warned.has(text) || warned.size >= maxWarnings) return;
    warned.add(text);
    events.emit({ type: "warning", sessionId, text, at: clock.now() });
  }
}
