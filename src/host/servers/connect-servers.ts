import type { LaunchApproval } from "../../approval/launch-approval.ts";
import { startPause } from "../../async/stop.ts";
import type { Discovery } from "../../catalog/discovery.ts";
import type { ToolCatalog } from "../../catalog/tool-catalog.ts";
import type { ServerConnection } from "../../connection/server-connection.ts";
import type { EventBus } from "../../events/event-bus.ts";
import type { Clock } from "../../ports/clock.ts";
import type { ProtocolClient } from "../../protocol/protocol-client.ts";
import type { RegisteredServer, ServerRegistry } from "../../registry/server-registry.ts";
import type { ConnectOptions, NamedEntry, StartOptions } from "../host.ts";
import type { ConfiguredServers } from "./configured-servers.ts";
import type { GivenServers } from "./given-servers.ts";

/** How long connecting a server waits for the lists of its resources and prompts. */
const contentPatienceMs = 3_000;

export interface ServerConnectorOptions {
  readonly registry: ServerRegistry;
  readonly configured: ConfiguredServers;
  readonly given: GivenServers;
  readonly launchApproval: LaunchApproval<RegisteredServer>;
  readonly catalog: ToolCatalog;
  readonly discovery: Discovery;
  readonly events: EventBus;
  readonly clock: Clock;
}

/** A server that was connected, and the connection that was asked for. */
export interface ConnectedThrough {
  readonly server: RegisteredServer;
  readonly connection: ServerConnection;
}

/** Opens connections because the program says so; calls open what they need by themselves. */
export class ServerConnector {
  readonly #options: ServerConnectorOptions;
  /** Servers whose entry says "eager" but was imported: they start when somebody asks for them. */
  readonly #imported = new Set<string>();

  constructor(options: ServerConnectorOptions) {
    this.#options = options;
  }

  /** Connects the server of this name, or one that is given with its entry and stays while somebody uses it. */
  async connect(server: string | NamedEntry, options: ConnectOptions): Promise<ConnectedThrough> {
    if (typeof server === "string") return await this.#connect(server, options);
    const { configured, given } = this.#options;
    const [name = ""] = configured.add([server], { isKept: false });
    try {
      const connected = await this.#connect(name, options);
      if (options.owner === undefined) given.keep(name);
      return connected;
    } finally {
      await configured.dropUnused([name]);
    }
  }

  /** Connects every server that may start; whether it worked, by name. Why one failed stays with it as `lastError`. */
  async connectAll({
    timeoutMs,
    signal,
  }: StartOptions): Promise<Readonly<Record<string, boolean>>> {
    const { registry } = this.#options;
    const startable = registry.all().filter((server) => registry.obstacle(server) === undefined);
    const results = await Promise.all(
      startable.map(async (server): Promise<[string, boolean]> => {
        const client = await server.connections
          .keep()
          .client({ timeoutMs, signal, isForced: true })
          .catch(() => undefined);
        if (client !== undefined) await this.#listContent(server, client, { signal, timeoutMs });
        return [server.config.name, client !== undefined];
      }),
    );
    return Object.fromEntries(results);
  }

  /** Closes the connection of one owner, or all, and connects again. Consent stays: it is the same server. */
  async reconnect(name: string, options: ConnectOptions): Promise<ConnectedThrough> {
    const { connections } = this.#options.registry.get(name);
    const { owner } = options;
    if (owner === undefined) {
      await connections.close();
      return await this.#connect(name, options);
    }
    const { connection, isShared } = connections.claimedBy(owner) ?? {};
    await connection?.close();
    return await this.#connect(name, { ...options, shared: options.shared ?? isShared });
  }

  async disconnect(name: string, owner: string | undefined): Promise<void> {
    const { registry, configured } = this.#options;
    await registry.release(registry.get(name), owner);
    await configured.dropUnused([name]);
  }

  async disconnectAll(): Promise<void> {
    const { registry, configured, given } = this.#options;
    await registry.releaseAll();
    await configured.dropUnused(given.configs.map(({ name }) => name));
  }

  /**
   * Starts the servers whose entry says `"start": "eager"` and that may start, without waiting for them: why
   * one cannot stays with it. From here on also those that are configured or approved later.
   */
  startEager(): void {
    const { registry, events } = this.#options;
    const start = (): void => {
      for (const server of registry.all()) {
        const { config, connection, connections } = server;
        const isMeant = config.start === "eager" && connection.state === "idle";
        if (isMeant && !this.#imported.has(config.name) && registry.obstacle(server) === undefined)
          connections
            .keep()
            .client()
            .catch(() => undefined);
      }
    };
    start();
    events.on("servers-changed", start);
    events.on("launch-approved", ({ serverName }) => {
      this.#imported.delete(serverName);
      start();
    });
  }

  /** Keeps `startEager` from starting this server. To be called before its entry is written. */
  noteImport(serverName: string): void {
    this.#imported.add(serverName);
  }

  async #connect(name: string, options: ConnectOptions): Promise<ConnectedThrough> {
    const { registry, launchApproval } = this.#options;
    const { owner, shared: isShared = false, mode, timeoutMs, signal, onPhase } = options;
    if (registry.obstacle(registry.get(name))?.code === "not_approved")
      await launchApproval.request(name, { agent: owner, signal });
    const server = registry.get(name);
    const obstacle = registry.obstacle(server);
    if (obstacle !== undefined) throw obstacle;
    const claim = owner === undefined ? undefined : registry.claim(server, { owner, isShared });
    const connection = claim?.connection ?? server.connections.keep();
    try {
      const client = await connection.client({ timeoutMs, signal, isForced: true, onPhase });
      await this.#listContent(server, client, { signal, timeoutMs });
    } catch (error) {
      // What one agent could not have is not taken from the others.
      await claim?.drop();
      throw error;
    }
    if (mode !== undefined) registry.setConsentMode(server, mode, owner);
    return { server, connection };
  }

  /**
   * Lists what a connected server offers beside tools, and waits a moment for it. A list that comes later is in
   * the catalog then; one that fails is a warning and fails nothing.
   */
  async #listContent(
    server: RegisteredServer,
    client: ProtocolClient,
    options: StartOptions,
  ): Promise<void> {
    const { registry, catalog, discovery, clock } = this.#options;
    const { resources, prompts } = catalog.content(server.config.name);
    if (resources !== undefined && prompts !== undefined) return;
    const listing = discovery.listContent(client, () => registry.current(server), options);
    const signal = options.signal ?? new AbortController().signal;
    const pause = startPause(clock, contentPatienceMs, signal);
    await Promise.race([listing, pause.over]);
    pause.end();
  }
}
