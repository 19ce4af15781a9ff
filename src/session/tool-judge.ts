import type { CallTarget } from "../call/call-path.ts";
import { type CatalogTool, claims } from "../catalog/catalog-tool.ts";
import { decideAccess, type Denial } from "../policy/decide-access.ts";
import { needsConsent, serverAllowance, toolAllowance } from "../policy/decide-consent.ts";
import type { PermissionLevel } from "../policy/permission-level.ts";
import type { ConfirmAnswer } from "../ports/human.ts";
import type { RegisteredServer, ServerRegistry } from "../registry/server-registry.ts";

interface Judgement extends CallTarget {
  /** The state of the world it was passed in; another one needs another judgement. */
  readonly revision: number;
}

/**
 * One agent's rights: what the policy says about each tool, remembered until something it depends on
 * changes. Listing and calling ask the same judge, so they cannot disagree.
 */
export class ToolJudge {
  readonly #agent: string;
  readonly #level: PermissionLevel | undefined;
  readonly #registry: ServerRegistry;
  /** What the person allowed for the rest of the session. */
  readonly #allowances = new Set<string>();
  readonly #judgements = new WeakMap<CatalogTool, Judgement>();
  #answers = 0;

  constructor(agent: string, level: PermissionLevel | undefined, registry: ServerRegistry) {
    this.#agent = agent;
    this.#level = level;
    this.#registry = registry;
  }

  judge(tool: CatalogTool): CallTarget {
    // Both only ever grow, so their sum changes with each of them.
    const revision = this.#registry.revision + this.#answers;
    const known = this.#judgements.get(tool);
    if (known?.revision === revision) return known;
    const judgement = { ...this.#examine(tool), revision };
    this.#judgements.set(tool, judgement);
    return judgement;
  }

  /** Why this agent may not use the server at all, whatever its tools are: asked before it is started. */
  serverDenial(server: RegisteredServer): Denial | undefined {
    const decision = decideAccess({
      serverName: server.config.name,
      isEnabled: server.config.enabled,
      isLaunchApproved: this.#registry.isApproved(server),
      isVisible: server.users.isVisibleTo(this.#agent),
      level: this.#level,
    });
    return decision.isAllowed ? undefined : decision;
  }

  /** Remembers a person's answer. A destructive tool is asked about every time, whatever was answered. */
  remember(answer: ConfirmAnswer, tool: CatalogTool): void {
    const { serverName, originalName } = tool;
    this.#answers += 1;
    if (answer === "server-session") this.#allowances.add(serverAllowance(serverName));
    else if (answer === "tool-session" && !claims(tool, "destructiveHint"))
      this.#allowances.add(toolAllowance(serverName, originalName));
  }

  #examine(tool: CatalogTool): CallTarget {
    const registered = this.#registry.find(tool.serverName);
    // Tools registered from schemas may have no server behind them.
    const server = registered?.config.transport.kind === "none" ? undefined : registered;
    const mustAsk = needsConsent({
      serverName: tool.serverName,
      toolName: tool.originalName,
      level: this.#level,
      claimsReadOnly: claims(tool, "readOnlyHint"),
      claimsDestructive: claims(tool, "destructiveHint"),
      skipReadOnlyPrompts: server?.config.skipReadOnlyPrompts ?? false,
      allowances: this.#allowances,
    });
    const denial = registered === undefined ? undefined : this.serverDenial(registered);
    const connection = server?.users.connectionOf(this.#agent);
    return { tool, server, connection, denial, mustAsk };
  }
}
