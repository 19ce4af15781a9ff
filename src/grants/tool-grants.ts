import type { CatalogTool } from "../catalog/catalog-tool.ts";
import type { ToolCatalog } from "../catalog/tool-catalog.ts";
import type { ConsentId } from "../config/keys/server-ids.ts";
import { createError } from "../errors/families.ts";
import type { EventBus } from "../events/event-bus.ts";
import type { ToolPins } from "../pins/tool-pins.ts";
import type { AccessRevision } from "../policy/access-revision.ts";
import { checkExpiry } from "../policy/capability-set.ts";
import type { Clock } from "../ports/clock.ts";
import type { RegisteredServer, ServerRegistry } from "../registry/server-registry.ts";
import type { HostStore } from "../store/host-store.ts";
import { RevocableList } from "../store/revocable-list.ts";
import type { Grant, GrantFilter } from "../store/rows/grant-rows.ts";
import { closest } from "../text/closest.ts";
import { ownCommand } from "../text/own-command.ts";
import {
  type GrantSubject,
  contentName,
  contentSubject,
  subjectOf,
  subjectsOfServer,
} from "./consent-subject.ts";
import type { AllowOptions, GrantInfo, GrantQuery, Grants } from "./grants.ts";

export interface ToolGrantsParts {
  readonly revision: AccessRevision;
  readonly store: HostStore;
  readonly registry: Pick<ServerRegistry, "all" | "find" | "get" | "obstacle" | "withdrawConsent">;
  readonly catalog: Pick<ToolCatalog, "isKnown" | "tools">;
  readonly pins: Pick<ToolPins, "accepted">;
  readonly events: EventBus;
  readonly clock: Clock;
}

/**
 * Holds what people have allowed for good. A grant lets one agent call one tool, exactly as it was defined
 * and as its server was started then; a whole server is granted tool by tool, so that a tool it adds later
 * is asked about. Grants outlive the host where there is a store.
 */
export class ToolGrants implements Grants {
  readonly #parts: ToolGrantsParts;
  readonly #stored = new RevocableList<Grant>(keyOfGrant);
  #grants = new GrantTable();

  constructor(parts: ToolGrantsParts) {
    this.#parts = parts;
  }

  /** Until when the subject is granted (`Infinity`: until it is revoked); undefined when it is not. */
  grantedUntil(subject: GrantSubject): number | undefined {
    const grant = this.#grants.find(subject.agent, subject.consentId, subject.toolName);
    if (grant?.fingerprint !== subject.fingerprint) return undefined;
    const until = grant.expiresAt ?? Number.POSITIVE_INFINITY;
    return until > this.#parts.clock.now() ? until : undefined;
  }

  /** Whether the agent was granted anything of the server; most agents were granted nothing of most servers. */
  hasAny(agent: string, consentId: ConsentId): boolean {
    return this.#grants.hasAny(agent, consentId);
  }

  /** Whether the agent was granted a tool of this name, as it is defined now or otherwise. */
  hasGranted(agent: string, consentId: ConsentId, toolName: string): boolean {
    return this.#grants.find(agent, consentId, toolName) !== undefined;
  }

  /** Grants what a person allowed for good; resolves when it is kept, rejects with `store_failed`. */
  grant(subjects: readonly GrantSubject[]): Promise<void> {
    return this.#add(subjects, undefined);
  }

  /** Reads the stored grants, which other hosts and earlier ones have given. */
  async load(): Promise<void> {
    await this.#parts.store.read(
      ({ grants }) =>
        this.#stored.read(
          () => grants.list(),
          (listed) => this.#replace(listed),
        ),
      undefined,
    );
  }

  list(query: GrantQuery = {}): readonly GrantInfo[] {
    const filter = this.#filterOf(query);
    if (filter === undefined) return [];
    const now = this.#parts.clock.now();
    return this.#grants
      .all()
      .filter(({ expiresAt = Number.POSITIVE_INFINITY }) => expiresAt > now)
      .filter((grant) => fits(grant, filter))
      .map((grant) => this.#describe(grant, query.server));
  }

  async allow(options: AllowOptions): Promise<readonly GrantInfo[]> {
    const { agent, server: serverName, tool, expiresAt, includeDestructive = false } = options;
    checkExpiry(expiresAt);
    const { registry, events, clock } = this.#parts;
    const server = registry.get(serverName);
    const tools = await this.#toolsOf(server);
    const covered =
      tool === undefined
        ? subjectsOfServer(tools, { includeDestructive })
        : tool === contentName
          ? [contentSubject]
          : [subjectOf(this.#findTool(serverName, tools, tool))];
    const { consentId } = server;
    await this.#add(
      covered.map((subject) => ({ agent, consentId, ...subject })),
      expiresAt,
    );
    const toolNames = covered.map(({ toolName }) => toolName);
    events.emit({ type: "grant-added", agent, serverName, toolNames, at: clock.now() });
    return this.list({ agent, server: serverName }).filter((grant) =>
      toolNames.includes(grant.tool),
    );
  }

  async revoke(query: GrantQuery = {}): Promise<number> {
    const { events, clock } = this.#parts;
    const filter = this.#filterOf(query);
    if (filter === undefined) return 0;
    try {
      return await this.#revokeAll(filter);
    } finally {
      // Also without a grant, because what sessions were allowed ends; and when the store cannot be written,
      // because the revocation counts in this host.
      events.emit({
        type: "grant-revoked",
        agent: query.agent ?? null,
        serverName: query.server ?? null,
        toolNames: query.tool === undefined ? [] : [query.tool],
        at: clock.now(),
      });
    }
  }

  async #revokeAll(filter: GrantFilter): Promise<number> {
    const { store, registry } = this.#parts;
    // Here first: a revoked grant must not be used while the store is being written.
    const doomed = this.#grants.all().filter((grant) => fits(grant, filter));
    for (const grant of doomed) this.#grants.delete(grant);
    this.#noteChanges(doomed);
    for (const server of registry.all())
      if (filter.consentId === undefined || filter.consentId === server.consentId)
        registry.withdrawConsent(server, filter.agent);
    const { agent, consentId, tool } = filter;
    const removed = await this.#stored.revoke(
      JSON.stringify([agent, consentId, tool]),
      (grant) => fits(grant, filter),
      () => store.read(({ grants }) => grants.revoke(filter), 0),
    );
    return Math.max(doomed.length, removed);
  }

  async #add(subjects: readonly GrantSubject[], expiresAt: number | undefined): Promise<void> {
    if (subjects.length === 0) return;
    const grantedAt = this.#parts.clock.now();
    const grants = subjects.map(({ agent, consentId, toolName, fingerprint }) => ({
      agent,
      consentId,
      tool: toolName,
      fingerprint,
      grantedAt,
      ...(expiresAt === undefined ? {} : { expiresAt }),
    }));
    await this.#stored.add(
      grants,
      () => this.#parts.store.write((store) => store.grants.grant(grants)),
      (kept) => {
        for (const grant of kept) this.#grants.set(grant);
        this.#noteChanges(kept);
      },
    );
  }

  #replace(grants: readonly Grant[]): void {
    const before = this.#grants;
    this.#grants = new GrantTable();
    for (const grant of grants) if (grant.tool !== undefined) this.#grants.set(grant);
    this.#noteChanges([...before.missingIn(this.#grants), ...this.#grants.missingIn(before)]);
  }

  #noteChanges(grants: readonly Grant[]): void {
    for (const consentId of new Set(grants.map((grant) => grant.consentId)))
      this.#parts.revision.advance(consentId);
  }

  /** The tools that can be granted; a server whose list is not known is started, if it may be. */
  async #toolsOf(server: RegisteredServer): Promise<readonly CatalogTool[]> {
    const { registry, catalog, pins } = this.#parts;
    const { name } = server.config;
    const obstacle = registry.obstacle(server);
    if (obstacle !== undefined) throw obstacle;
    if (!catalog.isKnown(name)) await server.connection.client();
    return pins.accepted(server, catalog.tools(name));
  }

  #findTool(serverName: string, tools: readonly CatalogTool[], name: string): CatalogTool {
    const found = tools.find(({ originalName }) => originalName === name);
    if (found !== undefined) return found;
    const listed = this.#parts.catalog.tools(serverName);
    if (listed.some(({ originalName }) => originalName === name))
      throw createError("definition_changed", `"${name}" waits until a person accepts it`, {
        serverName,
        hint: `see what it is now: ${ownCommand("approve", serverName)}`,
      });
    const suggestions = closest(
      name,
      tools.map(({ originalName }) => originalName),
    );
    throw createError("tool_unknown", `no tool "${name}"`, {
      serverName,
      details: { suggestions },
    });
  }

  /**
   * Filters by what a server starts or contacts, not by its name: another entry that starts the same shares
   * its grants. Undefined for a name that no server has.
   */
  #filterOf({ agent, server, tool }: GrantQuery): GrantFilter | undefined {
    if (server === undefined) return { agent, tool };
    const consentId = this.#parts.registry.find(server)?.consentId;
    return consentId === undefined ? undefined : { agent, consentId, tool };
  }

  #describe(
    { agent, consentId, tool = "", grantedAt, expiresAt }: Grant,
    serverName: string | undefined,
  ): GrantInfo {
    const server = serverName ?? this.#nameOf(consentId);
    return {
      agent,
      server,
      tool,
      grantedAt,
      ...(expiresAt === undefined ? {} : { expiresAt }),
    };
  }

  #nameOf(consentId: ConsentId): string | undefined {
    const servers = this.#parts.registry.all();
    return servers.find((server) => server.consentId === consentId)?.config.name;
  }
}

/** Grants by agent, consent id and tool: each of them is asked for by itself. */
class GrantTable {
  readonly #agents = new Map<string, Map<ConsentId, Map<string, Grant>>>();

  all(): readonly Grant[] {
    return [...this.#agents.values()].flatMap((servers) =>
      [...servers.values()].flatMap((tools) => [...tools.values()]),
    );
  }

  hasAny(agent: string, consentId: ConsentId): boolean {
    return this.#agents.get(agent)?.has(consentId) === true;
  }

  find(agent: string, consentId: ConsentId, tool: string): Grant | undefined {
    return this.#agents.get(agent)?.get(consentId)?.get(tool);
  }

  set(grant: Grant): void {
    const { agent, consentId, tool = "" } = grant;
    const servers = this.#agents.get(agent) ?? new Map<ConsentId, Map<string, Grant>>();
    const tools = servers.get(consentId) ?? new Map<string, Grant>();
    this.#agents.set(agent, servers.set(consentId, tools.set(tool, grant)));
  }

  delete({ agent, consentId, tool = "" }: Grant): void {
    const servers = this.#agents.get(agent);
    const tools = servers?.get(consentId);
    tools?.delete(tool);
    if (tools?.size === 0) servers?.delete(consentId);
    if (servers?.size === 0) this.#agents.delete(agent);
  }

  /** The grants that the other table does not have, or has on other terms. */
  missingIn(other: GrantTable): readonly Grant[] {
    return this.all().filter(({ agent, consentId, tool = "", fingerprint, expiresAt }) => {
      const counterpart = other.find(agent, consentId, tool);
      return counterpart?.fingerprint !== fingerprint || counterpart.expiresAt !== expiresAt;
    });
  }
}

function keyOfGrant({ agent, consentId, tool = "" }: Grant): string {
  return JSON.stringify([agent, consentId, tool]);
}

function fits(grant: Grant, { agent, consentId, tool }: GrantFilter): boolean {
  return (
    (agent === undefined || grant.agent === agent) &&
    (consentId === undefined || grant.consentId === consentId) &&
    (tool === undefined || grant.tool === tool)
  );
}

export interface ConsentModeEventsOptions {
  readonly registry: Pick<ServerRegistry, "onConsentChange">;
  readonly events: EventBus;
  readonly clock: Clock;
}

/** Publishes consent modes, which hold as long as the host lives: they are decisions as much as stored grants. */
export function publishConsentModes({ registry, events, clock }: ConsentModeEventsOptions): void {
  registry.onConsentChange(({ serverName, agent = null, mode }) => {
    const at = clock.now();
    if (mode === undefined) events.emit({ type: "consent-ended", agent, serverName, at });
    else events.emit({ type: "consent-mode-set", agent, serverName, mode, at });
  });
}
