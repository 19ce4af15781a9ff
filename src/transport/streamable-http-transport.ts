import type { JSONRPCMessage, Transport, TransportSendOptions } from "@modelcontextprotocol/client";
import type { Dispatcher } from "undici";

import type { Limits } from "../config/limits.ts";
import type { HttpTransportConfig } from "../config/server-config.ts";
import { createError } from "../errors/families.ts";
import type { McpError } from "../errors/mcp-error.ts";
import type { Clock, Timer } from "../ports/clock.ts";
import type { Logger } from "../ports/logger.ts";
import type { HostTransport, TransportEvidence } from "./host-transport.ts";
import { DiscardedBody } from "./http-body.ts";
import { HttpCall } from "./http-call.ts";
import { type HttpPeer, peerError } from "./http-errors.ts";
import {
  type ExchangeObserver,
  HttpExchange,
  type HttpRequest,
  type ResponseHead,
  headerOf,
} from "./http-exchange.ts";
import {
  HttpHeaders,
  isVisibleAscii,
  parseConfiguredHeaders,
  statedVersion,
} from "./http-headers.ts";
import { LingeringExchanges } from "./http-linger.ts";
import type { HttpLane, HttpLink } from "./http-link.ts";
import { type OriginLease, originPools } from "./http-pool.ts";
import { exceedsJsonDepth } from "./json-depth.ts";
import { SseListener } from "./sse-listener.ts";

/** How long closing waits for the server to confirm the end of the session. */
const sessionEndMs = 1_000;

export interface StreamableHttpOptions {
  readonly serverName: string;
  readonly url: string;
  /** Final values: variables expanded, credentials included. */
  readonly headers: Readonly<Record<string, string>>;
  readonly method: HttpTransportConfig["method"];
  readonly limits: Limits;
  readonly clock: Clock;
  readonly logger: Logger;
  /** Values that must not appear in any message. */
  readonly secrets?: readonly string[] | undefined;
  /** Sends the requests instead of the shared connections; it stays the caller's to close. */
  readonly dispatcher?: Dispatcher | undefined;
}

/**
 * Streamable HTTP in both eras. `send` settles with the fate of its message: for a request it
 * resolves once the answer was delivered through `onmessage` and rejects with an `McpError` when no
 * answer can come any more, so a call never hangs and nothing is ever sent twice. One failed call
 * says nothing about the next: `failure` stays undefined and `onclose` silent until `close()`.
 */
export function createStreamableHttpTransport(options: StreamableHttpOptions): HostTransport {
  return new StreamableHttpTransport(options);
}

class StreamableHttpTransport implements HostTransport, HttpLink {
  readonly kind = "streamable-http";
  readonly hasPerRequestStream = true;
  readonly releasesSignals = true;
  readonly peer: HttpPeer;
  readonly headers: HttpHeaders;
  readonly lingering: LingeringExchanges;
  readonly limits: Limits;
  readonly clock: Clock;
  readonly logger: Logger;

  onclose: Transport["onclose"];
  onerror: Transport["onerror"];
  onmessage: Transport["onmessage"];

  readonly #options: StreamableHttpOptions;
  readonly #calls = new Set<HttpCall>();
  #listener: SseListener;
  #lease: OriginLease | undefined;
  #starting: Promise<void> | undefined;
  #closing: Promise<void> | undefined;
  #failure: McpError | undefined;
  #junkMessages = 0;
  #isClosed = false;

  constructor(options: StreamableHttpOptions) {
    const { serverName, limits, clock, logger } = options;
    this.#options = options;
    this.limits = limits;
    this.clock = clock;
    this.logger = logger;
    this.peer = {
      kind: this.kind,
      serverName,
      url: parseUrl(options.url, serverName),
      secrets: options.secrets ?? [],
    };
    const { fields, ignored } = parseConfiguredHeaders(options.headers, serverName);
    if (ignored.length > 0)
      logger.warn("headers that the transport sets itself were left out", { serverName, ignored });
    this.headers = new HttpHeaders(fields);
    this.lingering = new LingeringExchanges(clock, this.#closedError());
    this.#listener = new SseListener(this);
  }

  get sessionId(): string | undefined {
    return this.headers.sessionId;
  }

  get failure(): McpError | undefined {
    return this.#failure;
  }

  get evidence(): TransportEvidence {
    const { origin, pathname, search } = this.peer.url;
    return {
      // Queries carry keys.
      target: `${origin}${pathname}${search === "" ? "" : "?…"}`,
      junkMessages: this.#junkMessages,
      sessionId: this.sessionId,
    };
  }

  /** Gets ready to send; idempotent. Connects only when the server's own stream is required. */
  start(): Promise<void> {
    return (this.#starting ??= this.#start());
  }

  send(message: JSONRPCMessage, options?: TransportSendOptions): Promise<void> {
    if (this.#lease === undefined || this.#isClosed) return Promise.reject(this.#notOpen());
    let body: string;
    try {
      body = JSON.stringify(message);
    } catch (cause) {
      const text = "the message cannot be written as JSON";
      return Promise.reject(peerError(this.peer, "invalid_arguments", text, { cause }));
    }
    return new Promise((resolve, reject) => {
      const call = new HttpCall(this, message, options);
      this.#calls.add(call);
      call.run(body, (failure) => {
        this.#calls.delete(call);
        if (failure !== undefined) return reject(failure);
        if (isInitialized(message)) this.#listener.start();
        resolve();
      });
    });
  }

  setProtocolVersion(version: string): void {
    this.headers.protocolVersion = version;
  }

  close(): Promise<void> {
    this.#isClosed = true;
    return (this.#closing ??= this.#close());
  }

  open(lane: HttpLane, request: HttpRequest, observer: ExchangeObserver): HttpExchange {
    const exchange = new HttpExchange(this.peer, observer);
    const lease = this.#lease;
    if (lease === undefined) exchange.abort(this.#notOpen());
    else exchange.run(lease[lane], request);
    return exchange;
  }

  receive(text: string): object | undefined {
    const { maxJsonDepth } = this.limits;
    if (exceedsJsonDepth(text, maxJsonDepth)) {
      const message = `the server sent a message nested deeper than ${maxJsonDepth} levels`;
      throw peerError(this.peer, "protocol_violation", message);
    }
    let value: unknown;
    try {
      value = JSON.parse(text);
    } catch {
      value = undefined;
    }
    if (typeof value !== "object" || value === null) {
      this.#junkMessages += 1;
      return undefined;
    }
    try {
      this.onmessage?.(value as JSONRPCMessage);
    } catch (error) {
      this.onerror?.(error instanceof Error ? error : new Error(String(error)));
    }
    return value;
  }

  adoptSession(head: ResponseHead): void {
    const id = headerOf(head, "mcp-session-id");
    const isUsable = id !== undefined && isVisibleAscii(id);
    if (id !== undefined && !isUsable)
      this.logger.warn("the server named a session in characters that no header may hold", {
        serverName: this.peer.serverName,
      });
    if (this.sessionId !== undefined) {
      // What listens to the old session hears nothing of the new one.
      this.#listener.stop(this.#closedError());
      this.#listener = new SseListener(this);
    }
    this.headers.sessionId = isUsable ? id : undefined;
  }

  async #start(): Promise<void> {
    const { dispatcher, method } = this.#options;
    const { connectTimeoutMs } = this.limits;
    const lease =
      dispatcher === undefined
        ? await originPools.acquire({ origin: this.peer.url.origin, connectTimeoutMs })
        : { calls: dispatcher, streams: dispatcher, release: () => Promise.resolve() };
    if (this.#isClosed) {
      await lease.release();
      throw this.#notOpen();
    }
    this.#lease = lease;
    if (method === "POST") return;
    try {
      await this.#listener.require(connectTimeoutMs);
    } catch (error) {
      this.#failure = this.#isClosed ? undefined : (error as McpError);
      await this.close();
      throw error;
    }
  }

  async #close(): Promise<void> {
    const closed = this.#closedError();
    this.#listener.stop(closed);
    for (const call of this.#calls) call.cancel(closed);
    this.lingering.abortAll();
    await this.#endSession();
    this.headers.sessionId = undefined;
    await this.#lease?.release();
    this.#lease = undefined;
    this.onclose?.();
  }

  /** Tells the server that the session is over; whether it cares makes no difference. */
  async #endSession(): Promise<void> {
    if (this.sessionId === undefined || this.#lease === undefined) return;
    let timer: Timer | undefined;
    const request: HttpRequest = {
      method: "DELETE",
      headers: this.headers.forSessionEnd(),
      headersTimeoutMs: sessionEndMs,
      bodyTimeoutMs: sessionEndMs,
    };
    await new Promise<void>((resolve) => {
      const onEnd = (): void => resolve();
      const exchange = this.open("calls", request, { onHead: () => new DiscardedBody(), onEnd });
      // The deadlines of the request begin when it is written; this one counts the waiting, too.
      timer = this.clock.schedule(sessionEndMs, () => exchange.abort(this.#closedError()));
    });
    timer?.cancel();
  }

  #notOpen(): McpError {
    return this.#isClosed
      ? this.#closedError()
      : peerError(this.peer, "not_connected", "the transport has not been started");
  }

  #closedError(): McpError {
    return peerError(this.peer, "closed", "the connection was closed");
  }
}

function isInitialized(message: JSONRPCMessage): boolean {
  return (
    "method" in message &&
    message.method === "notifications/initialized" &&
    statedVersion(message) === undefined
  );
}

/** The address exactly as configured: no path is added, no query dropped. */
function parseUrl(text: string, serverName: string): URL {
  const refuse = (problem: string): McpError =>
    createError("config_invalid", `the address of the server ${problem}`, { serverName });
  if (!URL.canParse(text)) throw refuse("is not a URL");
  const url = new URL(text);
  if (url.protocol !== "http:" && url.protocol !== "https:")
    throw refuse("is neither http: nor https:");
  if (url.username !== "" || url.password !== "")
    throw refuse("holds a user name or password; use a header instead");
  return url;
}
