import type { JSONRPCMessage } from "@modelcontextprotocol/client";
import type { Dispatcher } from "undici";

import type { RequestAuthorization } from "../../auth/request-authorization.ts";
import type { Limits } from "../../config/keys/limits.ts";
import type { Environment } from "../../config/variables/reference-values.ts";
import { looksSecret } from "../../config/variables/secret-values.ts";
import { createError } from "../../errors/families.ts";
import type { McpError } from "../../errors/mcp-error.ts";
import { configuredUrlPolicy } from "../../isolation/network/network-policy.ts";
import type { Clock } from "../../ports/clock.ts";
import type { Logger } from "../../ports/logger.ts";
import type { ChannelTransport, RequestStream } from "../../protocol/wire/channel-transport.ts";
import type { MaskedValues, TransportEvidence } from "../host-transport.ts";
import { brokenBound, describeBound, maxBatchMessages } from "../reading/json-bounds.ts";
import { AuthorizedExchange } from "./authorized-exchange.ts";
import { type HttpPeer, peerError } from "./http-errors.ts";
import {
  type Exchange,
  type ExchangeObserver,
  HttpExchange,
  LingeringExchanges,
  type HttpRequest,
  type ResponseHead,
} from "./http-exchange.ts";
import { HttpHeaders, parseConfiguredHeaders } from "./http-headers.ts";
import { type OriginLease, originPools, type OriginSettings, type PoolName } from "./http-pool.ts";

/** The options that every transport over HTTP takes. */
export interface HttpTransportOptions {
  readonly serverName: string;
  readonly url: string;
  /** Final values: variables expanded, credentials included. */
  readonly headers: Readonly<Record<string, string>>;
  readonly limits: Limits;
  readonly clock: Clock;
  readonly logger: Logger;
  /** Values that must not appear in any message. */
  readonly secrets?: string[] | undefined;
  /** Those of them that no definition of a tool may hold either. */
  readonly credentials?: string[] | undefined;
  /** Shows the server who is calling, beside what `headers` say; nobody without it. */
  readonly authorization?: RequestAuthorization | undefined;
  /** Lets the address lie in a private network. */
  readonly allowPrivateNetwork?: boolean | undefined;
  /** Where a proxy may be named; none is used without it. */
  readonly hostEnv?: Environment | undefined;
  /** Sends the requests instead of the shared connections; it stays the caller's to close. */
  readonly dispatcher?: Dispatcher | undefined;
}

/** The handlers of the transport that the client works for: they take what arrives. */
export type MessageHandlers = Pick<ChannelTransport, "onmessage" | "onerror">;

/** Tells which messages of a stream are not delivered. */
export interface MessageFilter {
  isMisplaced(message: object): boolean;
}

/**
 * The HTTP client of one transport: it has the connections to the server's origin, knows the headers of
 * every request, and reads messages. The transport decides what is sent when, and what an answer means.
 */
export class HttpClient {
  readonly peer: HttpPeer;
  readonly limits: Limits;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly headers: HttpHeaders;
  readonly lingering: LingeringExchanges;
  /** Called with the head of the answer to `initialize`, before its body. */
  oninitialized: ((head: ResponseHead) => void) | undefined;

  readonly #options: HttpTransportOptions;
  readonly #handlers: MessageHandlers;
  #lease: OriginLease | undefined;
  /** End the filling of what is masked with tokens. */
  readonly #unfollow: (() => void)[] = [];
  #junkMessages = 0;
  #isClosed = false;

  constructor(kind: HttpPeer["kind"], options: HttpTransportOptions, handlers: MessageHandlers) {
    const { serverName, limits, clock, logger } = options;
    this.#options = options;
    this.#handlers = handlers;
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

  get evidence(): TransportEvidence {
    const { origin, pathname, search } = this.peer.url;
    return {
      // Queries carry keys.
      target: `${origin}${pathname}${search === "" ? "" : "?…"}`,
      junkMessages: this.#junkMessages,
      sessionId: this.headers.sessionId,
    };
  }

  get masked(): MaskedValues {
    const { secrets = [], credentials = [] } = this.#options;
    return { secrets, credentials };
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
    const { authorization, secrets, credentials } = this.#options;
    for (const masked of [secrets, credentials])
      if (masked !== undefined && authorization !== undefined)
        this.#unfollow.push(authorization.follow(masked));
  }

  /** Refuses new messages; the request that ends the session is still sent. */
  markClosed(): void {
    this.#isClosed = true;
  }

  /** Gives the connections back; exchanges that are still under way end with them. */
  async release(): Promise<void> {
    this.lingering.abortAll();
    for (const unfollow of this.#unfollow.splice(0)) unfollow();
    await this.#lease?.release();
    this.#lease = undefined;
  }

  open(pool: PoolName, request: HttpRequest, observer: ExchangeObserver): Exchange {
    const { authorization } = this.#options;
    const lease = this.#lease;
    if (lease === undefined || authorization === undefined) {
      const exchange = new HttpExchange(this.peer, observer);
      if (lease === undefined) exchange.abort(this.notOpen());
      else exchange.run(lease[pool], request);
      return exchange;
    }
    const to = { peer: this.peer, dispatcher: lease[pool], authorization };
    const exchange = new AuthorizedExchange(to, request, observer);
    exchange.run();
    return exchange;
  }

  /**
   * Hands the message (or batch) in `text` to the protocol and returns it. Text that is no JSON object or
   * array is counted as junk, and nothing is returned; so are messages that `filter` calls misplaced.
   * Throws for a message that is nested too deep, unless its bytes were scanned for that, and for a batch that is
   * too long.
   */
  receive(text: string, filter?: MessageFilter, wasScanned = false): object | undefined {
    const value = this.parse(text, wasScanned);
    if (typeof value !== "object" || value === null || filter?.isMisplaced(value) === true) {
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
    const placed = value.filter((item) => filter?.isMisplaced(Object(item)) !== true);
    this.#junkMessages += value.length - placed.length;
    this.deliver(placed, undefined);
    return placed;
  }

  /** Hands a message to the transport's handler; `text` is its JSON, undefined for a part of a batch. */
  deliver(message: object, text: string | undefined): void {
    try {
      this.#handlers.onmessage?.(message as JSONRPCMessage, text);
    } catch (error) {
      this.#handlers.onerror?.(error instanceof Error ? error : new Error(String(error)));
    }
  }

  /** Throws for a message that breaks a bound. */
  refuseBound(broken: "deep" | "dense" | undefined): void {
    if (broken === undefined) return;
    const { code, text, hint } = describeBound(broken, this.limits);
    throw peerError(this.peer, code, text, { hint });
  }

  /** Returns the value of a JSON text, undefined for other text; throws for one that is too deep or too dense. */
  parse(text: string, wasScanned = false): unknown {
    if (!wasScanned) this.refuseBound(brokenBound(text, this.limits));
    try {
      return JSON.parse(text);
    } catch {
      return undefined;
    }
  }

  /** Returns the JSON text of a message; throws `invalid_arguments` for one that has none. */
  stringify(value: object): string {
    try {
      return JSON.stringify(value);
    } catch (cause) {
      const message = "the message cannot be written as JSON";
      throw peerError(this.peer, "invalid_arguments", message, { cause });
    }
  }

  /** How long an exchange may take: the owner of one that can be cancelled keeps its deadline. */
  timeoutMs(stream: RequestStream | undefined): number {
    const { callTimeoutMs, totalCallTimeoutMs } = this.limits;
    return stream === undefined ? callTimeoutMs : totalCallTimeoutMs;
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
