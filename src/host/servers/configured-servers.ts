import { Approvals } from "../../approval/approvals.ts";
import { ApprovedLaunches } from "../../approval/approved-launches.ts";
import { locateLaunch, thisMachine } from "../../approval/locate-launch.ts";
import { oneAtATime } from "../../async/queue.ts";
import { startPause } from "../../async/stop.ts";
import type { CallPath } from "../../call/call-path.ts";
import { Discovery } from "../../catalog/discovery.ts";
import { CatalogMemory } from "../../catalog/stored-catalogs.ts";
import type { ToolCatalog } from "../../catalog/tool-catalog.ts";
import { watchFiles } from "../../config/files/watch-files.ts";
import type { ConfigProblem } from "../../config/keys/config-problem.ts";
import { isOfProject, type ServerConfig } from "../../config/keys/server-config.ts";
import { parseServerEntry } from "../../config/parse/parse-config.ts";
import { publishConsentModes } from "../../grants/consent-mode-events.ts";
import { ToolGrants } from "../../grants/tool-grants.ts";
import { ToolPins } from "../../pins/tool-pins.ts";
import type { ListedTool, ProtocolClient } from "../../protocol/protocol-client.ts";
import { keepStatuses } from "../../registry/keep-server-states.ts";
import {
  isSameDefinition,
  type RegisteredServer,
  type ServerChanges,
  ServerRegistry,
} from "../../registry/server-registry.ts";
import type { HostStore } from "../../store/host-store.ts";
import type { AuditTrail } from "../audit-trail.ts";
import type { StartOptions } from "../host.ts";
import type { LoggedWarnings } from "../log-warnings.ts";
import { ConnectionFactory, type ConnectionFactoryParts } from "./connection-factory.ts";
import { GivenServers } from "./given-servers.ts";
import type { CollectedServers } from "./server-sources.ts";

/** How long connecting a server waits for the lists of its resources and prompts. */
const contentPatienceMs = 3_000;

export interface ServerFleetParts extends ConnectionFactoryParts {
  readonly sources: CollectedServers;
  /** Reads all sources again. */
  readonly collect: () => Promise<CollectedServers>;
  readonly store: HostStore;
  readonly catalog: ToolCatalog;
  readonly calls: CallPath;
  readonly audit: AuditTrail;
  readonly warnings: LoggedWarnings;
}

/** The servers there are, kept in step with where they are defined and with what is known of them. */
export class ServerFleet {
  readonly registry: ServerRegistry;
  readonly launches: ApprovedLaunches;
  readonly approvals: Approvals;
  readonly grants: ToolGrants;
  readonly pins: ToolPins;
  /** Servers given in code after the start; like all of code they win over files. */
  readonly given = new GivenServers();
  readonly #parts: ServerFleetParts;
  readonly #lists: CatalogMemory;
  readonly #discovery: Discovery;
  #sources: CollectedServers;
  /** Servers that exist only because their tools were registered. */
  readonly #registered: ServerConfig[] = [];
  /** Servers whose entry says "eager" but was imported: they start when somebody asks for them. */
  readonly #imported = new Set<string>();
  #reloading = Promise.resolve();
  #unwatch: (() => void) | undefined;
  #isEnded = false;
  readonly #connections: ConnectionFactory;

  constructor(parts: ServerFleetParts) {
    const { events, store, catalog, clock } = parts;
    this.#parts = parts;
    this.#sources = parts.sources;
    this.#discovery = new Discovery({
      ...parts,
      publish: (event) => events.emit(event),
      review: (server, tools) => this.pins.review(server, tools),
      onListed: (server, client, tools) => this.#lists.listed(server, client, tools),
    });
    this.launches = new ApprovedLaunches((config) =>
      locateLaunch(config, thisMachine(parts.hostEnv, parts.ground)),
    );
    this.approvals = new Approvals(store, this.launches);
    const connections = new ConnectionFactory(parts, this.#discovery);
    this.#connections = connections;
    this.registry = new ServerRegistry({
      createConnection: (purpose) =>
        connections.create(purpose, this.#sources.transports.get(purpose.config.name)),
      launches: this.launches,
    });
    this.pins = new ToolPins({ store, registry: this.registry, events, clock });
    this.grants = new ToolGrants({
      store,
      registry: this.registry,
      catalog,
      pins: this.pins,
      events,
      clock,
    });
    this.#lists = new CatalogMemory({ ...parts, registry: this.registry, pins: this.pins });
    publishConsentModes({ registry: this.registry, events, clock });
    keepStatuses({ store, events, registry: this.registry });
    this.#arrange(this.registry.apply(entriesOf(parts.sources)));
  }

  get sources(): CollectedServers {
    return this.#sources;
  }

  /** What is wrong with the configuration, the store included. */
  get problems(): readonly ConfigProblem[] {
    const { problem } = this.#parts.store;
    return problem === undefined ? this.#sources.problems : [...this.#sources.problems, problem];
  }

  /** Loads what the store knows of the servers. A store that cannot be read is a problem of the configuration already. */
  async load(): Promise<void> {
    await this.#load(() => this.#arrange(this.registry.settle()));
  }

  /** Makes the servers follow an approval that was given or revoked. */
  async settle(): Promise<void> {
    const changes = this.registry.settle();
    if (isNone(changes)) return this.#nameApproved();
    this.#arrange(changes);
    await this.#orWarn(this.#loadTools());
    this.#tell(changes);
  }

  /** Follows changes of the files, and of the store by other processes. */
  async watch(): Promise<void> {
    const { warnings, store } = this.#parts;
    const reload = oneAtATime(() =>
      this.reload().catch((error: unknown) => {
        warnings.background.warn("the configuration could not be read again", {
          error: String(error),
        });
      }),
    );
    const files = this.#sources.files.map((file) => file.path);
    this.#unwatch = watchFiles(files, reload);
    await store.watch(reload);
  }

  /**
   * Starts what is to be started at once and may be, without waiting for it: why one cannot stays with it.
   * From here on also what is configured or approved later.
   */
  startEager(): void {
    const start = (): void => {
      for (const server of this.registry.all()) {
        const { config, connection, users } = server;
        const isMeant = config.start === "eager" && connection.state === "idle";
        if (
          isMeant &&
          !this.#imported.has(config.name) &&
          this.registry.obstacle(server) === undefined
        )
          users
            .keep()
            .client()
            .catch(() => undefined);
      }
    };
    start();
    this.#parts.events.on("servers-changed", start);
    this.#parts.events.on("launch-approved", ({ serverName }) => {
      this.#imported.delete(serverName);
      start();
    });
  }

  /** Keeps `startEager` from starting this server. To be called before its entry is written. */
  noteImport(serverName: string): void {
    this.#imported.add(serverName);
  }

  /** One after the other: each call sees what was there when it was made. */
  reload(): Promise<void> {
    const reloading = this.#reloading.catch(() => undefined).then(() => this.#reload());
    this.#reloading = reloading;
    return reloading;
  }

  /**
   * Lists what a connected server offers beside tools, and waits a moment for it. What comes later is in the
   * server's record then; a failure is told and fails nothing.
   */
  async listContent(
    { config: { name }, users }: RegisteredServer,
    client: ProtocolClient,
    options: StartOptions,
  ): Promise<void> {
    const { resources, prompts } = this.#parts.catalog.content(name);
    if (resources !== undefined && prompts !== undefined) return;
    const find = (): RegisteredServer | undefined => {
      const now = this.registry.find(name);
      return now?.users === users ? now : undefined;
    };
    const listing = this.#discovery.listContent(client, find, options);
    const signal = options.signal ?? new AbortController().signal;
    const pause = startPause(this.#parts.clock, contentPatienceMs, signal);
    await Promise.race([listing, pause.over]);
    pause.end();
  }

  registerTools(serverName: string, schemas: readonly ListedTool[]): void {
    if (this.registry.find(serverName) === undefined) {
      const provenance = { layer: "code" } as const;
      const base = parseServerEntry(serverName, { enabled: false }, { provenance });
      const config = Object.freeze({ ...base, enabled: true });
      this.#registered.push(config);
      this.#add(config);
    }
    this.#parts.catalog.register(serverName, schemas);
  }

  /**
   * A server of that name that is there already, defined alike, is used as it is. Throws when the name is
   * taken. One that is not to be kept stays while somebody uses it, see `dropUnused`.
   */
  give(config: ServerConfig, { isKept }: { readonly isKept: boolean }): void {
    const known = this.registry.find(config.name);
    if (known !== undefined && isSameDefinition(known.config, config)) return;
    this.#add(config);
    this.given.put(config, isKept);
  }

  /** Forgets those of these servers that were given for their use alone and that nobody uses any more. */
  async dropUnused(names: readonly string[]): Promise<void> {
    const unused = names.filter((name) => {
      const isDroppable = this.given.has(name) && !this.given.isKept(name);
      return isDroppable && this.registry.find(name)?.users.isInUse !== true;
    });
    for (const name of unused) this.given.delete(name);
    if (unused.length > 0) await this.reload();
  }

  /** Asks every connected server for a sign of life; the names of those that gave none and were dropped. */
  async dropDead(): Promise<readonly string[]> {
    const open = this.registry
      .all()
      .flatMap(({ users }) => users.connections)
      .filter((connection) => connection.openClient !== undefined);
    const checks = await Promise.all(open.map((connection) => connection.isAlive()));
    const dead = open.filter((_, index) => !checks[index]);
    return [...new Set(dead.map(({ config }) => config.name))];
  }

  async end(): Promise<void> {
    this.#isEnded = true;
    this.#parts.warnings.end();
    this.#unwatch?.();
    this.#connections.close();
    await this.registry.endAll();
    // Calls that ended with their connections are still being written down.
    await this.#parts.calls.idle(this.#parts.limits.stopGraceMs);
    await this.#parts.audit.close();
    await this.#parts.store.close();
  }

  async #reload(): Promise<void> {
    const sources = await this.#parts.collect();
    let changes: ServerChanges | undefined;
    // Approvals first: what was approved elsewhere meanwhile decides which entry of a name is in force.
    await this.#load(() => {
      if (this.#isEnded) return;
      const before = this.registry.all().map(({ config }) => config);
      this.#sources = sources;
      changes = this.registry.apply([
        ...entriesOf(sources).filter(({ name }) => !this.given.has(name)),
        ...lastGood(before, sources),
        ...this.#registered.filter(({ name }) => !sources.servers.some((it) => it.name === name)),
        ...this.given.configs,
      ]);
      this.#arrange(changes);
    });
    if (changes === undefined) return;
    if (!isNone(changes)) this.#tell(changes);
    await changes.ended;
  }

  /** Loads the approvals, lets `arrange` follow them, and loads what is known of the servers in force then. */
  async #load(arrange: () => void): Promise<void> {
    const loading = this.#loadApprovals().finally(arrange);
    await this.#orWarn(loading.then(() => this.#loadTools()));
  }

  async #loadApprovals(): Promise<void> {
    const revoked = await this.approvals.load(
      () => this.registry.all(),
      ({ users }) => users.isOpen,
    );
    await Promise.all(revoked.map(({ users }) => users.close()));
  }

  /** The pins come first: no definition is offered that has not been compared with them. */
  async #loadTools(): Promise<void> {
    await this.pins.load();
    await Promise.all([this.grants.load(), this.#lists.load()]);
  }

  async #orWarn(loading: Promise<void>): Promise<void> {
    await loading.catch((error: unknown) => {
      if (this.#isEnded || error === this.#parts.store.failure) return;
      this.#parts.logger.warn("nothing is known from before", { error: String(error) });
    });
  }

  /** Makes the catalog follow the registry. */
  #arrange(changes: ServerChanges): void {
    const { catalog } = this.#parts;
    const servers = this.registry.all();
    const fresh = new Set([...changes.added, ...changes.changed]);
    const names = servers.map(({ config }) => config.name);
    catalog.arrange(
      servers.map(({ config }) => config),
      new Set(names.filter((name) => !fresh.has(name))),
    );
    this.#nameApproved();
    // Only a reload waits for the end of what was replaced, and tells when it failed.
    changes.ended.catch(() => undefined);
  }

  /** What nobody has approved gives no names. */
  #nameApproved(): void {
    const { catalog } = this.#parts;
    const servers = this.registry.all();
    const unapproved = servers.filter((server) => !this.registry.isApproved(server));
    catalog.leaveUnnamed(new Set(unapproved.map(({ config }) => config.name)));
  }

  #tell({ added, removed, changed }: ServerChanges): void {
    const { events, clock } = this.#parts;
    events.emit({ type: "servers-changed", added, removed, changed, at: clock.now() });
  }

  #add(config: ServerConfig): void {
    this.registry.add(config);
    this.#parts.catalog.declare(config);
  }
}

/** Nearest first, with the farther ones of each name behind it. */
function entriesOf({ servers, shadowed }: CollectedServers): readonly ServerConfig[] {
  return servers.flatMap((config) => [config, ...(shadowed.get(config.name) ?? [])]);
}

function isNone({ added, removed, changed }: ServerChanges): boolean {
  return added.length + removed.length + changed.length === 0;
}

/**
 * A source that cannot be read at the moment, such as a file half written, takes no server away. An entry
 * of a project does not stand in for one that the user wrote.
 */
function lastGood(
  before: readonly ServerConfig[],
  { servers, files, isStoreBroken }: CollectedServers,
): readonly ServerConfig[] {
  const broken = new Set(files.filter(({ isBroken }) => isBroken).map(({ path }) => path));
  return before.filter(({ name, provenance }) => {
    const { layer, path } = provenance;
    const isOfBroken = path === undefined ? layer === "store" && isStoreBroken : broken.has(path);
    const isReplaced = servers.some(
      (it) => it.name === name && (!isOfProject(it.provenance) || isOfProject(provenance)),
    );
    return isOfBroken && !isReplaced;
  });
}
