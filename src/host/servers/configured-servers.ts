import { isDeepStrictEqual } from "node:util";

import type { Approvals } from "../../approval/approvals.ts";
import { createQueue, oneAtATime } from "../../async/queue.ts";
import type { StoredCatalogs } from "../../catalog/stored-catalogs.ts";
import type { ToolCatalog } from "../../catalog/tool-catalog.ts";
import { watchFiles } from "../../config/files/watch-files.ts";
import { type ConfigProblem, formatProblem } from "../../config/keys/config-problem.ts";
import { isOfProject, type ServerConfig } from "../../config/keys/server-config.ts";
import { parseServerEntry, parseServers } from "../../config/parse/parse-config.ts";
import { createError } from "../../errors/families.ts";
import type { EventBus } from "../../events/event-bus.ts";
import type { ToolGrants } from "../../grants/tool-grants.ts";
import type { ToolPins } from "../../pins/tool-pins.ts";
import type { Clock } from "../../ports/clock.ts";
import type { Logger } from "../../ports/logger.ts";
import type { ListedTool } from "../../protocol/protocol-client.ts";
import {
  isSameDefinition,
  type ServerChanges,
  type ServerRegistry,
} from "../../registry/server-registry.ts";
import type { HostStore } from "../../store/host-store.ts";
import type { GivenServers } from "./given-servers.ts";
import type { CollectedServers, ServerSources } from "./server-sources.ts";

export interface ConfiguredServersOptions {
  readonly sources: ServerSources;
  /** Servers given in code after the start; like all of code they win over files. */
  readonly given: GivenServers;
  readonly registry: ServerRegistry;
  readonly catalog: ToolCatalog;
  readonly storedCatalogs: StoredCatalogs;
  readonly approvals: Approvals;
  readonly pins: ToolPins;
  readonly grants: ToolGrants;
  readonly store: HostStore;
  readonly events: EventBus;
  readonly clock: Clock;
  readonly logger: Logger;
  /** For what happens while nobody waits for it. */
  readonly background: Logger;
  /** The folder that relative paths of servers given in code are meant from. */
  readonly cwd: string;
}

/** What other processes leave in the store for this host to follow, see `ConnectRequests` and `SignInFollower`. */
export interface StoreRequests {
  /** Notes what was left before this host runs. */
  begin(): Promise<void>;
  /** Follows what was left since. */
  follow(): Promise<void>;
}

/**
 * Keeps the registry in step with where servers are defined: it reads the sources again when they change, and
 * loads what the store knows of the servers in force.
 */
export class ConfiguredServers {
  readonly #options: ConfiguredServersOptions;
  /** Servers that exist only because their tools were registered. */
  readonly #registered: ServerConfig[] = [];
  readonly #inTurn = createQueue();
  #unwatch: (() => void) | undefined;
  #isEnded = false;

  constructor(options: ConfiguredServersOptions) {
    this.#options = options;
    const { registry, sources } = options;
    this.#arrange(registry.apply(entriesOf(sources.current)));
  }

  /** What is wrong with the configuration, the store included. */
  get problems(): readonly ConfigProblem[] {
    const { store, sources } = this.#options;
    const { problems } = sources.current;
    return store.problem === undefined ? problems : [...problems, store.problem];
  }

  /**
   * Loads what the store knows of the servers. A store that cannot be read is a problem of the configuration
   * already.
   */
  async load(): Promise<void> {
    await this.#load(() => this.#arrange(this.#options.registry.settle()));
  }

  /** Makes the servers follow an approval that was given or revoked. */
  async settle(): Promise<void> {
    const changes = this.#options.registry.settle();
    if (isNone(changes)) return this.#nameApproved();
    this.#arrange(changes);
    await this.#orWarn(this.#loadTools());
    this.#publish(changes);
  }

  /** Reloads whenever a file changes, or another process changes the store, and then follows what was asked there. */
  async watch(requests: readonly StoreRequests[]): Promise<void> {
    const { background, store, sources } = this.#options;
    const update = async (): Promise<void> => {
      const before = sources.current.problems;
      await this.reload();
      if (this.#isEnded) return;
      this.#warnOfNew(before);
      await Promise.all(requests.map((one) => one.follow()));
    };
    const reload = oneAtATime(() =>
      update().catch((error: unknown) => {
        if (this.#isEnded || error === store.failure) return;
        background.warn("the configuration could not be read again", { error: String(error) });
      }),
    );
    const files = sources.current.files.map((file) => file.path);
    const ends = [watchFiles(files, reload), this.#watchForStore(reload)];
    this.#unwatch = () => {
      for (const end of ends) end();
    };
    await Promise.all(requests.map((one) => one.begin().catch(() => undefined)));
    await store.watch(reload);
  }

  /** Warns of mistakes that somebody made in a file since it was last read: nobody waits for what they changed. */
  #warnOfNew(before: readonly ConfigProblem[]): void {
    const { sources, events, clock } = this.#options;
    const { problems, files } = sources.current;
    const broken = new Set(files.filter(({ isBroken }) => isBroken).map(({ path }) => path));
    for (const problem of problems) {
      if (before.some((known) => isDeepStrictEqual(known, problem))) continue;
      const isOfBroken = problem.path !== undefined && broken.has(problem.path);
      const stays = isOfBroken ? " (file ignored; its last good version stays in use)" : "";
      const text = `${formatProblem(problem)}${stays}`;
      events.emit({ type: "warning", text, at: clock.now() });
    }
  }

  /** A store that does not exist yet is not open, so it tells of nothing; another process may create it. */
  #watchForStore(onChange: () => void): () => void {
    const { store } = this.#options;
    if (store.exists || store.file === undefined) return () => {};
    return watchFiles([store.file], () => {
      if (!store.isOpen) onChange();
    });
  }

  /** Reads all sources again, one reload after the other: each reads what was there when it was called. */
  reload(): Promise<void> {
    return this.#inTurn(() => this.#reload());
  }

  /** Makes tools known that the program has itself; a server that does not exist is added for them. */
  registerTools(serverName: string, schemas: readonly ListedTool[]): void {
    const { registry, catalog } = this.#options;
    if (registry.find(serverName) === undefined) {
      const provenance = { layer: "code" } as const;
      const base = parseServerEntry(serverName, { enabled: false }, { provenance });
      const config = Object.freeze({ ...base, enabled: true });
      this.#registered.push(config);
      this.#add(config);
    }
    catalog.register(serverName, schemas);
  }

  /**
   * Adds servers given in code while the host runs, and gives their names. One that is there already, defined
   * alike, is used as it is; throws when the name is taken. A server that is not to be kept stays while
   * somebody uses it, see `dropUnused`.
   */
  add(entries: readonly unknown[], { isKept }: { readonly isKept: boolean }): readonly string[] {
    if (this.#isEnded) throw createError("closed", "the host has been closed");
    const { cwd, registry, given } = this.#options;
    const options = { provenance: { layer: "code" }, baseDir: cwd } as const;
    const configs = entries.flatMap((entry) => parseServers([entry], options));
    for (const config of configs) {
      const known = registry.find(config.name);
      if (known !== undefined && isSameDefinition(known.config, config)) continue;
      this.#add(config);
      given.put(config, isKept);
    }
    return configs.map(({ name }) => name);
  }

  /** Removes those of these servers that were given for their use alone and that nobody uses any more. */
  async dropUnused(names: readonly string[]): Promise<void> {
    const { given, registry } = this.#options;
    const unused = names.filter((name) => {
      const isDroppable = given.has(name) && !given.isKept(name);
      return isDroppable && registry.find(name)?.connections.isInUse !== true;
    });
    for (const name of unused) given.delete(name);
    if (unused.length > 0) await this.reload();
  }

  /** Stops watching; a reload under way changes nothing any more. */
  close(): void {
    this.#isEnded = true;
    this.#unwatch?.();
  }

  async #reload(): Promise<void> {
    const { registry, sources, given } = this.#options;
    const read = await sources.read();
    let changes: ServerChanges | undefined;
    // Approvals first: what was approved elsewhere meanwhile decides which entry of a name is in force.
    await this.#load(() => {
      if (this.#isEnded) return;
      const before = registry.all().map(({ config }) => config);
      sources.use(read);
      changes = registry.apply([
        ...entriesOf(read).filter(({ name }) => !given.has(name)),
        ...lastGood(before, read),
        ...this.#registered.filter(({ name }) => !read.servers.some((it) => it.name === name)),
        ...given.configs,
      ]);
      this.#arrange(changes);
    });
    if (changes === undefined) return;
    if (!isNone(changes)) this.#publish(changes);
    await changes.ended;
  }

  /** Loads the approvals, lets `arrange` follow them, and loads what is known of the servers in force then. */
  async #load(arrange: () => void): Promise<void> {
    const loading = this.#loadApprovals().finally(arrange);
    await this.#orWarn(loading.then(() => this.#loadTools()));
  }

  async #loadApprovals(): Promise<void> {
    const { approvals, registry } = this.#options;
    const revoked = await approvals.load(
      () => registry.all(),
      ({ connections }) => connections.isOpen,
    );
    await Promise.all(revoked.map(({ connections }) => connections.close()));
  }

  /** The pins come first: no definition is offered that has not been compared with them. */
  async #loadTools(): Promise<void> {
    const { pins, grants, storedCatalogs } = this.#options;
    await pins.load();
    await Promise.all([grants.load(), storedCatalogs.load()]);
  }

  async #orWarn(loading: Promise<void>): Promise<void> {
    const { store, logger } = this.#options;
    await loading.catch((error: unknown) => {
      if (this.#isEnded || error === store.failure) return;
      logger.warn("nothing is known from before", { error: String(error) });
    });
  }

  /** Makes the catalog follow the registry. */
  #arrange(changes: ServerChanges): void {
    const { catalog, registry } = this.#options;
    const servers = registry.all();
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

  /** Takes the public names away from tools of servers that nobody has approved. */
  #nameApproved(): void {
    const { catalog, registry } = this.#options;
    const unapproved = registry.all().filter((server) => !registry.isApproved(server));
    catalog.leaveUnnamed(new Set(unapproved.map(({ config }) => config.name)));
  }

  #publish({ added, removed, changed }: ServerChanges): void {
    const { events, clock } = this.#options;
    events.emit({ type: "servers-changed", added, removed, changed, at: clock.now() });
  }

  #add(config: ServerConfig): void {
    const { registry, catalog } = this.#options;
    registry.add(config);
    catalog.declare(config);
  }
}

/** Lists the entries nearest first, with the farther ones of each name behind it. */
function entriesOf({ servers, shadowed }: CollectedServers): readonly ServerConfig[] {
  return servers.flatMap((config) => [config, ...(shadowed.get(config.name) ?? [])]);
}

function isNone({ added, removed, changed }: ServerChanges): boolean {
  return added.length + removed.length + changed.length === 0;
}

/**
 * The servers of sources that cannot be read at the moment, such as a file half written: they stay as they
 * were. An entry of a project does not stand in for one that the user wrote.
 */
function lastGood(
  before: readonly ServerConfig[],
  { servers, files, isStoreBroken }: CollectedServers,
): readonly ServerConfig[] {
  const broken = new Set(files.filter(({ isBroken }) => isBroken).map(({ path }) => path));
  return before.filter(({ name, provenance }) => {
    const { layer, path } = provenance;
    const isOfBroken = path === undefined ? layer === "store" && isStoreBroken : broken.has(path);
    if (!isOfBroken) return false;
    return !servers.some(
      (it) => it.name === name && (!isOfProject(it.provenance) || isOfProject(provenance)),
    );
  });
}
