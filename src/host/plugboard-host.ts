import type { ApproveOptions, Approvals } from "../approval/approvals.ts";
import type { LaunchApproval, RequestApprovalOptions } from "../approval/launch-approval.ts";
import type { SignInStatus } from "../auth/server-sign-in.ts";
import type { ToolCatalog } from "../catalog/tool-catalog.ts";
import type { Naming } from "../catalog/tool-names.ts";
import type { ToolReference } from "../catalog/tool-origin.ts";
import type { ConfigProblem } from "../config/keys/config-problem.ts";
import type { ServerConnection } from "../connection/server-connection.ts";
import { createError } from "../errors/families.ts";
import type { EventBus, Unsubscribe } from "../events/event-bus.ts";
import type { HostEvent, HostEventOf, HostEventType } from "../events/host-event.ts";
import type { Grants } from "../grants/grants.ts";
import type { Human } from "../human/human.ts";
import type { LaunchQuestion } from "../human/launch-question.ts";
import type { Pins } from "../pins/pins.ts";
import type { ToolPins } from "../pins/tool-pins.ts";
import type { ListedTool } from "../protocol/protocol-client.ts";
import type { LastAttempts } from "../registry/last-attempts.ts";
import type { RegisteredServer, ServerRegistry } from "../registry/server-registry.ts";
import type { Roots } from "../requests/roots.ts";
import type { ServerQuestions } from "../requests/server-questions.ts";
import type { AgentSession, SessionParts } from "../session/agent-session.ts";
import type { ConnectedServer } from "../session/native/connection-pool.ts";
import type { SessionDirectory } from "../session/session-directory.ts";
import type { Session } from "../session/session.ts";
import type { AccessReport } from "../session/tools/explain-access.ts";
import type { Audit } from "../store/audit/audit-entry.ts";
import type { ContractOptions, ContractReport } from "./contract-report.ts";
import type { DoctorOptions, DoctorReport } from "./doctor-report.ts";
import type { DoctorParts } from "./doctor/check.ts";
import type { KeptSecrets } from "./host-secrets.ts";
import type {
  AddOptions,
  ConfigCheck,
  ConnectElsewhereOptions,
  ConnectOptions,
  DisconnectOptions,
  EditableEntry,
  EntryInput,
  ImportOptions,
  ImportResult,
  ImportSource,
  KeptServer,
  LoginOptions,
  LogoutResult,
  McpHost,
  NamedEntry,
  ServerStatus,
  SessionOptions,
  StartOptions,
  UpdateOptions,
} from "./host.ts";
import type { KeptLogs } from "./logs/kept-logs.ts";
import { openSession } from "./open-session.ts";
import type { ConfiguredServers } from "./servers/configured-servers.ts";
import type { ConnectRequests } from "./servers/connect-elsewhere.ts";
import type { ServerConnector } from "./servers/connect-servers.ts";
import type { ConnectionFactory } from "./servers/connection-factory.ts";
import { describeServer } from "./servers/describe-server.ts";
import { isThere } from "./servers/edit-errors.ts";
import type { ServerEdits } from "./servers/edit-servers.ts";
import type { EntryReferences } from "./servers/entry-references.ts";
import type { ServerSources } from "./servers/server-sources.ts";
import type { ServerLogins } from "./servers/sign-in-servers.ts";

export interface PlugboardHostOptions {
  readonly secrets: KeptSecrets;
  readonly references: EntryReferences;
  readonly sources: ServerSources;
  readonly registry: ServerRegistry;
  readonly lastAttempts: LastAttempts;
  readonly configured: ConfiguredServers;
  readonly connector: ServerConnector;
  readonly connections: ConnectionFactory;
  readonly connectRequests: ConnectRequests;
  readonly logins: ServerLogins;
  /** Loads what writes changes of servers. */
  readonly loadEdits: () => Promise<ServerEdits>;
  /** The variables of the host's environment. */
  readonly hostEnv: Readonly<Record<string, string | undefined>>;
  readonly approvals: Approvals;
  readonly launchApproval: LaunchApproval<RegisteredServer>;
  readonly catalog: ToolCatalog;
  readonly pins: ToolPins;
  readonly grants: Grants;
  readonly audit: Audit;
  readonly keptLogs: KeptLogs;
  readonly questions: ServerQuestions;
  readonly sessions: SessionDirectory;
  readonly sessionParts: SessionParts;
  /** Who answers for sessions that name nobody themselves. */
  readonly human: Human | undefined;
  /** Adds people elsewhere to the person that a session names; undefined where nobody elsewhere is asked. */
  readonly joinHuman: ((human: Human) => Human) | undefined;
  /** How sessions name tools that do not say it themselves. */
  readonly naming: Naming;
  readonly events: EventBus;
  /** Aborted when the host closes. */
  readonly closing: AbortSignal;
  /** What `doctor` looks at beside the rest. */
  readonly ownState: Pick<
    DoctorParts,
    "store" | "storeLocation" | "machine" | "clock" | "secrets" | "vault" | "logins"
  >;
  /** Ends everything. Called once. */
  readonly close: () => Promise<void>;
}

/** The façade: every surface talks to this and to nothing behind it. */
export class PlugboardHost implements McpHost {
  readonly #options: PlugboardHostOptions;
  #closed: Promise<void> | undefined;

  constructor(options: PlugboardHostOptions) {
    this.#options = options;
  }

  get grants(): Grants {
    return this.#options.grants;
  }

  get pins(): Pins {
    return this.#options.pins;
  }

  get secrets(): KeptSecrets {
    return this.#options.secrets;
  }

  get audit(): Audit {
    return this.#options.audit;
  }

  get keptLogs(): KeptLogs {
    return this.#options.keptLogs;
  }

  get configProblems(): readonly ConfigProblem[] {
    return this.#options.configured.problems;
  }

  servers(): readonly ServerStatus[] {
    const { registry } = this.#options;
    const statuses: ServerStatus[] = [];
    for (const server of registry.all()) {
      statuses.push(this.#status(server));
      const waiting = registry.waitingFor(server);
      if (waiting !== undefined) statuses.push(this.#status(waiting));
    }
    return statuses;
  }

  async serversAsLastSeen(): Promise<readonly ServerStatus[]> {
    this.#assertOpen();
    const { registry, lastAttempts, logins } = this.#options;
    const statuses = this.servers();
    const idle = statuses.filter(isUntried).map(({ name }) => registry.get(name));
    const [failures, signIns] = await Promise.all([
      lastAttempts.of(idle),
      Promise.all(registry.all().map((server) => logins.glance(server))),
    ]);
    const signInOf = new Map(registry.all().map(({ config }, at) => [config.name, signIns[at]]));
    return statuses.map((status) => {
      const isInForce = status.waitsToReplace === undefined;
      const signIn = isInForce ? signInOf.get(status.name) : undefined;
      const known = signIn === undefined ? status : { ...status, signIn };
      const failure = isUntried(status) ? failures.get(status.name) : undefined;
      if (failure === undefined) return known;
      const { state, error: lastError, failedAt } = failure;
      const isMended =
        state === "needs_auth" && signIn !== undefined && signIn.signedInAt > failedAt;
      return isMended ? known : { ...known, state, lastError, failedAt };
    });
  }

  server(name: string): ServerStatus {
    return this.#status(this.#options.registry.get(name));
  }

  reload(): Promise<void> {
    this.#assertOpen();
    return this.#options.configured.reload();
  }

  async connect(server: string | NamedEntry, options: ConnectOptions = {}): Promise<ServerStatus> {
    this.#assertOpen();
    const connected = await this.#options.connector.connect(server, options);
    return this.#status(connected.server, connected.connection);
  }

  async connectAll(options: StartOptions = {}): Promise<Readonly<Record<string, boolean>>> {
    this.#assertOpen();
    return await this.#options.connector.connectAll(options);
  }

  async disconnect(name: string, { owner }: DisconnectOptions = {}): Promise<void> {
    await this.#options.connector.disconnect(name, owner);
  }

  async disconnectAll(): Promise<void> {
    await this.#options.connector.disconnectAll();
  }

  async reconnect(name: string, options: ConnectOptions = {}): Promise<ServerStatus> {
    this.#assertOpen();
    const { server, connection } = await this.#options.connector.reconnect(name, options);
    return this.#status(server, connection);
  }

  async connectElsewhere(name: string, options: ConnectElsewhereOptions = {}): Promise<void> {
    this.#assertOpen();
    const { registry, connectRequests } = this.#options;
    await connectRequests.send(registry.get(name), options);
  }

  async checkConnections(): Promise<readonly string[]> {
    return await this.#options.registry.dropDead();
  }

  async add(
    name: string,
    entry: EntryInput,
    { scope = "user" }: AddOptions = {},
  ): Promise<KeptServer> {
    this.#assertOpen();
    const known = this.#options.registry.find(name);
    if (known !== undefined) throw isThere(name, known.config.provenance);
    const edits = await this.#options.loadEdits();
    const notes = await edits.add(name, entry, scope);
    return { ...(await this.#reloaded(name)), notes };
  }

  async editableEntry(name: string): Promise<EditableEntry> {
    this.#assertOpen();
    const { config } = this.#options.registry.get(name);
    const edits = await this.#options.loadEdits();
    return await edits.editable(config);
  }

  async update(
    name: string,
    entry: EntryInput,
    { revision }: UpdateOptions = {},
  ): Promise<KeptServer> {
    this.#assertOpen();
    const { config } = this.#options.registry.get(name);
    const edits = await this.#options.loadEdits();
    const notes = await edits.update(config, entry, revision);
    return { ...(await this.#reloaded(name)), notes };
  }

  async remove(name: string): Promise<void> {
    this.#assertOpen();
    const { registry, loadEdits, configured, lastAttempts, references } = this.#options;
    const server = registry.get(name);
    const edits = await loadEdits();
    await edits.remove(server.config);
    await configured.reload();
    await lastAttempts.forget(server);
    const others = registry.all().map(({ config }) => config);
    await references.forget(server.config, others);
  }

  async forgetInputs(name: string): Promise<number> {
    this.#assertOpen();
    const { registry, references } = this.#options;
    return await references.forget(registry.get(name).config);
  }

  async importConfig(options: ImportOptions): Promise<ImportResult> {
    this.#assertOpen();
    const { registry, sources, loadEdits, connector, configured } = this.#options;
    const edits = await loadEdits();
    const { servers, shadowed } = sources.current;
    const known = new Set([
      ...registry.all().map(({ config }) => config),
      ...servers,
      ...[...shadowed.values()].flat(),
    ]);
    try {
      return await edits.import(options, [...known], (name) => connector.noteImport(name));
    } finally {
      if (options.dryRun !== true) await configured.reload();
    }
  }

  async importSources(): Promise<readonly ImportSource[]> {
    this.#assertOpen();
    const { sources, loadEdits } = this.#options;
    const edits = await loadEdits();
    return await edits.importSources(new Set(sources.current.files.map((file) => file.path)));
  }

  async checkConfig(): Promise<ConfigCheck> {
    this.#assertOpen();
    const { sources, configured, hostEnv, ownState } = this.#options;
    const { checkConfig } = await import("./files/check-config.ts");
    return await checkConfig(sources.current, configured.problems, {
      env: hostEnv,
      missingSecrets: (config) => ownState.secrets.missing(config),
    });
  }

  async enable(name: string): Promise<ServerStatus> {
    return await this.#setEnabled(name, true);
  }

  async disable(name: string): Promise<ServerStatus> {
    return await this.#setEnabled(name, false);
  }

  async doctor(name?: string, options: DoctorOptions = {}): Promise<readonly DoctorReport[]> {
    this.#assertOpen();
    const { registry, sources, sessions, ownState } = this.#options;
    if (name !== undefined) registry.get(name);
    const { examineHost } = await import("./doctor/examine-host.ts");
    const parts: DoctorParts = {
      ...ownState,
      host: this,
      configFiles: () => sources.current.files,
      sessions: () => sessions.all(),
    };
    return await examineHost(parts, name, options);
  }

  async checkContract(name: string, options: ContractOptions = {}): Promise<ContractReport> {
    this.#assertOpen();
    const { registry, connections } = this.#options;
    const server = registry.get(name);
    const obstacle = registry.obstacle(server);
    if (obstacle !== undefined) throw obstacle;
    const { checkContract } = await import("./contract/check-contract.ts");
    const { config } = server;
    const parts = connections.unattended({ config, mayStart: registry.mayStart(server) });
    return await checkContract(parts, options);
  }

  async approvalQuestion(name: string): Promise<LaunchQuestion | undefined> {
    this.#assertOpen();
    return await this.#options.launchApproval.question(name);
  }

  async requestApproval(name: string, options: RequestApprovalOptions = {}): Promise<boolean> {
    this.#assertOpen();
    return await this.#options.launchApproval.request(name, options);
  }

  async approve(name: string, options: ApproveOptions = {}): Promise<void> {
    this.#assertOpen();
    await this.#options.launchApproval.approve(name, options);
  }

  async revokeApproval(name: string): Promise<void> {
    await this.#options.launchApproval.revoke(name);
  }

  async login(name: string, options: LoginOptions = {}): Promise<SignInStatus | undefined> {
    this.#assertOpen();
    return await this.#options.logins.login(name, options);
  }

  async logout(name: string): Promise<LogoutResult> {
    this.#assertOpen();
    return await this.#options.logins.logout(name);
  }

  async signIn(name: string): Promise<SignInStatus | undefined> {
    this.#assertOpen();
    return await this.#options.logins.status(name);
  }

  registerTools(serverName: string, schemas: readonly ListedTool[]): void {
    this.#options.configured.registerTools(serverName, schemas);
  }

  async emitTypes(name: string, { timeoutMs, signal }: StartOptions = {}): Promise<string> {
    this.#assertOpen();
    const { registry, catalog, pins, connector } = this.#options;
    const obstacle = registry.obstacle(registry.get(name));
    if (obstacle !== undefined) throw obstacle;
    if (!catalog.isKnown(name)) await connector.connect(name, { timeoutMs, signal });
    // A quarantined definition may say anything, and this becomes somebody's source.
    const accepted = pins.accepted(registry.get(name), catalog.tools(name));
    const { emitToolModule } = await import("./emit-tool-module.ts");
    return await emitToolModule(name, accepted, signal);
  }

  async setRoots(roots: Roots): Promise<void> {
    this.#assertOpen();
    const { registry, questions } = this.#options;
    const connections = registry.all().flatMap((server) => server.connections.all);
    await questions.setRoots(roots, connections);
  }

  logs(name: string): readonly string[] {
    const { evidence, lastError } = this.#options.registry.get(name).connections.mostAdvanced;
    const atFailure = lastError?.details["stderrTail"] as readonly string[] | undefined;
    return atFailure ?? evidence?.stderrTail ?? [];
  }

  session(options: SessionOptions = {}): Session {
    const session = this.#openSession(options);
    this.#options.sessions.add(session);
    return session;
  }

  client(name: string, { agent }: { readonly agent?: string | undefined } = {}): ConnectedServer {
    // The program's own code asks, so nobody else has to consent; all other rules hold.
    return this.#openSession({ agent, level: "yolo" }).server(name);
  }

  why(agent: string, tool: ToolReference): AccessReport {
    // An agent without a session has no rights; that is what the report says then.
    return (this.#options.sessions.latest(agent) ?? this.session({ agent })).why(tool);
  }

  on<T extends HostEventType>(type: T, handler: (event: HostEventOf<T>) => void): Unsubscribe;
  on(type: "*", handler: (event: HostEvent) => void): Unsubscribe;
  on(type: HostEventType | "*", handler: (event: never) => void): Unsubscribe {
    return this.#options.events.on(type as "*", handler as (event: HostEvent) => void);
  }

  close(): Promise<void> {
    this.#closed ??= this.#options.close();
    return this.#closed;
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }

  #openSession(options: SessionOptions): AgentSession {
    this.#assertOpen();
    const { questions, sessionParts, human, joinHuman, naming } = this.#options;
    const named = options.human;
    const own = named === undefined ? undefined : (joinHuman?.(named) ?? named);
    questions.introduce(own);
    return openSession(
      {
        agent: options.agent ?? "main",
        level: options.level,
        capabilities: options.capabilities,
        human: own ?? human,
        naming: options.naming ?? naming,
        pending: options.pending ?? "list",
        resourceTools: options.resourceTools ?? false,
        history: options.history ?? false,
      },
      sessionParts,
    );
  }

  #assertOpen(): void {
    if (this.#options.closing.aborted) throw createError("closed", "the host has been closed");
  }

  async #setEnabled(name: string, isEnabled: boolean): Promise<ServerStatus> {
    this.#assertOpen();
    const { config } = this.#options.registry.get(name);
    const edits = await this.#options.loadEdits();
    await edits.setEnabled(config, isEnabled);
    return await this.#reloaded(name);
  }

  async #reloaded(name: string): Promise<ServerStatus> {
    await this.#options.configured.reload();
    return this.server(name);
  }

  #status(server: RegisteredServer, connection?: ServerConnection): ServerStatus {
    return describeServer(server, this.#options, connection);
  }
}

/** Whether this host knows nothing of a server beyond its entry. One that waits to replace another has never run. */
function isUntried({ state, waitsToReplace }: ServerStatus): boolean {
  return state === "idle" && waitsToReplace === undefined;
}
