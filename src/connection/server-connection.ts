import { loadOnce } from "../async/load-once.ts";
import { startPause } from "../async/stop.ts";
import { cancelledByCaller, untilCancelled } from "../async/until-aborted.ts";
import type { ServerConfig, TransportKind } from "../config/keys/server-config.ts";
import { createError } from "../errors/families.ts";
import { McpError } from "../errors/mcp-error.ts";
import type { ServerState } from "../events/host-event.ts";
import type { ProtocolClient, ServerNotification } from "../protocol/protocol-client.ts";
import type { ProtocolEra } from "../protocol/wire/protocol-versions.ts";
import type { HostTransport, TransportEvidence } from "../transport/host-transport.ts";
import { describeFailure, describeStartFailure, stateAfterFailure } from "./connection-error.ts";
import type { ConnectionParts, OpenedConnection } from "./open-connection.ts";
import { RestartPolicy } from "./restart-policy.ts";
import { StartPhases, type WatchPhase } from "./start-phases.ts";

export interface ServerConnectionOptions extends ConnectionParts {
  /** Runs inside every handshake, before a caller gets the client: discovery happens here. */
  readonly onReady: (client: ProtocolClient) => Promise<void>;
  readonly onState: (
    state: ServerState,
    previous: ServerState,
    error: McpError | undefined,
  ) => void;
  /** Called for every failed start and every loss, also where the state stays the same. */
  readonly onFailure?: ((error: McpError) => void) | undefined;
  readonly onNotification: (notification: ServerNotification) => void;
}

/** How one caller waits for the client. */
export interface AwaitClientOptions {
  readonly signal?: AbortSignal | undefined;
  /** Time for start and handshake, if this caller is the one that begins it. */
  readonly timeoutMs?: number | undefined;
  /** Starts a server at once that has been failing: a person asked for it. */
  readonly isForced?: boolean | undefined;
  /** Hears of each phase of the start while this caller waits, the present one first. */
  readonly onPhase?: WatchPhase | undefined;
}

interface Attempt {
  readonly client: Promise<ProtocolClient>;
  readonly abort: AbortController;
  /** Begins the handshake now, when it was planned for later. */
  readonly hurry: () => void;
  readonly phases: StartPhases;
}

/** Loaded with the first connection: most servers that are known are not connected. */
const loadOpening = loadOnce(() => import("./open-connection.ts"));

/**
 * One link to one server. It opens on first use; when it drops it comes back by itself, as often and
 * as fast as the restart policy allows, and whoever needs it meanwhile waits for that. It never
 * repeats a request by itself, because a tool call may not be safe to repeat.
 */
export class ServerConnection {
  #options: ServerConnectionOptions;
  #state: ServerState = "idle";
  #attempt: Attempt | undefined;
  #client: ProtocolClient | undefined;
  #transport: HostTransport | undefined;
  #secrets: readonly string[] = [];
  /** Resolves when every connection that was given up has closed; the next one opens after that. */
  #closing: Promise<void> = Promise.resolve();
  #lastError: McpError | undefined;
  #failedAt: number | undefined;
  #knownEra: ProtocolEra | undefined;
  /** Whether the server ended without the era probe as well: one start is enough from now on. */
  #diesWithoutProbe = false;
  #connectedAt: number | undefined;
  #hasConnectedOnce = false;
  #isEnded = false;
  #wasUsed = false;
  #check: Promise<boolean> | undefined;
  readonly #restarts: RestartPolicy;

  constructor(options: ServerConnectionOptions) {
    const { config, clock } = options;
    this.#options = options;
    this.#restarts = new RestartPolicy({
      isEnabled: config.reconnect && config.transport.kind !== "memory",
      maxAttempts: config.maxReconnectAttempts,
      isProcess: config.transport.kind === "stdio",
      halfOpen: config.halfOpen,
      clock,
    });
  }

  /** The kind of transport; for `http`, once that is known, the dialect it turned out to be. */
  get transportKind(): TransportKind {
    return this.#transport?.kind ?? this.config.transport.kind;
  }

  get config(): ServerConfig {
    return this.#options.config;
  }

  /** Tries this era first: an earlier connection, perhaps of another host, negotiated it. */
  expectEra(era: ProtocolEra): void {
    this.#knownEra ??= era;
  }

  /** Notes where the same definition is written now: errors point there from here on. */
  updateProvenance(config: ServerConfig): void {
    this.#options = { ...this.#options, config: { ...this.config, provenance: config.provenance } };
  }

  get state(): ServerState {
    return this.#state;
  }

  /** Why the last attempt or connection failed; kept until the next success. */
  get lastError(): McpError | undefined {
    return this.#lastError;
  }

  get failedAt(): number | undefined {
    return this.#failedAt;
  }

  /** The client of the open connection: lets the hot path skip a promise. */
  get openClient(): ProtocolClient | undefined {
    return this.#client;
  }

  /** The values that the server was given when it was last opened, and that nobody else may see. */
  get secrets(): readonly string[] {
    return this.#secrets;
  }

  get evidence(): TransportEvidence | undefined {
    return this.#transport?.evidence;
  }

  /** The id of the server's process while it runs. */
  get pid(): number | undefined {
    return this.#transport?.pid;
  }

  get connectedAt(): number | undefined {
    return this.#connectedAt;
  }

  /**
   * The ready client; concurrent callers share one handshake. A caller's `signal` ends that caller's
   * wait only, never the handshake the others wait for.
   */
  client(options: AwaitClientOptions = {}): Promise<ProtocolClient> {
    if (this.#client !== undefined) return Promise.resolve(this.#client);
    if (this.#isEnded) return Promise.reject(this.#endedError());
    const { signal, timeoutMs, isForced = false, onPhase } = options;
    // Nothing is started for somebody who has already given up.
    if (signal?.aborted === true) return Promise.reject(cancelledByCaller(this.config.name));
    if (isForced) this.#restarts.reset();
    let attempt = this.#attempt;
    if (attempt === undefined) {
      if (this.#lastError !== undefined && !this.#restarts.allowsDemand())
        return Promise.reject(this.#lastError);
      attempt = this.#begin("connecting", 0, timeoutMs);
    } else if (!this.#restarts.isFailingToStart) attempt.hurry();
    const wait = untilCancelled(attempt.client, signal, this.config.name);
    return onPhase === undefined ? wait : attempt.phases.watchDuring(wait, onPhase);
  }

  /** Notes that the server answered a request: a later crash is no failure to start. */
  noteAnswer(): void {
    this.#restarts.answered();
    this.#wasUsed = true;
    if (this.#state === "needs_auth") this.#letInAgain();
  }

  /** Notes that a request failed, and finds out whether the connection is lost with it. */
  noteFailure(error: McpError): void {
    const client = this.#client;
    if (client === undefined) return;
    if (error.code === "rpc_error") this.noteAnswer();
    else if (error.code === "auth_required") this.#keptOut(error);
    else if (error.details["sessionLost"] === true) this.#drop(client, error);
    else if (
      error.code === "unreachable" ||
      error.code === "timeout" ||
      this.#mayHaveLostSession(error)
    )
      void this.isAlive();
  }

  /** The link is as good as it was, and nobody is let in over it until somebody has signed in. */
  #keptOut(error: McpError): void {
    this.#lastError = describeFailure(error, this.config, this.#transport);
    this.#failedAt = this.#options.clock.now();
    this.#options.onFailure?.(this.#lastError);
    this.#enter("needs_auth", this.#lastError);
  }

  #letInAgain(): void {
    this.#lastError = undefined;
    this.#failedAt = undefined;
    this.#enter("connected", undefined);
  }

  /** Asks the server for a sign of life; without one the connection is given up. */
  isAlive(): Promise<boolean> {
    this.#check ??= this.#askForLife().finally(() => {
      this.#check = undefined;
    });
    return this.#check;
  }

  /**
   * Idempotent. Gives up the connection of this moment, be it newer than a close under way, and resolves
   * when nothing is left of it or of any before it. A later `client()` opens the connection again.
   */
  async close(): Promise<void> {
    const attempt = this.#attempt;
    const client = this.#client;
    this.#attempt = undefined;
    this.#client = undefined;
    this.#connectedAt = undefined;
    if (client !== undefined) this.#trackClose(client.close());
    if (attempt !== undefined) {
      attempt.abort.abort();
      this.#trackClose(attempt.client);
    }
    await this.#closing;
    // Someone may have asked for the connection again while the old one was ending.
    if (this.#attempt === undefined) this.#enter("idle", undefined);
  }

  /** Closes the connection for good: from now on `client()` rejects as `closed`. */
  end(): Promise<void> {
    this.#isEnded = true;
    return this.close();
  }

  async #askForLife(): Promise<boolean> {
    const client = this.#client;
    if (client === undefined) return false;
    try {
      await client.ping({ timeoutMs: this.#options.limits.proofOfLifeMs });
      return true;
    } catch (error) {
      // An error of the server is a sign of life, too, unless it is about the session.
      const isAnswer = McpError.is(error, "rpc_error") || McpError.is(error, "http_error");
      const hasLostSession = isAnswer && this.#mayHaveLostSession(error);
      if (isAnswer && !hasLostSession) return true;
      this.#drop(client, hasLostSession ? this.#sessionLost(error) : error);
      return false;
    }
  }

  /**
   * Servers should answer 404 in a session that they forgot, by a restart for one. Many answer 400,
   * which may mean anything, but not when it is all they have to say to a ping.
   */
  #mayHaveLostSession({ code, details }: McpError): boolean {
    const isInSession = this.#transport?.evidence.sessionId !== undefined;
    return isInSession && code === "http_error" && details["status"] === 400;
  }

  #drop(client: ProtocolClient, reason: unknown): void {
    const transport = this.#transport;
    if (this.#client !== client || transport === undefined) return;
    const loss = McpError.is(reason, "connection_lost") ? reason : this.#noSignOfLife(reason);
    this.#lost(client, transport, loss);
  }

  #sessionLost(cause: McpError): McpError {
    const message = "the server no longer knows this session (HTTP 400)";
    const { name: serverName } = this.config;
    return createError("connection_lost", message, { serverName, cause });
  }

  #noSignOfLife(cause: unknown): McpError {
    const reason = cause instanceof Error ? `: ${cause.message}` : "";
    return createError("connection_lost", `the server gives no sign of life${reason}`, {
      serverName: this.config.name,
      cause,
    });
  }

  /** Makes the next connection wait for this close, however it ends. */
  #trackClose(ending: Promise<unknown>): void {
    // Without the results: each would hold those before it, for ever.
    this.#closing = Promise.allSettled([this.#closing, ending]).then(() => undefined);
  }

  #begin(state: "connecting" | "reconnecting", delayMs: number, timeoutMs?: number): Attempt {
    const abort = new AbortController();
    const closing = this.#closing;
    const pause = startPause(this.#options.clock, delayMs, abort.signal);
    const phases = new StartPhases(this.#options);
    const opening = (async () => {
      await pause.over;
      await closing;
      return await this.#handshake(abort.signal, timeoutMs, phases);
    })();
    const attempt: Attempt = {
      abort,
      phases,
      hurry: pause.end,
      client: opening.then(
        (opened) => this.#opened(attempt, opened),
        (error: unknown) => this.#failed(attempt, error),
      ),
    };
    // Perhaps nobody waits for it; its failure is kept as `lastError`.
    attempt.client.catch(() => undefined);
    // Before the event: a listener that closes the connection must find it.
    this.#attempt = attempt;
    this.#enter(state, this.#lastError);
    return attempt;
  }

  async #handshake(
    signal: AbortSignal,
    timeoutMs: number | undefined,
    phases: StartPhases,
  ): Promise<OpenedConnection> {
    const { config, limits, onNotification, onReady } = this.#options;
    const { connectDeadlineMs, openConnection } = await loadOpening();
    if (signal.aborted) throw this.#closedMeanwhile();
    const opened = await openConnection(this.#options, {
      connectTimeoutMs: timeoutMs ?? connectDeadlineMs(config, limits, this.#hasConnectedOnce),
      signal,
      onStarted: () => phases.enter("handshake"),
      knownEra: this.#knownEra,
      isProbeHarmless: this.#diesWithoutProbe,
    });
    const { client, transport } = opened;
    client.onnotification = onNotification;
    if (signal.aborted) return opened;
    phases.enter("listing");
    const lost = new Promise<never>((_, reject) => {
      client.onclose = (error) => reject(lossOf(transport, error));
    });
    try {
      // A server that is slow to list what it offers must not hold up `close()`.
      await Promise.race([lost, untilCancelled(onReady(client), signal, config.name)]);
    } catch (error) {
      const failure = describeStartFailure(error, config, transport);
      await client.close();
      throw failure;
    }
    return opened;
  }

  #opened(
    attempt: Attempt,
    { client, transport, secrets }: OpenedConnection,
  ): ProtocolClient | Promise<never> {
    // Given up meanwhile: nobody may get to use it.
    if (this.#attempt !== attempt)
      return client.close().then(() => {
        throw this.#closedMeanwhile();
      });
    this.#secrets = secrets;
    this.#attempt = undefined;
    this.#client = client;
    this.#transport = transport;
    this.#knownEra = client.provenEra;
    this.#diesWithoutProbe = false;
    this.#hasConnectedOnce = true;
    this.#lastError = undefined;
    this.#failedAt = undefined;
    this.#connectedAt = this.#options.clock.now();
    this.#restarts.connected();
    this.#enter("connected", undefined);
    // Told even when the link dropped between the end of the handshake and now.
    client.onclose = (error) => this.#lost(client, transport, error);
    this.#watchIdleness(client);
    return client;
  }

  /** Looks once in each period, so that calls cost nothing: it stops after one to two of them. */
  #watchIdleness(client: ProtocolClient): void {
    const { clock, limits } = this.#options;
    if (limits.idleStopMs === 0) return;
    this.#wasUsed = false;
    clock.schedule(limits.idleStopMs, () => {
      if (this.#client !== client) return;
      if (this.#wasUsed || !client.isIdle) return this.#watchIdleness(client);
      this.close().catch(() => undefined);
    });
  }

  #failed(attempt: Attempt, error: unknown): never {
    // Given up meanwhile: whatever else went wrong is of no interest.
    if (this.#attempt !== attempt) throw this.#closedMeanwhile();
    const failure = McpError.is(error) ? error : describeFailure(error, this.config);
    if (failure.details["diedWithoutProbe"] === true) this.#diesWithoutProbe = true;
    this.#attempt = undefined;
    const isMendable = stateAfterFailure(failure.code) === "disconnected";
    this.#recover(failure, this.#restarts.startFailed(isMendable));
    throw failure;
  }

  #lost(client: ProtocolClient, transport: HostTransport, error: Error | undefined): void {
    if (this.#client !== client) return;
    this.#client = undefined;
    this.#connectedAt = undefined;
    const failure = describeFailure(lossOf(transport, error), this.config, transport);
    // A link can be gone long before its process is.
    this.#trackClose(client.close(McpError.is(error) ? error : failure));
    this.#recover(failure, this.#restarts.lost());
  }

  /** Plans the restart, or stays down with the reason when there is none to come. */
  #recover(failure: McpError, delayMs: number | undefined): void {
    this.#lastError = failure;
    this.#failedAt = this.#options.clock.now();
    this.#options.onFailure?.(failure);
    if (delayMs === undefined || this.#isEnded)
      return this.#enter(stateAfterFailure(failure.code), failure);
    this.#begin("reconnecting", delayMs);
  }

  #closedMeanwhile(): McpError {
    return createError("closed", "the connection was closed while it was being opened", {
      serverName: this.config.name,
    });
  }

  #endedError(): McpError {
    return createError("closed", "the host has been closed", { serverName: this.config.name });
  }

  #enter(state: ServerState, error: McpError | undefined): void {
    const previous = this.#state;
    if (previous === state) return;
    this.#state = state;
    this.#options.onState(state, previous, error);
  }
}

/** Why a connection ended. The transport knows more than the protocol, which only saw it end. */
function lossOf({ failure }: HostTransport, error: Error | undefined): Error {
  return failure ?? error ?? createError("connection_lost", "the server closed the connection");
}
