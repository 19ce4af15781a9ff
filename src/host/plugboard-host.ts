import type { ApproveOptions } from "../approval/approvals.ts";
import { LaunchApproval, type RequestApprovalOptions } from "../approval/launch-approval.ts";
import { closeAtProgramEnd } from "../async/program-end.ts";
import type { ToolSchemas } from "../call/tool-schemas.ts";
import type { Naming } from "../catalog/tool-names.ts";
import type { ToolReference } from "../catalog/tool-origin.ts";
import type { ConfigProblem } from "../config/keys/config-problem.ts";
import { parseServers } from "../config/parse/parse-config.ts";
import type { ServerConnection } from "../connection/server-connection.ts";
import { createError } from "../errors/families.ts";
import type { Unsubscribe } from "../events/event-bus.ts";
import type { HostEvent, HostEventOf, HostEventType } from "../events/host-event.ts";
import type { Grants } from "../grants/grants.ts";
import type { Human } from "../human/human.ts";
import type { LaunchQuestion } from "../human/launch-question.ts";
import type { Pins } from "../pins/pins.ts";
import type { ListedTool } from "../protocol/protocol-client.ts";
import type { RegisteredServer } from "../registry/server-registry.ts";
import type { Roots } from "../requests/roots.ts";
import type { AgentSession } from "../session/agent-session.ts";
import type { ConnectedServer } from "../session/native/connection-pool.ts";
import { HandlerRuns } from "../session/native/handler-runs.ts";
import { SessionDirectory } from "../session/session-directory.ts";
import type { Session } from "../session/session.ts";
import type { Audit } from "../store/audit/audit-entry.ts";
import { emitToolModule } from "./emit-tool-module.ts";
import type {
  AddOptions,
  ConnectOptions,
  DisconnectOptions,
  EntryInput,
  ImportOptions,
  ImportResult,
  KeptServer,
  McpHost,
  NamedEntry,
  ServerStatus,
  SessionOptions,
  StartOptions,
} from "./host.ts";
import { openSession } from "./open-session.ts";
import { ServerFleet, type ServerFleetParts } from "./servers/configured-servers.ts";
import { describeServer } from "./servers/describe-server.ts";
import { isThere, ServerEdits } from "./servers/edit-servers.ts";

export interface HostParts extends ServerFleetParts {
  readonly schemas: ToolSchemas;
  readonly createId: () => string;
  readonly naming: Naming;
  readonly human: Human | undefined;
  /** The folder the host works in. */
  readonly cwd: string;
  /** The user's home. */
  readonly home: string;
}

/** The façade: every surface talks to this and to nothing behind it. */
export class PlugboardHost implements McpHost {
  readonly #parts: HostParts;
  readonly #fleet: ServerFleet;
  readonly #edits: ServerEdits;
  readonly #launches: LaunchApproval<RegisteredServer>;
  readonly #sessions = new SessionDirectory();
  readonly #closed = new AbortController();
  readonly #warned = new Set<string>();
  readonly #handlers: HandlerRuns;
  #closing: Promise<void> | undefined;
  #forgetEnd: (() => void) | undefined;

  constructor(parts: HostParts) {
    this.#parts = parts;
    this.#fleet = new ServerFleet(parts);
    this.#handlers = new HandlerRuns(parts.clock);
    this.#edits = new ServerEdits({ ...parts, given: this.#fleet.given });
    const { hostEnv, human, events, clock, limits } = parts;
    const { registry, launches, approvals } = this.#fleet;
    this.#launches = new LaunchApproval({
      launches,
      approvals,
      inForce: (name) => registry.get(name),
      toApprove: (name) => registry.toApprove(name),
      settle: () => this.#fleet.settle(),
      stop: (server) => registry.stop(server),
      human,
      timeoutMs: limits.totalCallTimeoutMs,
      hostEnv,
      events,
      clock,
      closing: this.#closed.signal,
    });
  }

  /** Brings back what is known from before and, if wanted, follows what changes from here on. */
  async begin(options: { readonly watch: boolean; readonly startEager: boolean }): Promise<void> {
    this.#forgetEnd = closeAtProgramEnd(() => this.close());
    await this.#fleet.load();
    if (options.watch) await this.#fleet.watch();
    if (options.startEager) this.#fleet.startEager();
  }

  get grants(): Grants {
    return this.#fleet.grants;
  }

  get pins(): Pins {
    return this.#fleet.pins;
  }

  get audit(): Audit {
    return this.#parts.audit;
  }

  get configProblems(): readonly ConfigProblem[] {
    return this.#fleet.problems;
  }

  servers(): readonly ServerStatus[] {
    const { registry } = this.#fleet;
    return registry
      .all()
      .flatMap((server) => [server, registry.waitingFor(server) ?? []].flat())
      .map((server) => this.#status(server));
  }

  server(name: string): ServerStatus {
    return this.#status(this.#fleet.registry.get(name));
  }

  reload(): Promise<void> {
    this.#assertOpen();
    return this.#fleet.reload();
  }

  async connect(server: string | NamedEntry, options: ConnectOptions = {}): Promise<ServerStatus> {
    this.#assertOpen();
    if (typeof server === "string") return await this.#connect(server, options);
    const [name = ""] = this.#addServers([server], { isKept: false });
    try {
      const status = await this.#connect(name, options);
      if (options.owner === undefined) this.#fleet.given.keep(name);
      return status;
    } finally {
      await this.#fleet.dropUnused([name]);
    }
  }

  async #connect(name: string, options: ConnectOptions): Promise<ServerStatus> {
    const { registry } = this.#fleet;
    const { owner, shared: isShared = false, mode, timeoutMs, signal } = options;
    if (registry.obstacle(registry.get(name))?.code === "not_approved")
      await this.#launches.request(name, { agent: owner, signal });
    const server = registry.get(name);
    const obstacle = registry.obstacle(server);
    if (obstacle !== undefined) throw obstacle;
    const claim = owner === undefined ? undefined : registry.claim(server, { owner, isShared });
    const connection = claim?.connection ?? server.users.keep();
    try {
      const client = await connection.client({ timeoutMs, signal, isForced: true });
      await this.#fleet.listContent(server, client, { signal, timeoutMs });
    } catch (error) {
      // What one agent could not have is not taken from the others.
      await claim?.drop();
      throw error;
    }
    if (mode !== undefined) registry.setConsentMode(server, mode, owner);
    return this.#status(server, connection);
  }

  async connectAll(options: StartOptions = {}): Promise<Readonly<Record<string, boolean>>> {
    this.#assertOpen();
    const { timeoutMs, signal } = options;
    const { registry } = this.#fleet;
    const startable = registry.all().filter((server) => registry.obstacle(server) === undefined);
    const results = await Promise.all(
      startable.map(async (server): Promise<[string, boolean]> => {
        const { config, users } = server;
        const client = await users
          .keep()
          .client({ timeoutMs, signal, isForced: true })
          // The reason stays with the server as its `lastError`.
          .catch(() => undefined);
        if (client !== undefined)
          await this.#fleet.listContent(server, client, { signal, timeoutMs });
        return [config.name, client !== undefined];
      }),
    );
    return Object.fromEntries(results);
  }

  async disconnect(name: string, { owner }: DisconnectOptions = {}): Promise<void> {
    const { registry } = this.#fleet;
    await registry.release(registry.get(name), owner);
    await this.#fleet.dropUnused([name]);
  }

  async disconnectAll(): Promise<void> {
    const { registry, given } = this.#fleet;
    await registry.releaseAll();
    await this.#fleet.dropUnused(given.configs.map(({ name }) => name));
  }

  /** Consent stays: what is connected again is what was. */
  async reconnect(name: string, options: ConnectOptions = {}): Promise<ServerStatus> {
    this.#assertOpen();
    const { users } = this.#fleet.registry.get(name);
    if (options.owner === undefined) {
      await users.close();
      return await this.connect(name, options);
    }
    const { connection, isShared } = users.claimedBy(options.owner) ?? {};
    await connection?.close();
    return await this.connect(name, { ...options, shared: options.shared ?? isShared });
  }

  async checkConnections(): Promise<readonly string[]> {
    return await this.#fleet.dropDead();
  }

  async add(
    name: string,
    entry: EntryInput,
    { scope = "user" }: AddOptions = {},
  ): Promise<KeptServer> {
    this.#assertOpen();
    if (this.#fleet.registry.find(name) !== undefined) throw isThere(name);
    const notes = await this.#edits.add(name, entry, scope);
    return { ...(await this.#reloaded(name)), notes };
  }

  async update(name: string, entry: EntryInput): Promise<KeptServer> {
    this.#assertOpen();
    const notes = await this.#edits.update(this.#fleet.registry.get(name).config, entry);
    return { ...(await this.#reloaded(name)), notes };
  }

  async remove(name: string): Promise<void> {
    this.#assertOpen();
    await this.#edits.remove(this.#fleet.registry.get(name).config);
    await this.#fleet.reload();
  }

  async importConfig(options: ImportOptions): Promise<ImportResult> {
    this.#assertOpen();
    const { cwd, store } = this.#parts;
    const servers = this.#fleet.registry.all().map(({ config }) => config);
    const { importConfig } = await import("./servers/import-config.ts");
    try {
      return await importConfig(options, {
        cwd,
        store,
        servers,
        add: async (name, entry, scope, base) => {
          this.#fleet.noteImport(name);
          return await this.#edits.write(name, entry, scope, base);
        },
      });
    } finally {
      await this.#fleet.reload();
    }
  }

  async enable(name: string): Promise<ServerStatus> {
    this.#assertOpen();
    await this.#edits.setEnabled(this.#fleet.registry.get(name).config, true);
    return await this.#reloaded(name);
  }

  async disable(name: string): Promise<ServerStatus> {
    this.#assertOpen();
    await this.#edits.setEnabled(this.#fleet.registry.get(name).config, false);
    return await this.#reloaded(name);
  }

  async approvalQuestion(name: string): Promise<LaunchQuestion | undefined> {
    this.#assertOpen();
    return await this.#launches.question(name);
  }

  async requestApproval(name: string, options: RequestApprovalOptions = {}): Promise<boolean> {
    this.#assertOpen();
    return await this.#launches.request(name, options);
  }

  async approve(name: string, options: ApproveOptions = {}): Promise<void> {
    this.#assertOpen();
    await this.#launches.approve(name, options);
  }

  async revokeApproval(name: string): Promise<void> {
    await this.#launches.revoke(name);
  }

  registerTools(serverName: string, schemas: readonly ListedTool[]): void {
    this.#fleet.registerTools(serverName, schemas);
  }

  async emitTypes(name: string, { timeoutMs, signal }: StartOptions = {}): Promise<string> {
    this.#assertOpen();
    const { registry, pins } = this.#fleet;
    const obstacle = registry.obstacle(registry.get(name));
    if (obstacle !== undefined) throw obstacle;
    const { catalog } = this.#parts;
    if (!catalog.isKnown(name)) await this.connect(name, { timeoutMs, signal });
    // A quarantined definition may say anything, and this becomes somebody's source.
    const accepted = pins.accepted(registry.get(name), catalog.tools(name));
    return await emitToolModule(name, accepted, signal);
  }

  async setRoots(roots: Roots): Promise<void> {
    this.#assertOpen();
    const connections = this.#fleet.registry.all().flatMap(({ users }) => users.connections);
    await this.#parts.requests.setRoots(roots, connections);
  }

  logs(name: string): readonly string[] {
    const { evidence, lastError } = this.#fleet.registry.get(name).users.foremost;
    const atFailure = lastError?.details["stderrTail"] as readonly string[] | undefined;
    return atFailure ?? evidence?.stderrTail ?? [];
  }

  session(options: SessionOptions = {}): Session {
    const session = this.#openSession(options);
    this.#sessions.add(session);
    return session;
  }

  client(name: string, { agent }: { readonly agent?: string | undefined } = {}): ConnectedServer {
    // The program's own code asks, so nobody else has to consent; all other rules hold.
    return this.#openSession({ agent, level: "yolo" }).server(name);
  }

  #openSession(options: SessionOptions): AgentSession {
    this.#assertOpen();
    const { registry, grants, pins } = this.#fleet;
    return openSession(options, {
      ...this.#parts,
      registry,
      grants,
      pins,
      closing: this.#closed.signal,
      handlers: this.#handlers,
      sessions: this.#sessions,
      configProblems: () => this.configProblems,
      warned: this.#warned,
      addServers: (entries) => this.#addServers(entries, { isKept: true }),
    });
  }

  why(agent: string, tool: ToolReference): AccessReport {
    // An agent without a session has no rights; that is what the report says then.
    return (this.#sessions.latest(agent) ?? this.session({ agent })).why(tool);
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

  /** Servers that a section or `connect` brings along: given in code, as those of `createHost` are. */
  #addServers(entries: readonly unknown[], stay: { readonly isKept: boolean }): readonly string[] {
    this.#assertOpen();
    const options = { provenance: { layer: "code" }, baseDir: this.#parts.cwd } as const;
    const configs = entries.flatMap((entry) => parseServers([entry], options));
    for (const config of configs) this.#fleet.give(config, stay);
    return configs.map(({ name }) => name);
  }

  async #end(): Promise<void> {
    this.#forgetEnd?.();
    this.#closed.abort();
    this.#handlers.close();
    await Promise.all([this.#fleet.end(), this.#parts.schemas.close()]);
  }

  #assertOpen(): void {
    if (this.#closing !== undefined) throw createError("closed", "the host has been closed");
  }

  async #reloaded(name: string): Promise<ServerStatus> {
    await this.#fleet.reload();
    return this.server(name);
  }

  #status(server: RegisteredServer, connection?: ServerConnection): ServerStatus {
    const { registry, sources, pins, approvals } = this.#fleet;
    const { catalog } = this.#parts;
    return describeServer(server, { registry, sources, pins, approvals, catalog }, connection);
  }
}
