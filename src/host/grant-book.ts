import { type CatalogTool, claims } from "../catalog/catalog-tool.ts";
import type { PinLookup } from "../catalog/pin-lookup.ts";
import type { ToolCatalog } from "../catalog/tool-catalog.ts";
import { fingerprintOf } from "../catalog/tool-fingerprint.ts";
import { createError } from "../errors/families.ts";
import type { EventBus } from "../events/event-bus.ts";
import type { GrantLookup, GrantSubject } from "../policy/grant-lookup.ts";
import type { Clock } from "../ports/clock.ts";
import type { RegisteredServer, ServerRegistry } from "../registry/server-registry.ts";
import type { Grant } from "../store/grant-rows.ts";
import { closest } from "../text/closest.ts";
import type { AllowOptions, GrantInfo, GrantQuery, Grants } from "./grants.ts";
import type { HostStore } from "./host-store.ts";

export interface GrantBookParts {
  readonly store: HostStore;
  readonly registry: ServerRegistry;
  readonly catalog: ToolCatalog;
  readonly pins: PinLookup;
  readonly events: EventBus;
  readonly clock: Clock;
}

/**
 * What people have allowed for good. Each grant is of one agent for one tool, exactly as it was defined
 * and as its server was started then; a whole server is allowed tool by tool, so that what it adds
 * later is asked about. Kept in the store where there is one, else as long as the host lives.
 */
export class GrantBook implements GrantLookup, Grants {
  readonly #parts: GrantBookParts;
  #grants = new Map<string, Grant>();
  #revision = 0;

  constructor(parts: GrantBookParts) {
    this.#parts = parts;
  }

  get revision(): number {
    return this.#revision;
  }

  grantedUntil(subject: GrantSubject): number | undefined {
    const grant = this.#grants.get(keyOf(subject.agent, subject.identity, subject.toolName));
    if (grant?.definitionHash !== subject.fingerprint) return undefined;
    const until = grant.expiresAt ?? Number.POSITIVE_INFINITY;
    return until > this.#parts.clock.now() ? until : undefined;
  }

  grant(subjects: readonly GrantSubject[]): Promise<void> {
    return this.#add(subjects, undefined);
  }

  /** Reads what other hosts, or this one before, were told. */
  async recall(): Promise<void> {
    await this.#parts.store.read(async ({ grants }) => {
      this.#replace(await grants.list());
    }, undefined);
  }

  list(query: GrantQuery = {}): readonly GrantInfo[] {
    const now = this.#parts.clock.now();
    return [...this.#grants.values()]
      .filter(({ expiresAt = Number.POSITIVE_INFINITY }) => expiresAt > now)
      .map((grant) => this.#describe(grant))
      .filter((grant) => fits(grant, query));
  }

  async allow(options: AllowOptions): Promise<readonly GrantInfo[]> {
    const { agent, server: serverName, tool, expiresAt, includeDestructive = false } = options;
    const { registry, events, clock } = this.#parts;
    const server = registry.get(serverName);
    const tools = await this.#toolsOf(server);
    const covered =
      tool === undefined
        ? tools.filter((one) => includeDestructive || !claims(one, "destructiveHint"))
        : [findTool(tools, tool)];
    await this.#add(
      covered.map(({ originalName: toolName, listed }) => ({
        agent,
        identity: server.launchIdentity,
        toolName,
        fingerprint: fingerprintOf(listed),
      })),
      expiresAt,
    );
    const toolNames = covered.map(({ originalName }) => originalName);
    events.emit({ type: "grant-added", agent, serverName, toolNames, at: clock.now() });
    return this.list({ agent, server: serverName }).filter((grant) =>
      toolNames.includes(grant.tool),
    );
  }

  async revoke(query: GrantQuery = {}): Promise<number> {
    const { store, registry, events, clock } = this.#parts;
    const doomed = [...this.#grants].filter(([, grant]) => fits(this.#describe(grant), query));
    // First here: what is taken back must not be used while the store is being written.
    for (const [key] of doomed) this.#grants.delete(key);
    this.#revision += 1;
    await store.read(async ({ grants }) => {
      for (const [, { agent, identity, tool }] of doomed)
        await grants.revoke({ agent, identity, tool });
    }, undefined);
    for (const server of registry.all())
      if (query.server === undefined || query.server === server.config.name)
        registry.endConsent(server, query.agent);
    events.emit({
      type: "grant-revoked",
      agent: query.agent ?? null,
      serverName: query.server ?? null,
      toolNames: query.tool === undefined ? [] : [query.tool],
      at: clock.now(),
    });
    return doomed.length;
  }

  async #add(subjects: readonly GrantSubject[], expiresAt: number | undefined): Promise<void> {
    if (subjects.length === 0) return;
    const store = await this.#parts.store.open();
    const grantedAt = this.#parts.clock.now();
    const grants = subjects.map(({ agent, identity, toolName, fingerprint }) => ({
      agent,
      identity,
      tool: toolName,
      definitionHash: fingerprint,
      ...(expiresAt === undefined ? {} : { expiresAt }),
    }));
    await store?.grants.grant(grants);
    for (const grant of grants)
      this.#grants.set(keyOf(grant.agent, grant.identity, grant.tool), { ...grant, grantedAt });
    this.#revision += 1;
  }

  #replace(grants: readonly Grant[]): void {
    this.#grants = new Map(
      grants.flatMap((grant): [string, Grant][] =>
        grant.tool === undefined ? [] : [[keyOf(grant.agent, grant.identity, grant.tool), grant]],
      ),
    );
    this.#revision += 1;
  }

  /** The list a grant is bound to has to be known; a server that may start is asked for it. */
  async #toolsOf(server: RegisteredServer): Promise<readonly CatalogTool[]> {
    const { registry, catalog, pins } = this.#parts;
    const { name } = server.config;
    const obstacle = registry.obstacle(server);
    if (obstacle !== undefined) throw obstacle;
    if (!catalog.isKnown(name)) await server.connection.client();
    return catalog
      .tools(name)
      .filter((tool) => pins.verdict(server.launchIdentity, tool) === "accepted");
  }

  #describe({ agent, identity, tool = "", grantedAt, expiresAt }: Grant): GrantInfo {
    const server = this.#parts.registry
      .all()
      .find(({ launchIdentity }) => launchIdentity === identity);
    return {
      agent,
      server: server?.config.name,
      tool,
      grantedAt,
      ...(expiresAt === undefined ? {} : { expiresAt }),
    };
  }
}

function keyOf(agent: string, identity: string, toolName: string): string {
  return JSON.stringify([agent, identity, toolName]);
}

function fits(grant: GrantInfo, { agent, server, tool }: GrantQuery): boolean {
  return (
    (agent === undefined || grant.agent === agent) &&
    (server === undefined || grant.server === server) &&
    (tool === undefined || grant.tool === tool)
  );
}

function findTool(tools: readonly CatalogTool[], name: string): CatalogTool {
  const found = tools.find(({ originalName }) => originalName === name);
  if (found !== undefined) return found;
  const suggestions = closest(
    name,
    tools.map(({ originalName }) => originalName),
  );
  throw createError("tool_unknown", `no tool "${name}"`, { details: { suggestions } });
}
