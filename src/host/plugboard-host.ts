import type { Transport } from "@modelcontextprotocol/client";

import type { CallPath } from "../call/call-path.ts";
import type { ToolSchemas } from "../call/tool-schemas.ts";
import { Discovery } from "../catalog/discovery.ts";
import type { ToolCatalog } from "../catalog/tool-catalog.ts";
import type { Naming } from "../catalog/tool-names.ts";
import type { ConfigProblem } from "../config/config-problem.ts";
import type { Limits } from "../config/limits.ts";
import { parseServerEntry } from "../config/parse-config.ts";
import type { Provenance, ServerConfig } from "../config/server-config.ts";
import { watchFiles } from "../config/watch-files.ts";
import { DialectMemory } from "../connection/http-dialects.ts";
import { ServerConnection } from "../connection/server-connection.ts";
import { StartGate } from "../connection/start-gate.ts";
import { createError } from "../errors/families.ts";
import type { EventBus, Unsubscribe } from "../events/event-bus.ts";
import type { HostEvent, HostEventOf, HostEventType } from "../events/host-event.ts";
import { oneAtATime } from "../events/one-at-a-time.ts";
import type { Clock } from "../ports/clock.ts";
import type { Human } from "../ports/human.ts";
import type { Logger } from "../ports/logger.ts";
import type {
  ConnectProtocol,
  ListedTool,
  ServerNotification,
} from "../protocol/protocol-client.ts";
import { type RegisteredServer, ServerRegistry } from "../registry/server-registry.ts";
import type { RequestDesk } from "../requests/request-desk.ts";
import type { Roots } from "../requests/roots.ts";
import { AgentSession } from "../session/agent-session.ts";
import type { Session } from "../session/session.ts";
import { neutralizeLine } from "../text/neutralize.ts";
import { truncate } from "../text/truncate.ts";
import { adoptTransport } from "../transport/adopt-transport.ts";
import { type CreateTransport, createTransport } from "../transport/create-transport.ts";
import type { CollectedServers } from "./collect-servers.ts";
import { describeTarget } from "./describe-target.ts";
import type { HostStore } from "./host-store.ts";
import type {
  ConnectOptions,
  DisconnectOptions,
  McpHost,
  ServerStatus,
  SessionOptions,
} from "./host.ts";
import { ServerMemory } from "./server-memory.ts";

export interface HostParts {
  readonly sources: CollectedServers;
  /** Reads all sources again. */
  readonly collect: () => Promise<CollectedServers>;
  readonly store: HostStore;
  readonly watch: boolean;
  readonly reconnect: boolean;
  readonly catalog: ToolCatalog;
  readonly schemas: ToolSchemas;
  readonly calls: CallPath;
  readonly requests: RequestDesk;
  readonly events: EventBus;
  readonly limits: Limits;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly createId: () => string;
  readonly hostEnv: Readonly<Record<string, string | undefined>>;
  readonly connectProtocol: ConnectProtocol;
  readonly clientInfo: { readonly name: string; readonly version: string };
  readonly protocolVersion: string | undefined;
  readonly naming: Naming;
  readonly human: Human | undefined;
}

export class PlugboardHost implements McpHost {
  readonly #parts: HostParts;
  readonly #registry: ServerRegistry;
  readonly #dialects = new DialectMemory();
  readonly #startGate: StartGate;
  readonly #discovery: Discovery;
  readonly #memory: ServerMemory;
  #sources: CollectedServers;
  /** Servers that exist only because their tools were registered. */
  readonly #registered: ServerConfig[] = [];
  #reloading = Promise.resolve();
  #unwatch: (() => void) | undefined;
  #closing: Promise<void> | undefined;

  constructor(parts: HostParts) {
    this.#parts = parts;
    this.#sources = parts.sources;
    this.#startGate = new StartGate(parts.clock);
    this.#registry = new ServerRegistry({ createConnection: (config) => this.#connection(config) });
    this.#memory = new ServerMemory(parts.store, this.#registry, parts.catalog);
    this.#discovery = new Discovery({
      ...parts,
      publish: (event) => this.#publish(event),
      onListed: (name, client, tools) => this.#memory.listed(name, client, tools),
    });
    for (const config of parts.sources.servers) this.#add(config);
    if (parts.watch) this.#watch();
  }

  get configProblems(): readonly ConfigProblem[] {
    return this.#sources.problems;
  }

  /** What is known from before; a store that cannot be read has been told with the configuration. */
  async recall(): Promise<void> {
    await this.#memory.recall().catch((error: unknown) => {
      this.#parts.logger.warn("nothing is known from before", { error: String(error) });
    });
  }

  servers(): readonly ServerStatus[] {
    return this.#registry.all().map((server) => this.#status(server));
  }

  server(name: string): ServerStatus {
    return this.#status(this.#registry.get(name));
  }

  reload(): Promise<void> {
    this.#assertOpen();
    const reloading = this.#reloading.catch(() => undefined).then(() => this.#reload());
    this.#reloading = reloading;
    return reloading;
  }

  async connect(name: string, options: ConnectOptions = {}): Promise<ServerStatus> {
    this.#assertOpen();
    const server = this.#registry.get(name);
    const obstacle = this.#registry.obstacle(server);
    if (obstacle !== undefined) throw obstacle;
    const { owner, shared: isShared = false } = options;
    const connection =
      owner === undefined ? server.connection : this.#registry.claim(server, { owner, isShared });
    await connection.client({ ...options, isForced: true });
    return this.#status(server);
  }

  async connectAll(options: ConnectOptions = {}): Promise<Readonly<Record<string, boolean>>> {
    this.#assertOpen();
    const startable = this.#registry
      .all()
      .filter((server) => this.#registry.obstacle(server) === undefined);
    const results = await Promise.all(
      startable.map(async ({ config, connection }): Promise<[string, boolean]> => {
        const isConnected = await connection.client({ ...options, isForced: true }).then(
          () => true,
          // The reason stays with the server as its `lastError`.
          () => false,
        );
        return [config.name, isConnected];
      }),
    );
    return Object.fromEntries(results);
  }

  async disconnect(name: string, { owner }: DisconnectOptions = {}): Promise<void> {
    const server = this.#registry.get(name);
    if (owner !== undefined) return await this.#registry.release(server, owner);
    await Promise.all(server.users.connections.map((connection) => connection.close()));
  }

  disconnectAll(): Promise<void> {
    return this.#registry.disconnectAll();
  }

  async reconnect(name: string, options: ConnectOptions = {}): Promise<ServerStatus> {
    await this.disconnect(name);
    return await this.connect(name, options);
  }

  async checkConnections(): Promise<readonly string[]> {
    const open = this.#registry
      .all()
      .flatMap(({ users }) => users.connections)
      .filter((connection) => connection.openClient !== undefined);
    const checks = await Promise.all(open.map((connection) => connection.isAlive()));
    const dead = open.filter((_, index) => !checks[index]);
    return [...new Set(dead.map(({ config }) => config.name))];
  }

  async approve(name: string): Promise<void> {
    await this.#memory.approve(this.#registry.get(name));
  }

  async revokeApproval(name: string): Promise<void> {
    await this.#memory.revoke(this.#registry.get(name));
    await this.disconnect(name);
  }

  registerTools(serverName: string, schemas: readonly ListedTool[]): void {
    if (this.#registry.find(serverName) === undefined) {
      const base = parseServerEntry(
        serverName,
        { enabled: false },
        { provenance: { layer: "code" } },
      );
      const config = Object.freeze({ ...base, enabled: true });
      this.#registered.push(config);
      this.#add(config);
    }
    this.#parts.catalog.register(serverName, schemas);
  }

  async setRoots(roots: Roots): Promise<void> {
    this.#assertOpen();
    const connections = this.#registry.all().flatMap(({ users }) => users.connections);
    await this.#parts.requests.setRoots(roots, connections);
  }

  logs(name: string): readonly string[] {
    const { evidence, lastError } = this.#registry.get(name).connection;
    const atFailure = lastError?.details["stderrTail"] as readonly string[] | undefined;
    return atFailure ?? evidence?.stderrTail ?? [];
  }

  session(options: SessionOptions = {}): Session {
    this.#assertOpen();
    this.#parts.requests.introduce(options.human);
    const { catalog, calls, schemas, events, clock, limits, createId, naming, human } = this.#parts;
    return new AgentSession(
      {
        agent: options.agent ?? "main",
        level: options.level,
        human: options.human ?? human,
        naming: options.naming ?? naming,
        pending: options.pending ?? "list",
      },
      { registry: this.#registry, catalog, calls, schemas, events, clock, limits, createId },
    );
  }

  on<T extends HostEventType>(type: T, handler: (event: HostEventOf<T>) => void): Unsubscribe;
  on(type: "*", handler: (event: HostEvent) => void): Unsubscribe;
  on(type: HostEventType | "*", handler: (event: never) => void): Unsubscribe {
    return this.#parts.events.on(type as "*", handler as (event: HostEvent) => void);
  }

  close(): Promise<void> {
    this.#closing ??= this.#end();
    return this.#closing;
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }

  async #end(): Promise<void> {
    this.#unwatch?.();
    await Promise.all([this.#registry.endAll(), this.#parts.schemas.close()]);
    await this.#parts.store.close();
  }

  #assertOpen(): void {
    if (this.#closing !== undefined) throw createError("closed", "the host has been closed");
  }

  #watch(): void {
    const files = this.#sources.files.map((file) => file.path);
    if (files.length === 0) return;
    const reload = oneAtATime(() =>
      this.reload().catch((error: unknown) => {
        const { logger } = this.#parts;
        logger.warn("the configuration could not be read again", { error: String(error) });
      }),
    );
    this.#unwatch = watchFiles(files, reload);
  }

  async #reload(): Promise<void> {
    const sources = await this.#parts.collect();
    if (this.#closing !== undefined) return;
    const before = this.#registry.all().map(({ config }) => config);
    const configs = [
      ...sources.servers,
      ...lastGood(before, sources),
      ...this.#registered.filter(({ name }) => !sources.servers.some((it) => it.name === name)),
    ];
    this.#sources = sources;
    const { ended, ...changes } = this.#registry.apply(configs);
    const fresh = new Set([...changes.added, ...changes.changed]);
    const kept = new Set(configs.map(({ name }) => name).filter((name) => !fresh.has(name)));
    this.#parts.catalog.arrange(configs, kept);
    if (fresh.size > 0) await this.recall();
    if (fresh.size > 0 || changes.removed.length > 0)
      this.#publish({ type: "servers-changed", ...changes, at: this.#parts.clock.now() });
    await ended;
  }

  #add(config: ServerConfig): void {
    this.#registry.add(config);
    this.#parts.catalog.declare(config);
  }

  #connection(entry: ServerConfig): ServerConnection {
    const { clientInfo, limits, clock, logger, hostEnv, protocolVersion, connectProtocol } =
      this.#parts;
    const { name } = entry;
    const open = this.#sources.transports.get(name);
    const desk = this.#parts.requests.forServer(entry);
    return new ServerConnection({
      config: {
        ...entry,
        protocol: protocolVersion ?? entry.protocol,
        reconnect: this.#parts.reconnect && entry.reconnect,
      },
      clientInfo,
      limits,
      clock,
      logger,
      hostEnv,
      dialects: this.#dialects,
      startGate: this.#startGate,
      createTransport: open === undefined ? createTransport : handedOver(open),
      connectProtocol,
      inputHandlers: () => desk.handlers(),
      onReady: (client) => this.#discovery.begin(name, client),
      onState: (state, previous, error) => {
        const failure =
          error === undefined ? {} : { error: { code: error.code, message: error.message } };
        this.#publish({
          type: "server-state",
          serverName: name,
          state,
          previous,
          ...failure,
          at: clock.now(),
        });
      },
      onNotification: (notification) => this.#hear(name, notification),
    });
  }

  #hear(serverName: string, { method, params }: ServerNotification): void {
    if (method !== "notifications/message") return;
    const { data, level } = params ?? {};
    this.#publish({
      type: "server-log",
      serverName,
      level: typeof level === "string" ? truncate(neutralizeLine(level), 32) : "info",
      text: truncate(
        neutralizeLine(typeof data === "string" ? data : JSON.stringify(data ?? null)),
        1_000,
      ),
      at: this.#parts.clock.now(),
    });
  }

  #publish(event: HostEvent): void {
    this.#parts.events.emit(event);
  }

  #status(server: RegisteredServer): ServerStatus {
    const { config, connection } = server;
    const { catalog } = this.#parts;
    const client = connection.openClient;
    return {
      name: config.name,
      state: this.#registry.state(server),
      transport: connection.transportKind,
      target: describeTarget(config),
      provenance: config.provenance,
      shadows: (this.#sources.shadowed.get(config.name) ?? []).map(
        ({ provenance }): Provenance => provenance,
      ),
      config,
      toolCount: catalog.isKnown(config.name) ? catalog.tools(config.name).length : undefined,
      lastError: connection.lastError,
      era: client?.era,
      protocolVersion: client?.protocolVersion,
      serverInfo: client?.serverInfo,
      connectedAt: connection.connectedAt,
      pid: connection.evidence?.pid,
      problems: catalog.problems(config.name),
    };
  }
}

/** A file that cannot be read at the moment, perhaps half written, takes no server away. */
function lastGood(
  before: readonly ServerConfig[],
  { servers, files }: CollectedServers,
): readonly ServerConfig[] {
  const broken = new Set(files.filter(({ isBroken }) => isBroken).map(({ path }) => path));
  const names = new Set(servers.map(({ name }) => name));
  return before.filter(
    ({ name, provenance }) =>
      provenance.path !== undefined && broken.has(provenance.path) && !names.has(name),
  );
}

/** A transport object can be opened once; a function is asked for a new one each time. */
function handedOver(open: () => Transport): CreateTransport {
  return (config) => Promise.resolve(adoptTransport(open(), config.name));
}
