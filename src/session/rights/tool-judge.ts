import type { CallTarget, NativeCallable } from "../../call/call-contract.ts";
import { type CatalogTool, claims } from "../../catalog/catalog-tool.ts";
import type { ToolCatalog } from "../../catalog/tool-catalog.ts";
import { isToolAllowed } from "../../catalog/tool-filter.ts";
import { createError } from "../../errors/families.ts";
import { type ConsentSubject, contentSubject, subjectOf } from "../../grants/consent-subject.ts";
import { SessionAllowances } from "../../grants/session-allowances.ts";
import type { ToolGrants } from "../../grants/tool-grants.ts";
import type { ToolPins } from "../../pins/tool-pins.ts";
import type { AccessRevision } from "../../policy/access-revision.ts";
import { type CapabilitySet, executeAction } from "../../policy/capability-set.ts";
import {
  type Denial,
  type RightFacts,
  type ServerAccessFacts,
  type ToolFacts,
  denyContent,
  denyServer,
  denyTool,
} from "../../policy/decide-access.ts";
import { type ConsentFacts, type ConsentRule, decideConsent } from "../../policy/decide-consent.ts";
import type { PermissionLevel } from "../../policy/permission-level.ts";
import { serverResource, toolResource } from "../../policy/resource-name.ts";
import type { Clock } from "../../ports/clock.ts";
import type { RegisteredServer, ServerRegistry } from "../../registry/server-registry.ts";
import { closest } from "../../text/closest.ts";

/** The rights an agent was given when its session was made. */
export interface AgentRights {
  readonly agent: string;
  readonly level: PermissionLevel | undefined;
  /** Absent: the step is skipped. Empty: nothing may be called. */
  readonly capabilities: CapabilitySet | undefined;
  /** The judge of the parent session: what the parent may not do, this session may not either. */
  readonly parent?: ToolJudge | undefined;
}

export interface JudgeParts {
  readonly registry: ServerRegistry;
  readonly catalog: ToolCatalog;
  readonly grants: ToolGrants;
  readonly pins: ToolPins;
  readonly revision: AccessRevision;
  readonly clock: Clock;
}

/** The tool names that stand for a server's resources and for its prompts in a set of capabilities. */
export type ContentRight = "read_resource" | "get_prompt";

/** The tools that an answer covers, as they were when the question was asked, not when it was answered. */
export interface ConsentScope {
  readonly subject: ConsentSubject;
  readonly tool: CatalogTool;
  /** All tools that the server offered then. */
  readonly offered: readonly CatalogTool[];
}

interface Judgement extends CallTarget {
  /** The count it was passed at; another count needs another judgement. */
  readonly revision: number;
  /** When the first right it rests on ends. */
  readonly validUntil: number;
  /** Whether a call has come by since it was passed. */
  hasServedCall: boolean;
}

interface ConsentVerdict {
  readonly consent: ConsentRule;
  readonly validUntil: number;
}

/**
 * Applies the policy to the tools of one agent, and remembers each judgement until something it depends on
 * changes. Listing and calling ask the same judge, so they cannot disagree.
 */
export class ToolJudge {
  readonly rights: AgentRights;
  readonly #parts: JudgeParts;
  readonly #allowances: SessionAllowances;
  readonly #allowedNative = new Set<string>();
  readonly #judgements = new WeakMap<CatalogTool, Judgement>();

  constructor(rights: AgentRights, parts: JudgeParts) {
    // A capability that is granted to the set later must not reach a running session.
    this.rights = { ...rights, capabilities: rights.capabilities?.toFrozen() };
    this.#parts = parts;
    this.#allowances = new SessionAllowances(parts.revision);
  }

  judge(tool: CatalogTool): Judgement {
    const { clock } = this.#parts;
    const revision = this.#parts.revision.count;
    const known = this.#judgements.get(tool);
    if (
      known?.revision === revision &&
      (known.validUntil === Number.POSITIVE_INFINITY || clock.now() < known.validUntil)
    )
      return known;
    const judgement = this.#examine(tool, revision);
    this.#judgements.set(tool, judgement);
    return judgement;
  }

  /**
   * Judges a tool that is being called. New pins of its server end a judgement, so that the first call after them comes by here
   * with a new one and has them written soon: what the tool was when it was first seen must not be forgotten any more.
   */
  judgeForCall(tool: CatalogTool): CallTarget {
    const judgement = this.judge(tool);
    if (!judgement.hasServedCall) {
      judgement.hasServedCall = true;
      this.#parts.pins.persistPins();
    }
    return judgement;
  }

  /** Judges one of the program's own tools: nothing is started or pinned; a person is asked where the tool says so. */
  judgeNative(tool: NativeCallable): CallTarget {
    const isSettled = !tool.needsConsent || this.rights.level === "yolo";
    const isAllowed = this.#allowedNative.has(tool.originalName);
    const consent = isSettled ? "native" : isAllowed ? "tool-allowed" : "ask";
    return { tool, server: undefined, connection: undefined, denial: undefined, consent };
  }

  /** Why this agent may not use the server at all, whatever its tools are: asked before it is started. */
  serverDenial(server: RegisteredServer): Denial | undefined {
    return this.rights.parent?.serverDenial(server) ?? denyServer(this.#serverFacts(server));
  }

  /** Why this agent may not use a tool that the server may have: asked before the server is started for a call of it. */
  toolDenial(server: RegisteredServer, toolName: string): Denial | undefined {
    const outer = this.rights.parent?.toolDenial(server, toolName);
    return outer ?? denyTool(this.facts(server, toolName, undefined));
  }

  /** Why this agent may not use the server's resources or prompts. */
  contentDenial(server: RegisteredServer, right: ContentRight): Denial | undefined {
    return (
      this.rights.parent?.contentDenial(server, right) ??
      denyContent(this.#rightFacts(server, right))
    );
  }

  /** Whether the server exists as far as this agent can tell, or did until it was removed. */
  sees(serverName: string): boolean {
    const { agent, parent } = this.rights;
    const isVisible = this.#parts.registry.visibilityOf(serverName)?.isVisibleTo(agent) === true;
    return isVisible && (parent === undefined || parent.sees(serverName));
  }

  /** Servers that exist as far as this agent can tell. */
  visibleServers(): readonly RegisteredServer[] {
    return this.#parts.registry.all().filter(({ config }) => this.sees(config.name));
  }

  /**
   * Returns the server of that name, or throws `server_unknown` with the names that were probably meant. A
   * server that is hidden from the agent gets the error of one that does not exist, and no error names it.
   */
  visibleServer(name: string): RegisteredServer {
    const server = this.#parts.registry.find(name);
    if (server !== undefined && this.sees(name)) return server;
    const configured = this.visibleServers().map(({ config }) => config.name);
    throw createError("server_unknown", `no server "${name}"`, {
      details: { suggestions: closest(name, configured), configured },
    });
  }

  /** The facts that decide about one tool, also about one that is filtered out. */
  facts(server: RegisteredServer, toolName: string, tool: CatalogTool | undefined): ToolFacts {
    return {
      ...this.#rightFacts(server, toolName),
      isOffered: isToolAllowed(toolName, server.config),
      pin: tool === undefined ? "accepted" : this.#parts.pins.verdict(server.consentId, tool),
    };
  }

  /** What a yes to the tool would cover now; undefined when its server is gone. */
  scopeOf(tool: CatalogTool): ConsentScope | undefined {
    const server = this.#parts.registry.find(tool.serverName);
    if (server === undefined) return undefined;
    return { subject: this.#subject(server, tool), tool, offered: this.#offered(server) };
  }

  allowNative(tool: NativeCallable): void {
    this.#allowedNative.add(tool.originalName);
  }

  /** Allows the tool for the rest of the session, exactly as it was when the question was asked. */
  allowTool({ subject }: ConsentScope): void {
    this.#allowances.allowTool(subject);
  }

  /** Allows every tool that the server offered when the question was asked, and its resources and prompts. */
  allowServer({ subject, tool, offered }: ConsentScope): void {
    const covered = [...[tool, ...offered].map((one) => subjectOf(one)), contentSubject];
    const fingerprints = covered.map(({ fingerprint }) => fingerprint);
    this.#allowances.allowServer(subject, fingerprints);
  }

  /** The tools that a person who allows a whole server can have seen: no quarantined ones. */
  #offered(server: RegisteredServer): readonly CatalogTool[] {
    const { catalog, pins } = this.#parts;
    return pins.accepted(server, catalog.tools(server.config.name));
  }

  #examine(tool: CatalogTool, revision: number): Judgement {
    const { serverName, originalName } = tool;
    const { capabilities, parent } = this.rights;
    const { registry, clock } = this.#parts;
    const server = registry.find(serverName);
    if (server === undefined) return this.#gone(tool, revision);
    const outer = parent?.judge(tool);
    const denial = outer?.denial ?? denyTool(this.facts(server, originalName, tool));
    const right = capabilities?.find(
      toolResource(serverName, originalName),
      executeAction,
      clock.now(),
    );
    const consent = this.#consent(server, tool, {
      isCapable: right !== undefined,
      isParentAsked: outer?.consent === "ask",
    });
    // Tools registered from schemas may have no server behind them.
    const reachable = server.config.transport.kind === "none" ? undefined : server;
    return {
      tool,
      server: reachable,
      connection: reachable?.connections.connectionOf(this.rights.agent),
      denial,
      consent: consent.consent,
      revision,
      validUntil: Math.min(
        right?.expiresAt ?? Number.POSITIVE_INFINITY,
        outer?.validUntil ?? Number.POSITIVE_INFINITY,
        consent.validUntil,
      ),
      hasServedCall: false,
    };
  }

  /** Denies the tool of a server that is gone in the words used for a server that was never there. */
  #gone(tool: CatalogTool, revision: number): Judgement {
    const { level, capabilities } = this.rights;
    const denial = denyServer({
      serverName: tool.serverName,
      isEnabled: true,
      isLaunchApproved: true,
      isVisible: false,
      level,
      hasCapabilities: capabilities !== undefined,
      reachesServer: false,
    });
    return {
      tool,
      server: undefined,
      connection: undefined,
      denial,
      consent: "ask",
      revision,
      validUntil: Number.POSITIVE_INFINITY,
      hasServedCall: false,
    };
  }

  #consent(
    server: RegisteredServer,
    tool: CatalogTool,
    rights: Pick<ConsentFacts, "isCapable" | "isParentAsked">,
  ): ConsentVerdict {
    const { agent, level } = this.rights;
    const { serverName } = tool;
    const subject = this.#subject(server, tool);
    const grantedUntil = this.#parts.grants.grantedUntil({ agent, ...subject });
    const consent = decideConsent({
      serverName,
      toolName: subject.toolName,
      level,
      mode: server.consent.mode(agent),
      claimsReadOnly: claims(tool, "readOnlyHint"),
      claimsDestructive: claims(tool, "destructiveHint"),
      skipReadOnlyPrompts: server.config.skipReadOnlyPrompts,
      allowances: this.#allowances.keysFor(subject),
      isGranted: grantedUntil !== undefined,
      ...rights,
    });
    const validUntil = consent === "grant" ? grantedUntil : undefined;
    return { consent, validUntil: validUntil ?? Number.POSITIVE_INFINITY };
  }

  #subject({ consentId, consent }: RegisteredServer, tool: CatalogTool): ConsentSubject {
    return {
      serverName: tool.serverName,
      consentId,
      epoch: consent.epoch(this.rights.agent),
      ...subjectOf(tool),
    };
  }

  #rightFacts(server: RegisteredServer, toolName: string): RightFacts {
    const { capabilities } = this.rights;
    const resource = toolResource(server.config.name, toolName);
    return {
      ...this.#serverFacts(server),
      toolName,
      isCapable: capabilities?.allows(resource, executeAction, this.#parts.clock.now()) ?? false,
    };
  }

  #serverFacts(server: RegisteredServer): ServerAccessFacts {
    const { agent, level, capabilities } = this.rights;
    const resource = serverResource(server.config.name);
    return {
      serverName: server.config.name,
      isEnabled: server.config.enabled,
      isLaunchApproved: this.#parts.registry.isApproved(server),
      isVisible: server.visibility.isVisibleTo(agent),
      level,
      hasCapabilities: capabilities !== undefined,
      reachesServer:
        capabilities?.reaches(resource, executeAction, this.#parts.clock.now()) ?? false,
    };
  }
}
