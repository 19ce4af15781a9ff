import type { CallTarget, NativeCallable } from "../../call/call-contract.ts";
import { type CatalogTool, claims } from "../../catalog/catalog-tool.ts";
import type { ToolCatalog } from "../../catalog/tool-catalog.ts";
import { isToolAllowed } from "../../catalog/tool-filter.ts";
import { createError } from "../../errors/families.ts";
import {
  contentName,
  type ConsentSubject,
  contentSubject,
  subjectOf,
} from "../../grants/consent-subject.ts";
import { SessionAllowances } from "../../grants/session-allowances.ts";
import type { ToolGrants } from "../../grants/tool-grants.ts";
import type { ToolPins } from "../../pins/tool-pins.ts";
import type { AccessRevision } from "../../policy/access-revision.ts";
import { type Capability, type CapabilitySet, executeAction } from "../../policy/capability-set.ts";
import {
  type Denial,
  type PinVerdict,
  type ServerAccessFacts,
  type ToolFacts,
  denyContent,
  denyServer,
  denyTool,
} from "../../policy/decide-access.ts";
import {
  type ConsentFacts,
  type ConsentMode,
  type ConsentRule,
  decideConsent,
} from "../../policy/decide-consent.ts";
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

const never = Number.POSITIVE_INFINITY;
const noAllowances: ReadonlySet<string> = new Set();

/** The tool names that stand for a server's resources and for its prompts in a set of capabilities. */
export type ContentRight = "read_resource" | "get_prompt";

/** The tools that an answer covers, as they were when the question was asked, not when it was answered. */
export interface ConsentScope {
  readonly subject: ConsentSubject;
  readonly tool: CatalogTool;
  /** All tools that the server offered then. */
  readonly offered: readonly CatalogTool[];
}

/** How long what was judged holds. */
export interface Validity {
  /** The count of changes up to which it is known to hold. */
  revision: number;
  /** The ids of its server: a change that is noted under one of them ends it. */
  readonly accessIds: readonly string[];
  /** When the first right it rests on ends. */
  readonly validUntil: number;
}

interface Judgement extends CallTarget, Validity {
  /** Whether a call has come by since it was passed. */
  hasServedCall: boolean;
}

/** The judgements on some tools of one server, in their order. */
export interface ServerJudgement extends Validity {
  readonly targets: readonly CallTarget[];
}

interface ConsentVerdict {
  readonly consent: ConsentRule;
  readonly validUntil: number;
}

/** What is the same for every tool of a server that an agent might call. */
interface ServerStanding {
  readonly server: RegisteredServer;
  readonly facts: ServerAccessFacts;
  /** Undefined for tools registered from schemas, which may have no server behind them. */
  readonly reachable: RegisteredServer | undefined;
  readonly connection: CallTarget["connection"];
  readonly mode: ConsentMode;
  /** Somebody has allowed the agent something that may be about a tool of this server. */
  readonly hasAnswers: boolean;
  /** How the server stands for the parent session. */
  readonly outer: ServerStanding | undefined;
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
    const known = this.#judgements.get(tool);
    if (known !== undefined && this.holds(known)) return known;
    const server = this.#parts.registry.find(tool.serverName);
    const { count } = this.#parts.revision;
    const judgement =
      server === undefined
        ? this.#gone(tool, count)
        : this.#examine(tool, this.#standing(server), count);
    this.#judgements.set(tool, judgement);
    return judgement;
  }

  /**
   * Judges the tools of one server together, or those from `start` to `end`: what is the same for all of them is
   * found out once.
   */
  judgeAll(
    serverName: string,
    tools: readonly CatalogTool[],
    { start = 0, end = tools.length }: { readonly start?: number; readonly end?: number } = {},
  ): ServerJudgement {
    const { registry, pins } = this.#parts;
    const { count } = this.#parts.revision;
    const server = registry.find(serverName);
    if (server === undefined) {
      const targets = tools.slice(start, end).map((tool) => this.#gone(tool, count));
      return { targets, revision: count, accessIds: [serverName], validUntil: never };
    }
    const standing = this.#standing(server);
    const areAccepted = pins.accepted(server, tools).length === tools.length;
    let validUntil = never;
    const targets = tools.slice(start, end).map((tool) => {
      const pin = areAccepted ? "accepted" : pins.verdict(server.consentId, tool);
      const judgement = this.#examine(tool, standing, count, pin);
      validUntil = Math.min(validUntil, judgement.validUntil);
      return judgement;
    });
    return { targets, revision: count, accessIds: server.accessIds, validUntil };
  }

  /** Whether what was judged would be judged alike now. */
  holds(judged: Validity): boolean {
    const { revision } = this.#parts;
    if (judged.revision !== revision.count) {
      if (revision.hasChanged(judged.accessIds, judged.revision)) return false;
      judged.revision = revision.count;
    }
    return this.#isInTime(judged);
  }

  /** Whether nothing at all has changed since, and no right has ended: nothing need be asked about any server. */
  isUnchanged(judged: Pick<Validity, "revision" | "validUntil">): boolean {
    return judged.revision === this.#parts.revision.count && this.#isInTime(judged);
  }

  /** The count of all changes, for `isUnchanged`. */
  get revision(): number {
    return this.#parts.revision.count;
  }

  /** How often a person has allowed one of the program's own tools. */
  get nativeAllowances(): number {
    return this.#allowedNative.size;
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
      denyContent({
        ...this.#serverFacts(server),
        toolName: right,
        isCapable: this.#rightTo(server, right) !== undefined,
      })
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
    return toolFacts(this.#serverFacts(server), server, toolName, {
      isCapable: this.#rightTo(server, toolName) !== undefined,
      pin: tool === undefined ? "accepted" : this.#parts.pins.verdict(server.consentId, tool),
    });
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

  #isInTime({ validUntil }: Pick<Validity, "validUntil">): boolean {
    return validUntil === never || this.#parts.clock.now() < validUntil;
  }

  #standing(server: RegisteredServer): ServerStanding {
    const { agent, parent } = this.rights;
    const reachable = server.config.transport.kind === "none" ? undefined : server;
    return {
      server,
      facts: this.#serverFacts(server),
      reachable,
      connection: reachable?.connections.connectionOf(agent),
      mode: server.consent.mode(agent),
      hasAnswers: !this.#allowances.isEmpty || this.#parts.grants.hasAny(agent, server.consentId),
      outer: parent === undefined ? undefined : parent.#standing(server),
    };
  }

  #examine(
    tool: CatalogTool,
    standing: ServerStanding,
    revision: number,
    pin: PinVerdict = this.#parts.pins.verdict(standing.server.consentId, tool),
  ): Judgement {
    const { server, reachable, connection } = standing;
    const { parent } = this.rights;
    const outer =
      parent === undefined || standing.outer === undefined
        ? undefined
        : parent.#examine(tool, standing.outer, revision, pin);
    const right = this.#rightTo(server, tool.originalName);
    const isCapable = right !== undefined;
    const denial =
      outer?.denial ??
      denyTool(toolFacts(standing.facts, server, tool.originalName, { isCapable, pin }));
    const consent = this.#consent(standing, tool, {
      isCapable,
      isParentAsked: outer?.consent === "ask",
    });
    return {
      tool,
      server: reachable,
      connection,
      denial,
      consent: consent.consent,
      revision,
      accessIds: server.accessIds,
      validUntil: Math.min(
        right?.expiresAt ?? never,
        outer?.validUntil ?? never,
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
      accessIds: [tool.serverName],
      validUntil: never,
      hasServedCall: false,
    };
  }

  #consent(
    { server, mode, hasAnswers }: ServerStanding,
    tool: CatalogTool,
    rights: Pick<ConsentFacts, "isCapable" | "isParentAsked">,
  ): ConsentVerdict {
    const { agent, level } = this.rights;
    const { grants } = this.#parts;
    const toolName = tool.isContent ? contentName : tool.originalName;
    // A fingerprint is looked up only where an answer may be bound to it.
    const mayBeAnswered =
      hasAnswers &&
      (!this.#allowances.isEmpty || grants.hasGranted(agent, server.consentId, toolName));
    const subject = mayBeAnswered ? this.#subject(server, tool) : undefined;
    const grantedUntil = subject && grants.grantedUntil({ agent, ...subject });
    const consent = decideConsent({
      serverName: tool.serverName,
      toolName,
      level,
      mode,
      claimsReadOnly: claims(tool, "readOnlyHint"),
      claimsDestructive: claims(tool, "destructiveHint"),
      skipReadOnlyPrompts: server.config.skipReadOnlyPrompts,
      allowances: subject === undefined ? noAllowances : this.#allowances.keysFor(subject),
      isGranted: grantedUntil !== undefined,
      isCapable: rights.isCapable,
      isParentAsked: rights.isParentAsked,
    });
    const validUntil = consent === "grant" ? grantedUntil : undefined;
    return { consent, validUntil: validUntil ?? never };
  }

  #subject({ consentId, consent }: RegisteredServer, tool: CatalogTool): ConsentSubject {
    return {
      serverName: tool.serverName,
      consentId,
      epoch: consent.epoch(this.rights.agent),
      ...subjectOf(tool),
    };
  }

  /** The right to a tool, or to what stands in its place, in the agent's set of capabilities. */
  #rightTo(server: RegisteredServer, toolName: string): Capability | undefined {
    const { capabilities } = this.rights;
    if (capabilities === undefined) return undefined;
    const resource = toolResource(server.config.name, toolName);
    return capabilities.find(resource, executeAction, this.#parts.clock.now());
  }

  #serverFacts(server: RegisteredServer): ServerAccessFacts {
    const { agent, level, capabilities } = this.rights;
    return {
      serverName: server.config.name,
      isEnabled: server.config.enabled,
      isLaunchApproved: this.#parts.registry.isApproved(server),
      isVisible: server.visibility.isVisibleTo(agent),
      level,
      hasCapabilities: capabilities !== undefined,
      reachesServer:
        capabilities?.reaches(
          serverResource(server.config.name),
          executeAction,
          this.#parts.clock.now(),
        ) ?? false,
    };
  }
}

/** Written field by field: thousands of tools are judged at once, and a spread costs more than the verdict. */
function toolFacts(
  facts: ServerAccessFacts,
  { config }: RegisteredServer,
  toolName: string,
  { isCapable, pin }: Pick<ToolFacts, "isCapable" | "pin">,
): ToolFacts {
  return {
    serverName: facts.serverName,
    isEnabled: facts.isEnabled,
    isLaunchApproved: facts.isLaunchApproved,
    isVisible: facts.isVisible,
    level: facts.level,
    hasCapabilities: facts.hasCapabilities,
    reachesServer: facts.reachesServer,
    toolName,
    isCapable,
    isOffered: isToolAllowed(toolName, config),
    pin,
  };
}
