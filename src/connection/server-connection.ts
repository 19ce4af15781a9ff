import type { ServerConfig, TransportKind } from "../config/server-config.ts";
import { createError } from "../errors/families.ts";
import { McpError } from "../errors/mcp-error.ts";
import type { ServerState } from "../events/host-event.ts";
import type {
  ProtocolClient,
  ProtocolEra,
  ServerNotification,
} from "../protocol/protocol-client.ts";
import type { HostTransport, TransportEvidence } from "../transport/host-transport.ts";
import { connectDeadlineMs } from "./connect-deadline.ts";
import { describeFailure, stateAfterFailure } from "./connection-error.ts";
import { type ConnectionParts, openConnection, type OpenedConnection } from "./open-connection.ts";
import { untilAborted } from "./until-aborted.ts";

export interface ServerConnectionOptions extends ConnectionParts {
  /** Runs inside every handshake, before a caller gets the client: discovery happens here. */
  readonly onReady: (client: ProtocolClient) => Promise<void>;
  readonly onState: (
    state: ServerState,
    previous: ServerState,
    error: McpError | undefined,
  ) => void;
  readonly onNotification: (notification: ServerNotification) => void;
}

export interface ClientOptions {
  readonly signal?: AbortSignal | undefined;
  /** Time for start and handshake, if this caller is the one that begins it. */
  readonly timeoutMs?: number | undefined;
}

interface Attempt {
  readonly client: Promise<ProtocolClient>;
  readonly abort: AbortController;
}

/**
 * One link to one server. It opens on first use; when it drops, the next use opens it again. It
 * never repeats a request by itself, because a tool call may not be safe to repeat.
 */
export class ServerConnection {
  readonly #options: ServerConnectionOptions;
  #state: ServerState = "idle";
  #attempt: Attempt | undefined;
  #client: ProtocolClient | undefined;
  #transport: HostTransport | undefined;
  #closing: Promise<void> | undefined;
  #lastError: McpError | undefined;
  #knownEra: ProtocolEra | undefined;
  #connectedAt: number | undefined;
  #hasConnectedOnce = false;
  #isEnded = false;

  constructor(options: ServerConnectionOptions) {
    this.#options = options;
  }

  /** What `http` turned out to be, once that is known. */
  get transportKind(): TransportKind {
    return this.#transport?.kind ?? this.config.transport.kind;
  }

  get config(): ServerConfig {
    return this.#options.config;
  }

  get state(): ServerState {
    return this.#state;
  }

  /** Why the last attempt or connection failed; kept until the next success. */
  get lastError(): McpError | undefined {
    return this.#lastError;
  }

  /** The client of the open connection: lets the hot path skip a promise. */
  get openClient(): ProtocolClient | undefined {
    return this.#client;
  }

  get evidence(): TransportEvidence | undefined {
    return this.#transport?.evidence;
  }

  get connectedAt(): number | undefined {
    return this.#connectedAt;
  }

  /**
   * The ready client; concurrent callers share one handshake. A caller's `signal` ends that caller's
   * wait only, never the handshake the others wait for.
   */
  client(options: ClientOptions = {}): Promise<ProtocolClient> {
    if (this.#client !== undefined) return Promise.resolve(this.#client);
    if (this.#isEnded) return Promise.reject(this.#endedError());
    this.#attempt ??= this.#begin(options.timeoutMs);
    return untilAborted(this.#attempt.client, options.signal, this.config.name);
  }

  /** Idempotent. A handshake under way is abandoned; a later `client()` opens the connection again. */
  close(): Promise<void> {
    this.#closing ??= this.#close().finally(() => {
      this.#closing = undefined;
    });
    return this.#closing;
  }

  /** Closes the connection for good: from now on `client()` rejects as `closed`. */
  end(): Promise<void> {
    this.#isEnded = true;
    return this.close();
  }

  async #close(): Promise<void> {
    const attempt = this.#attempt;
    const client = this.#client;
    this.#attempt = undefined;
    this.#client = undefined;
    this.#connectedAt = undefined;
    attempt?.abort.abort();
    // A failed handshake has already been reported to those who waited for it.
    const opened = client ?? (await attempt?.client.catch(() => undefined));
    await opened?.close();
    // Someone may have asked for the connection again while the old one was ending.
    if (this.#attempt === undefined) this.#enter("idle", undefined);
  }

  #begin(timeoutMs: number | undefined): Attempt {
    const abort = new AbortController();
    const previousClose = this.#closing;
    this.#enter("connecting", undefined);
    const opening = (async () => {
      // A close that failed has been reported to whoever asked for it.
      await previousClose?.catch(() => undefined);
      return await this.#handshake(abort.signal, timeoutMs);
    })();
    const attempt: Attempt = {
      abort,
      client: opening.then(
        (opened) => this.#opened(attempt, opened),
        (error: unknown) => this.#failed(attempt, error),
      ),
    };
    return attempt;
  }

  async #handshake(signal: AbortSignal, timeoutMs: number | undefined): Promise<OpenedConnection> {
    const { config, limits, onNotification, onReady } = this.#options;
    const opened = await openConnection(this.#options, {
      connectTimeoutMs: timeoutMs ?? connectDeadlineMs(config, limits, this.#hasConnectedOnce),
      signal,
      knownEra: this.#knownEra,
    }).catch((error: unknown) => {
      throw signal.aborted ? this.#closedMeanwhile() : error;
    });
    const { client } = opened;
    client.onnotification = onNotification;
    try {
      // A server that is slow to list what it offers must not hold up `close()`.
      if (!signal.aborted) await untilAborted(onReady(client), signal, config.name);
    } catch (error) {
      await client.close();
      if (!signal.aborted) throw error;
    }
    if (!signal.aborted) return opened;
    await client.close();
    throw this.#closedMeanwhile();
  }

  #opened(attempt: Attempt, { client, transport }: OpenedConnection): ProtocolClient {
    // Closed meanwhile: `#close` waits for this very client and ends it.
    if (this.#attempt !== attempt) return client;
    this.#attempt = undefined;
    this.#client = client;
    this.#transport = transport;
    this.#knownEra = client.era;
    this.#hasConnectedOnce = true;
    this.#lastError = undefined;
    this.#connectedAt = this.#options.clock.now();
    this.#enter("connected", undefined);
    // Told even when the link dropped between the end of the handshake and now.
    client.onclose = (error) => this.#lost(client, transport, error);
    return client;
  }

  #failed(attempt: Attempt, error: unknown): never {
    const failure = McpError.is(error) ? error : describeFailure(error, this.config);
    if (this.#attempt === attempt) {
      this.#attempt = undefined;
      this.#lastError = failure;
      this.#enter(stateAfterFailure(failure.code), failure);
    }
    throw failure;
  }

  #lost(client: ProtocolClient, transport: HostTransport, error: Error | undefined): void {
    if (this.#client !== client) return;
    this.#client = undefined;
    this.#connectedAt = undefined;
    const cause =
      transport.failure ??
      error ??
      createError("connection_lost", "the server closed the connection");
    const failure = describeFailure(cause, this.config, transport);
    this.#lastError = failure;
    this.#enter(stateAfterFailure(failure.code), failure);
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
