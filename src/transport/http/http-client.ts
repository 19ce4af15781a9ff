import type { JSONRPCMessage, Transport } from "@modelcontextprotocol/client";
import type { Dispatcher } from "undici";

import type { Limits } from "../../config/keys/limits.ts";
import type { Environment } from "../../config/parse/expand-variables.ts";
import { looksSecret } from "../../config/variables/secret-values.ts";
import { createError } from "../../errors/families.ts";
import type { McpError } from "../../errors/mcp-error.ts";
import { configuredUrlPolicy } from "../../isolation/network/network-policy.ts";
import type { Clock } from "../../ports/clock.ts";
import type { Logger } from "../../ports/logger.ts";
import type { RequestStream } from "../../protocol/channel/channel-transport.ts";
import type { TransportEvidence } from "../host-transport.ts";
import { brokenBound, describeBound } from "../reading/json-bounds.ts";
import { maxBatchMessages } from "../reading/max-batch-messages.ts";
import { type HttpPeer, peerError } from "./http-errors.ts";
import {
  type ExchangeObserver,
  HttpExchange,
  type HttpRequest,
  type ResponseHead,
} from "./http-exchange.ts";
import { HttpHeaders, parseConfiguredHeaders } from "./http-headers.ts";
import { LingeringExchanges } from "./http-linger.ts";
import { type OriginLease, originPools, type OriginSettings } from "./http-pool.ts";
import type { HttpCall } from "./message-post.ts";
import { OpenCalls } from "./open-calls.ts";

/** Which connections a request uses; see `OriginLease`. */
export type HttpLane = "calls" | "streams" | "cancellations";

/** What every transport over HTTP is made of. */
export interface HttpTransportOptions {
  readonly serverName: string;
  readonly url: string;
  /** Final values: variables expanded, credentials included. */
  readonly headers: Readonly<Record<string, string>>;
  readonly limits: Limits;
  readonly clock: Clock;
  readonly logger: Logger;
  /** Values that must not appear in any message. */
  readonly secrets?: readonly string[] | undefined;
  /** Lets the address lie in a private network. */
  readonly allowPrivateNetwork?: boolean | undefined;
  /** Where a proxy may be named; none is used without it. */
  readonly hostEnv?: Environment | undefined;
  /** Sends the requests instead of the shared connections; it stays the caller's to close. */
  readonly dispatcher?: Dispatcher | undefined;
}

/** Takes what arrives: the handlers of the transport that the link belongs to. */
export type MessageTaker = Pick<Transport, "onmessage" | "onerror">;

/**
 * A transport's way to its server: the connections to the origin, the headers of its requests, and
 * the reading of messages. What is asked when, and what an answer means, is the transport's own.
 */
export class HttpLink {
  readonly peer: HttpPeer;
  readonly limits: Limits;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly headers: HttpHeaders;
  readonly lingering: LingeringExchanges;
  readonly openCalls = new OpenCalls<HttpCall>();
  /** The head of the answer to `initialize`, before its body. */
  oninitialized: ((head: ResponseHead) => void) | undefined;

  readonly #options: HttpTransportOptions;
  readonly #taker: MessageTaker;
  #lease: OriginLease | undefined;
  #messageText: string | undefined;
  #junkMessages = 0;
  #isClosed = false;

  constructor(kind: HttpPeer["kind"], options: HttpTransportOptions, taker: MessageTaker) {
    const { serverName, limits, clock, logger } = options;
    this.#options = options;
    this.#taker = taker;
    this.limits = limits;
    this.clock = clock;
    this.logger = logger;
    this.peer = {
      kind,
      serverName,
      url: parseUrl(options.url, serverName),
      secrets: options.secrets ?? [],
      credential: Object.entries(options.headers).find(([name, value]) =>
        looksSecret(name, value),
      )?.[0],
    };
    const { fields, ignored } = parseConfiguredHeaders(options.headers, serverName);
    if (ignored.length > 0)
      logger.warn("headers that the transport sets itself were left out", { serverName, ignored });
    this.headers = new HttpHeaders(fields);
    this.lingering = new LingeringExchanges(clock, this.closedError());
  }

  get isOpen(): boolean {
    return this.#lease !== undefined && !this.#isClosed;
  }

  /** The text of the message that is being handed on. */
  get messageText(): string | undefined {
    return this.#messageText;
  }

  get evidence(): TransportEvidence {
    const { origin, pathname, search } = this.peer.url;
    return {
      // Queries carry keys.
      target: `${origin}${pathname}${search === "" ? "" : "?…"}`,
      junkMessages: this.#junkMessages,
      sessionId: this.headers.sessionId,
    };
  }

  /** Gets ready to send; connects to nothing yet. */
  async acquire(): Promise<void> {
    const { dispatcher } = this.#options;
    const lease =
      dispatcher === undefined
        ? await originPools.acquire(this.#originSettings())
        : leaseOf(dispatcher);
    if (this.#isClosed) {
      await lease.release();
      throw this.notOpen();
    }
    this.#lease = lease;
  }

  /** From here on nothing new is sent but what ends the session. */
  markClosed(): void {
    this.#isClosed = true;
  }

  /** Gives the connections back; what is still under way ends with them. */
  async release(): Promise<void> {
    this.lingering.abortAll();
    await this.#lease?.release();
    this.#lease = undefined;
  }

  open(lane: HttpLane, request: HttpRequest, observer: ExchangeObserver): HttpExchange {
    const exchange = new HttpExchange(this.peer, observer);
    const lease = this.#lease;
    if (lease === undefined) exchange.abort(this.notOpen());
    else exchange.run(lease[lane], request);
    return exchange;
  }

  /**
   * Hands the message (or batch) in `text` to the protocol and returns it. What is no JSON object or
   * array is counted as junk, and nothing is returned; so is, on the stream of request `id`, the answer
   * to another open request, which has a stream of its own. Throws for a message that is nested too
   * deep and for a batch that is too long.
   */
  receive(text: string, id?: string | number): object | undefined {
    const value = this.parse(text);
    if (typeof value !== "object" || value === null || this.#isMisplaced(value, id)) {
      this.#junkMessages += 1;
      return undefined;
    }
    if (!Array.isArray(value)) {
      this.deliver(value, text);
      return value;
    }
    if (value.length > maxBatchMessages) {
      const message = `the server sent a batch of ${value.length} messages`;
      throw peerError(this.peer, "protocol_violation", message);
    }
    const placed = value.filter((item) => !this.#isMisplaced(Object(item), id));
    this.#junkMessages += value.length - placed.length;
    this.deliver(placed, undefined);
    return placed;
  }

  #isMisplaced(message: object, id: string | number | undefined): boolean {
    if (id === undefined || "method" in message || !("id" in message)) return false;
    return message.id !== id && this.openCalls.find(message.id) !== undefined;
  }

  /** Hands a message on; `text` is what it looked like, where it was the whole text. */
  deliver(message: object, text: string | undefined): void {
    this.#messageText = text;
    try {
      this.#taker.onmessage?.(message as JSONRPCMessage);
    } catch (error) {
      this.#taker.onerror?.(error instanceof Error ? error : new Error(String(error)));
    } finally {
      this.#messageText = undefined;
    }
  }

  /** The value of a JSON text, undefined when it is none; throws for one that is too deep or too dense. */
  parse(text: string): unknown {
    const broken = brokenBound(text, this.limits);
    if (broken !== undefined) {
      const { code, text: problem, hint } = describeBound(broken, this.limits);
      throw peerError(this.peer, code, problem, { hint });
    }
    try {
      return JSON.parse(text);
    } catch {
      return undefined;
    }
  }

  /** The JSON text of what is to be sent; throws `invalid_arguments` for what has none. */
  stringify(value: object): string {
    try {
      return JSON.stringify(value);
    } catch (cause) {
      const message = "the message cannot be written as JSON";
      throw peerError(this.peer, "invalid_arguments", message, { cause });
    }
  }

  /** How long an exchange may take: one that can be called off has an owner who keeps its deadline. */
  timeoutMs(cancellation: RequestStream | AbortSignal | undefined): number {
    const { callTimeoutMs, totalCallTimeoutMs } = this.limits;
    return cancellation === undefined ? callTimeoutMs : totalCallTimeoutMs;
  }

  #originSettings(): OriginSettings {
    const { url, limits, serverName, hostEnv = {}, allowPrivateNetwork = false } = this.#options;
    return {
      origin: this.peer.url.origin,
      connectTimeoutMs: limits.connectTimeoutMs,
      policy: configuredUrlPolicy(url, allowPrivateNetwork),
      hostEnv,
      serverName,
    };
  }

  /** Why nothing can be sent now. */
  notOpen(): McpError {
    return this.#isClosed
      ? this.closedError()
      : peerError(this.peer, "not_connected", "the transport has not been started");
  }

  closedError(): McpError {
    return peerError(this.peer, "closed", "the connection was closed");
  }
}

function leaseOf(dispatcher: Dispatcher): OriginLease {
  return {
    calls: dispatcher,
    streams: dispatcher,
    cancellations: dispatcher,
    release: () => Promise.resolve(),
  };
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
