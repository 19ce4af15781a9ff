import type { Transport } from "@modelcontextprotocol/client";

import type { ApproveOptions } from "../approval/approvals.ts";
import type { RequestApprovalOptions } from "../approval/launch-approval.ts";
import type { PresentPage } from "../auth/browser/browser-sign-in.ts";
import type { SignInStatus } from "../auth/server-sign-in.ts";
import type { CatalogProblem } from "../catalog/catalog-problem.ts";
import type { McpPrompt, McpResource } from "../catalog/server-content.ts";
import type { Naming } from "../catalog/tool-names.ts";
import type { ToolReference } from "../catalog/tool-origin.ts";
import type { CodeEntry, ServerEntry } from "../config/keys/config-keys.ts";
import type { ConfigProblem } from "../config/keys/config-problem.ts";
import type { Limits } from "../config/keys/limits.ts";
import type {
  ConfigLayer,
  Provenance,
  ServerConfig,
  TransportKind,
} from "../config/keys/server-config.ts";
import type { StartPhase } from "../connection/start-phases.ts";
import type { McpError } from "../errors/mcp-error.ts";
import type { Unsubscribe } from "../events/event-bus.ts";
import type { HostEvent, HostEventOf, HostEventType, ServerState } from "../events/host-event.ts";
import type { Grants } from "../grants/grants.ts";
import type { Human } from "../human/human.ts";
import type { LaunchQuestion } from "../human/launch-question.ts";
import type { Pins } from "../pins/pins.ts";
import type { CapabilitySet } from "../policy/capability-set.ts";
import type { ConsentMode } from "../policy/decide-consent.ts";
import type { PermissionLevel } from "../policy/permission-level.ts";
import type { Clock } from "../ports/clock.ts";
import type { Logger } from "../ports/logger.ts";
import type { ProtocolCore } from "../protocol/choose-protocol.ts";
import type { ListedTool, ServerIdentity } from "../protocol/protocol-client.ts";
import type { ProtocolEra } from "../protocol/wire/protocol-versions.ts";
import type { Roots } from "../requests/roots.ts";
import type { SamplingHandler } from "../requests/sampling.ts";
import type { ConnectedServer } from "../session/native/connection-pool.ts";
import type { Session } from "../session/session.ts";
import type { AccessReport } from "../session/tools/explain-access.ts";
import type { Audit } from "../store/audit/audit-entry.ts";
import type { ContractOptions, ContractReport } from "./contract-report.ts";
import type { DoctorOptions, DoctorReport } from "./doctor-report.ts";
import type { KeptSecrets, SecretProvider } from "./host-secrets.ts";
import type { KeptLogs } from "./logs/kept-logs.ts";

/**
 * A server given in code: any entry a file could hold, with functions for values of `env` and `headers` and for
 * `auth.token` if you like; a ready transport; or a function that makes one.
 */
export type ServerInput = CodeEntry | ServerConfig | Transport | (() => Transport);

export interface HostOptions {
  /** Where project files are looked for and servers start; the current folder by default. */
  readonly cwd?: string | undefined;
  /** The folder that holds `.plugboard`; the user's home by default. */
  readonly home?: string | undefined;
  /** Servers given in code win over every file and are approved by their origin. */
  readonly servers?: Readonly<Record<string, ServerInput>> | readonly NamedEntry[] | undefined;
  /** `false`: read no files at all. */
  readonly config?: false | undefined;
  /** Read these files in place of the user's file; naming a file is approving it. */
  readonly configFiles?: readonly string[] | undefined;
  /**
   * Where approvals, servers and the last known tools are kept: a file, `":memory:"` or `postgres://…`.
   * By default `plugboard.db` in the user's `.plugboard` folder, or what `PLUGBOARD_DB` names; with
   * `config: false`, and with `false`, nothing is kept, and there is no audit trail; nor are the logs of servers
   * kept, which lie in that folder, too. One that cannot be opened is one of `configProblems`, a `warning` event and a warning of the logger.
   */
  readonly store?: string | false | undefined;
  /**
   * `"required"`: calls are refused as `store_failed` while they cannot be written down. By default they
   * go on, and the host warns.
   */
  readonly audit?: "required" | undefined;
  /** `false`: a configuration file that changes is not read again by itself. */
  readonly watch?: boolean | undefined;
  /** Starts servers whose entry says `"start": "eager"` at once, without waiting for them; on by default. */
  readonly startEager?: boolean | undefined;
  /** `false`: no server is started again by itself, whatever its entry says. */
  readonly reconnect?: boolean | undefined;
  /** Adds the bundled demo server; `"unconfigured"` only where there is no other, and no problem that explains it. */
  readonly demo?: boolean | "unconfigured" | undefined;
  readonly naming?: Naming | undefined;
  readonly limits?: Partial<Limits> | undefined;
  /**
   * Who answers for the host and for every session without a human of its own. Servers learn that they
   * may ask (`elicit`, `openUrl`) when their connection opens, if by then the host or any session has
   * somebody who can be asked.
   */
  readonly human?: Human | undefined;
  /**
   * `true`: whatever a person is asked on behalf of this host can also be answered wherever somebody is attached to
   * the host that `plugboard up` runs for the same user and folder, such as in a REPL. The first answer counts.
   * Without such a host, and before it comes, `human` is asked alone.
   */
  readonly resident?: boolean | undefined;
  /** Lets servers ask the program's model; without it they are told that they cannot. */
  readonly sampling?: SamplingHandler | undefined;
  /** The folders servers are told to work in. Without the option, even an empty list, they are not told. */
  readonly roots?: Roots | undefined;
  /** Where reports go; warnings and errors to stderr by default, nothing anywhere with `false`. */
  readonly logger?: Logger | false | undefined;
  readonly clock?: Clock | undefined;
  /** Source of `${VAR}` and of what children may inherit; `process.env` by default. */
  readonly env?: Readonly<Record<string, string | undefined>> | undefined;
  /**
   * Gives the secret that an entry names with `${secret:name}`, such as one of a secret manager. It is asked before the
   * secrets that are kept with `plugboard secret set`, at each start of a server, and what it gives is not kept.
   * Undefined: there is none of that name here.
   */
  readonly secrets?: SecretProvider | undefined;
  /** The one revision to speak with every server; each entry's `protocol` by default. */
  readonly protocolVersion?: string | undefined;
  /** `sdk` speaks through the official SDK's client; `core` by default, or what PLUGBOARD_PROTOCOL_CORE says. */
  readonly protocolCore?: ProtocolCore | undefined;
  readonly clientInfo?: { readonly name: string; readonly version: string } | undefined;
  readonly idGenerator?: (() => string) | undefined;
}

export interface SessionOptions {
  readonly agent?: string | undefined;
  /** No level means no access, unless there is a set of capabilities. */
  readonly level?: PermissionLevel | undefined;
  /**
   * What exactly the agent may call, `mcp:{server}:{tool}`. Without a set this is no question; an empty
   * one allows nothing. A set without a level is the program's consent for exactly what it grants:
   * nobody is asked, destructive tools included. Beside a level it only narrows. The session works with
   * the set as it is now.
   */
  readonly capabilities?: CapabilitySet | undefined;
  /** Who is asked on this session's behalf; the host's human by default. */
  readonly human?: Human | undefined;
  readonly naming?: Naming | undefined;
  /** Tools that would ask a person first are listed, or left out. */
  readonly pending?: "list" | "omit" | undefined;
  /** Offers each server's resources to the model through a tool that reads them. */
  readonly resourceTools?: boolean | undefined;
  /** Keeps the last calls for `session.history()`. */
  readonly history?: boolean | undefined;
}

/** One server as every surface shows it; a snapshot. */
export interface ServerStatus {
  readonly name: string;
  readonly state: ServerState;
  readonly transport: TransportKind;
  /** `command args…` or the URL, as configured and without secrets. */
  readonly target: string;
  readonly provenance: Provenance;
  /** Farther entries of the same name that this one replaces. */
  readonly shadows: readonly Provenance[];
  /**
   * The entry of the same name that is in force, for one of a project that would replace it and waits for
   * approval: `servers()` has both, `server(name)` the one in force.
   */
  readonly waitsToReplace?: Provenance;
  /** Secrets in it are `SecretText`; it can be handed back to `add` and `update` as it is. */
  readonly config: ServerConfig;
  /** Absent until the server's list has been seen. */
  readonly toolCount: number | undefined;
  /**
   * What agents may be offered of it, by the server's own names: the last list that was seen, also by an
   * earlier host, without what the entry leaves out and what is quarantined.
   */
  readonly tools: readonly ListedTool[];
  /**
   * As `connect`, `connectAll` or `reconnect` found them, and kept up to date while it is connected;
   * undefined before. Nothing is read.
   */
  readonly resources: readonly McpResource[] | undefined;
  readonly prompts: readonly McpPrompt[] | undefined;
  /** Who is signed in to it; only `serversAsLastSeen` tells, and only where that needs nobody's answer. */
  readonly signIn?: SignInStatus;
  readonly lastError: McpError | undefined;
  /** When that happened, in milliseconds since the epoch. */
  readonly failedAt: number | undefined;
  readonly era: ProtocolEra | undefined;
  /** As agreed on with the server; undefined for a REST service, which speaks no MCP. */
  readonly protocolVersion: string | undefined;
  /** What the server says of itself; a REST service cannot. */
  readonly serverInfo: ServerIdentity | undefined;
  readonly connectedAt: number | undefined;
  readonly pid: number | undefined;
  /** It is `pending`, and a launch was approved under its name before: this is not that one. */
  readonly changedSinceApproval: boolean;
  /** Original names of tools that nobody is offered until a person has looked at them. */
  readonly quarantined: readonly string[];
  /** Those of them that were never accepted: new, and they read like an attack. The others changed. */
  readonly suspect: readonly string[];
  /** What was wrong with single tools of its list. */
  readonly problems: readonly CatalogProblem[];
}

/** A server as it was kept. */
export interface KeptServer extends ServerStatus {
  /**
   * What is kept differently from what was given, and what may not be meant. One of the user's own servers
   * starts in a folder of its own, so relative paths that exist are kept as absolute ones.
   */
  readonly notes: readonly string[];
}

/** An entry as it is written, without its name. */
export interface EditableEntry {
  readonly entry: Readonly<Record<string, unknown>>;
  /** Names this state of the entry, for `update`. */
  readonly revision: string;
}

export interface UpdateOptions {
  readonly revision?: string | undefined;
}

/** How long a start may take, and who may call it off. */
export interface StartOptions {
  readonly timeoutMs?: number | undefined;
  readonly signal?: AbortSignal | undefined;
}

export interface ConnectOptions extends StartOptions {
  /** The agent that the server is connected for; without one it is everybody's. */
  readonly owner?: string | undefined;
  /** Whether other agents may use the owner's connection; they do not even see the server otherwise. */
  readonly shared?: boolean | undefined;
  /** How often a person is asked about its tools: `ask-per-server` by default. The owner's alone, if there is one. */
  readonly mode?: ConsentMode | undefined;
  /**
   * Hears how far the start has come, in this order; of one that somebody else began, from where it is. Not called
   * for a server that is connected already.
   */
  readonly onPhase?: ((phase: StartPhase) => void) | undefined;
}

/** What other hosts are asked to do with a server; see `ConnectOptions`. */
export interface ConnectElsewhereOptions extends Pick<ConnectOptions, "owner" | "shared" | "mode"> {
  /** Ends the connection first, where there is one. */
  readonly reconnect?: boolean | undefined;
}

/** An entry as a file could hold it, or a configuration that was read before. */
export type EntryInput = ServerEntry | ServerConfig;

/** An entry that says its own name, or a configuration that was read before. */
export type NamedEntry = (CodeEntry & { readonly name: string }) | ServerConfig;

/** `user`: the host's store; without one the host's memory. `project`: `.plugboard/mcp.json` in the current folder. */
export type ServerScope = "user" | "project";

export interface AddOptions {
  /** `user` by default. */
  readonly scope?: ServerScope | undefined;
}

export interface ImportOptions {
  /**
   * The program whose servers are imported from where it keeps them: `claude-desktop`, `claude-code` (`claude` for
   * both), `cursor`, `vscode`, `codex`, `windsurf`, `gemini`, `opencode`, `nexus3` or `kuse`. Anything else is a file:
   * JSON with comments, TOML, or a settings database of Kuse.
   */
  readonly from: string;
  /** Where the servers are written; by default `project` for the file that a program has in this folder, else `user`. */
  readonly scope?: ServerScope | undefined;
  /** Names of the servers to import; all of them by default. */
  readonly names?: readonly string[] | undefined;
  /** Replaces servers of the same name that are kept in this scope. */
  readonly overwrite?: boolean | undefined;
  /** Says what would happen, and writes nothing. */
  readonly dryRun?: boolean | undefined;
}

export interface ImportResult {
  /** Names of the servers that are here now. */
  readonly imported: readonly string[];
  /** The same servers, as they are written. */
  readonly servers: readonly ImportedServer[];
  readonly skipped: readonly SkippedServer[];
  /** What is written differently from the source. */
  readonly notes: readonly string[];
  /** What is doubtful in imported entries, and files that cannot be read. */
  readonly problems: readonly ConfigProblem[];
  /** Variables that stand in for secrets of the source, which are never copied. */
  readonly variables: readonly ImportedVariable[];
}

/** A place in a file of another program. */
interface ImportedPlace {
  readonly path: string;
  readonly line?: number | undefined;
  readonly column?: number | undefined;
}

export interface ImportedServer extends ImportedPlace {
  readonly name: string;
  readonly scope: ServerScope;
  /** True when it replaced a server of the same name. */
  readonly isReplaced: boolean;
  /** The entry as it is written; it holds no secret. */
  readonly entry: Readonly<Record<string, unknown>>;
}

export interface SkippedServer extends Partial<ImportedPlace> {
  /** Empty when the source gives it none. */
  readonly name: string;
  readonly reason: string;
  /** `same`, `exists`: a server of this name is here, alike or not. `elsewhere`: it is for another folder. */
  readonly kind: "same" | "exists" | "elsewhere" | "broken";
}

export interface ImportedVariable {
  /** To be exported before the server starts. */
  readonly name: string;
  readonly serverName: string;
  /** The key of the entry that refers to it. */
  readonly field: string;
  /** Whether the host's environment has it with the value of the source. */
  readonly isSet: boolean;
}

/** A file of another program with servers that could be imported. */
export interface ImportSource {
  /** What `importConfig({ from })` calls the program. */
  readonly source: string;
  /** What people call it. */
  readonly program: string;
  readonly path: string;
  /** Where its servers are written unless something else is said. */
  readonly scope: ServerScope;
  /** Names of the servers that can be used. */
  readonly servers: readonly string[];
  /** Number of entries that cannot be used. */
  readonly broken: number;
  /** Whether the host reads this file anyway. */
  readonly isRead: boolean;
  /** Why the file as a whole cannot be used. */
  readonly problem?: ConfigProblem | undefined;
}

/** What is configured and what is wrong with it. */
export interface ConfigCheck {
  /** Every file that was looked for, nearest first. */
  readonly files: readonly CheckedFile[];
  /** Flaws of files and entries, variables that are not set, and secrets that are written out in a project. */
  readonly problems: readonly ConfigProblem[];
  /** Names that several entries have: the nearest counts. */
  readonly shadowed: readonly ShadowedEntry[];
  /** Number of servers that can be used. */
  readonly servers: number;
  /** Number of those that are kept in the store and not in a file. */
  readonly stored: number;
}

export interface CheckedFile {
  readonly path: string;
  readonly layer: ConfigLayer;
  readonly status: "read" | "missing" | "broken";
  /** Number of its servers that can be used. */
  readonly servers: number;
}

export interface ShadowedEntry {
  readonly name: string;
  /** Where the entry is written that counts. */
  readonly by: Provenance;
  /** Where the others are written, nearest first. */
  readonly entries: readonly Provenance[];
}

export interface DisconnectOptions {
  /** Lets go of the server on this agent's behalf only; without one every connection ends. */
  readonly owner?: string | undefined;
}

/** How somebody signs in to a server. */
export interface LoginOptions {
  /** Keeps this token, in place of a sign-in with a browser. */
  readonly token?: string | undefined;
  /** Asked for beside what the server demands. */
  readonly scopes?: readonly string[] | undefined;
  /** Asks again although there is a sign-in that the server accepts. */
  readonly force?: boolean | undefined;
  /** Gets a new token in place of the present one; nobody is asked. */
  readonly rotate?: boolean | undefined;
  /** Shows the page to a person; the host's human does by default (`elicit`, then `openUrl`). */
  readonly present?: PresentPage | undefined;
  /** How long the person may take; five minutes by default. */
  readonly timeoutMs?: number | undefined;
  readonly signal?: AbortSignal | undefined;
}

export interface LogoutResult {
  readonly wasSignedIn: boolean;
  /** Why the issuer did not take the tokens back. They are forgotten here all the same. */
  readonly problem?: McpError;
}

/**
 * Everything Plugboard does, behind one object. Creating it reads configuration; servers start when they
 * are first needed, those whose entry says so at once. Close it, or use `await using`; one that is left open
 * closes when the program has nothing left to do. What a caller awaits keeps the process alive, an idle host
 * does not.
 */
export interface McpHost extends AsyncDisposable {
  servers(): readonly ServerStatus[];
  /**
   * As `servers()`; but a server that is idle here shows what its last attempt came to, in any process that shares the
   * store, where that was a failure: `state`, `lastError` and `failedAt`. And each says who is signed in to it. Starts
   * nothing, and asks nobody.
   */
  serversAsLastSeen(): Promise<readonly ServerStatus[]>;
  /** Throws `server_unknown` with suggestions. */
  server(name: string): ServerStatus;
  /** What was wrong with the configuration; bad entries never take good ones with them. */
  readonly configProblems: readonly ConfigProblem[];
  /**
   * Configures a server and keeps it; a host without a store keeps it until it is closed. Throws
   * `config_invalid` for an entry that would not work.
   */
  add(name: string, entry: EntryInput, options?: AddOptions): Promise<KeptServer>;
  /**
   * The entry as it is written, to be changed and handed to `update`. What looks like a secret in it is a
   * placeholder, such as `[secret: env.API_KEY]`, which `update` turns back into what is written there.
   */
  editableEntry(name: string): Promise<EditableEntry>;
  /**
   * Replaces an entry where it is written. The server begins anew. With a `revision` it throws `config_invalid`
   * when the entry is no longer the one that `editableEntry` gave.
   */
  update(name: string, entry: EntryInput, options?: UpdateOptions): Promise<KeptServer>;
  /**
   * Disconnects a server and deletes its entry where it is written, with the secrets that were kept for it and the
   * answers to its inputs.
   */
  remove(name: string): Promise<void>;
  /**
   * Forgets what a person answered to the inputs of a server, those of `password: true` that are kept beyond the host
   * included; gives the number of these. The next start asks again.
   */
  forgetInputs(name: string): Promise<number>;
  /**
   * Imports the servers of another program. Starts none of them, copies no secret, and leaves those alone whose
   * name exists here. Throws when there is nothing that can be read, and `server_unknown` for `names` that are not there.
   */
  importConfig(options: ImportOptions): Promise<ImportResult>;
  /** Says what is wrong with the configuration, and what will be when a server starts. Starts nothing. */
  checkConfig(): Promise<ConfigCheck>;
  /** Finds the files of other programs on this machine that hold servers. */
  importSources(): Promise<readonly ImportSource[]>;
  enable(name: string): Promise<ServerStatus>;
  disable(name: string): Promise<ServerStatus>;
  /** Reads the configuration again. Servers whose definition is the same keep their connections. */
  reload(): Promise<void>;
  /**
   * Asks the host's human about a server that waits for approval; throws `not_approved` after a no. When
   * it fails, who sees the server and how often it is asked about stays as it was.
   *
   * An entry in place of a name is a server given in code: it is approved by its origin (what was read
   * from a project's file stays that file's), written nowhere, and stays until it is removed or the host
   * is closed. One that is connected for an owner goes with its last owner, and one that could not be
   * connected is not kept. Throws `config_invalid` when its name belongs to a server that is defined in
   * another way.
   */
  connect(server: string | NamedEntry, options?: ConnectOptions): Promise<ServerStatus>;
  /** All enabled and approved servers in parallel; says for each whether it is connected. Never throws for one. */
  connectAll(options?: StartOptions): Promise<Readonly<Record<string, boolean>>>;
  /**
   * Ends the connection and, for whom it was claimed, the claim; what sessions were allowed of the server
   * no longer counts. Throws `denied` when the owner named has no part in one that another one shares.
   */
  disconnect(name: string, options?: DisconnectOptions): Promise<void>;
  disconnectAll(): Promise<void>;
  /** Of an owner: the connection that was claimed for it, and no other. */
  reconnect(name: string, options?: ConnectOptions): Promise<ServerStatus>;
  /**
   * Asks all other hosts that run now, share this store and watch it to connect the server, as `connect` or
   * `reconnect` would. A host follows within a second if the server is defined alike there and may start; what
   * became of it is known to that host alone. Throws `store_failed` when this host keeps nothing.
   */
  connectElsewhere(name: string, options?: ConnectElsewhereOptions): Promise<void>;
  /** Asks every connected server for a sign of life; the names of those that gave none and were dropped. */
  checkConnections(): Promise<readonly string[]>;
  /**
   * Looks for what is wrong with this machine and with every server, or with one server, and says what to do about it.
   * Connects servers that may start, as `connect` does; one that waits for approval is not started, and nobody is
   * asked. Ends within its limit, whatever the servers do. Throws `server_unknown`.
   */
  doctor(name?: string, options?: DoctorOptions): Promise<readonly DoctorReport[]>;
  /**
   * Tries how a server keeps to the protocol, rule by rule, over connections of its own: for whoever writes it. Calls
   * only tools that do not exist or claim to be read-only, and nobody is asked. A server that cannot be started breaks
   * the first rule; one that may not start throws as `connect` does.
   */
  checkContract(name: string, options?: ContractOptions): Promise<ContractReport>;
  /** What approving the server would start, completely; undefined for one that needs no approval any more. */
  approvalQuestion(name: string): Promise<LaunchQuestion | undefined>;
  /**
   * Puts that question to a person, as `confirm({ kind: "launch", launch })`, and approves what was shown
   * when the answer is `server-always`. Says whether the server may start now; without a person to ask it
   * may not. Throws `not_approved` when it has changed meanwhile.
   */
  requestApproval(name: string, options?: RequestApprovalOptions): Promise<boolean>;
  /**
   * Lets a server of a project file start, exactly as it would start now; kept in the store. A change of
   * its entry, folder or the file behind its command asks again. Throws `not_approved` when it is
   * no longer what `launchId` stands for.
   */
  approve(name: string, options?: ApproveOptions): Promise<void>;
  /** Ends the server and asks again, whatever file its command stands for. */
  revokeApproval(name: string): Promise<void>;
  /**
   * Signs in to a server over HTTP, by its `auth`: a person in a browser, or the program alone. Nobody is asked when
   * the server already lets the host in; undefined when it does so without any sign-in. Kept in the vault, for every
   * process and until `logout`. Throws an error of the family `auth`.
   */
  login(name: string, options?: LoginOptions): Promise<SignInStatus | undefined>;
  /** Forgets the sign-in, gives its tokens back to their issuer and ends the server's connections. */
  logout(name: string): Promise<LogoutResult>;
  /** Who is signed in, and until when; undefined when nobody is. Asks no server. */
  signIn(name: string): Promise<SignInStatus | undefined>;
  /** Why this agent may or may not call a tool, step by step, as its latest session answers. */
  why(agent: string, tool: ToolReference): AccessReport;
  /** What people allowed for good. */
  readonly grants: Grants;
  /** The definitions of tools that were accepted, and what waits for a person. */
  readonly pins: Pins;
  readonly audit: Audit;
  /** Tools from schemas, without a server: they list and validate, and fail with `not_connected` when called. */
  registerTools(serverName: string, schemas: readonly ListedTool[]): void;
  /**
   * A module of TypeScript with the types of a server's tools and a typed client for them. Connects
   * the server when its list is not known; throws as `connect` does.
   */
  emitTypes(name: string, options?: StartOptions): Promise<string>;
  /**
   * Replaces the roots and tells the connected servers of the legacy era, which remember them; others
   * ask when they need them. Throws `config_invalid` when the host was created without `roots`.
   */
  setRoots(roots: Roots): Promise<void>;
  /** The last lines the server wrote to stderr, safe to print. */
  logs(name: string): readonly string[];
  /** What servers printed and how they fared, beyond the life of a host. */
  readonly keptLogs: KeptLogs;
  /** The secrets that entries name with `${secret:name}`; `plugboard secret` shows and changes the same. */
  readonly secrets: KeptSecrets;
  /**
   * One server for the program itself: its state, its tools, and calls on the guarded path of every call.
   * Nobody is asked for consent, because the program's own code is asking; filters, pins, approval of the
   * launch and the audit trail are as for every agent. Starts nothing by itself. Throws `server_unknown`
   * for one that does not exist or is not `agent`'s (`main` by default), and why it may not be used.
   */
  client(name: string, options?: { readonly agent?: string | undefined }): ConnectedServer;
  session(options?: SessionOptions): Session;
  on<T extends HostEventType>(type: T, handler: (event: HostEventOf<T>) => void): Unsubscribe;
  on(type: "*", handler: (event: HostEvent) => void): Unsubscribe;
  /** Ends every connection and process. Idempotent; afterwards calls fail as `closed`. */
  close(): Promise<void>;
}
