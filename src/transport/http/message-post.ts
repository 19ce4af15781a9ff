import type { JSONRPCMessage } from "@modelcontextprotocol/client";

import type { McpError } from "../../errors/mcp-error.ts";
import type { Timer } from "../../ports/clock.ts";
import type { SendOptions } from "../../protocol/wire/channel-transport.ts";
import { BoundScan } from "../reading/json-bounds.ts";
import { answeredId } from "../reading/message-ids.ts";
import { type BodySink, DiscardedBody, excerptBody, TextBody } from "./http-body.ts";
import type { HttpClient, MessageFilter } from "./http-client.ts";
import { peerError, tooLarge } from "./http-errors.ts";
import {
  type Exchange,
  type ExchangeObserver,
  mediaTypeOf,
  type ResponseHead,
} from "./http-exchange.ts";
import { statedVersion } from "./http-headers.ts";
import type { PoolName } from "./http-pool.ts";
import { contentError, statusError } from "./http-status.ts";
import { SseFeed } from "./sse-events.ts";

/** Tries in a row to get a broken stream back without a new event on any of them. */
const maxResumeAttempts = 3;
/** Nobody waits for a cancellation to arrive, so a server that never answers must not keep its connection for long. */
const cancellationTimeoutMs = 5_000;

/** How the messages of one transport travel over HTTP. */
export interface SendMode {
  /** Another address of the same origin than the configured one. */
  readonly url?: URL | undefined;
  /**
   * The transport has a stream of its own for answers: a POST is done when the server accepted it. What
   * its body holds is received all the same, because some servers answer there.
   */
  readonly isAnsweredElsewhere?: boolean | undefined;
  /** Whether a stream that broke before the answer may be fetched again with a GET; yes by default. */
  readonly isResumable?: boolean | undefined;
}

/** What a message needs of whoever sends it. */
export interface PostContext {
  readonly client: HttpClient;
  readonly mode: SendMode;
  /** Whether a request of this id is under way. */
  isOpen(id: unknown): boolean;
}

/** The attempts to get a broken stream back. */
interface Resumption {
  attempts: number;
  eventCount: number;
  readonly untilMs: number;
}

/**
 * One JSON-RPC message on its way: the POST, and for a request the body or stream that answers it.
 * A request is over when its answer was delivered; when none can come any more it fails at once.
 */
export class MessagePost implements ExchangeObserver, MessageFilter {
  /** Absent for notifications and for answers to the server: nothing answers them. */
  readonly id: string | number | undefined;
  /** Its neighbours among the messages under way. */
  previous: MessagePost | undefined = undefined;
  next: MessagePost | undefined = undefined;
  readonly #context: PostContext;
  readonly #client: HttpClient;
  readonly #options: SendOptions | undefined;
  readonly #mode: SendMode;
  readonly #message: JSONRPCMessage;
  readonly #method: string | undefined;
  #settle: ((failure: McpError | undefined) => void) | undefined;
  #exchange: Exchange | undefined;
  #isLingering = false;
  #feed: SseFeed | undefined;
  #resumption: Resumption | undefined;
  #timer: Timer | undefined;

  constructor(context: PostContext, message: JSONRPCMessage, options: SendOptions | undefined) {
    this.#context = context;
    this.#client = context.client;
    this.#options = options;
    this.#mode = context.mode;
    this.#message = message;
    this.#method = "method" in message ? message.method : undefined;
    this.id = this.#method !== undefined && "id" in message ? message.id : undefined;
  }

  /** Sends the message; `settle` is called once, without a failure when all went well. */
  run(body: string, settle: (failure: McpError | undefined) => void): void {
    this.#settle = settle;
    const { stream, headers } = this.#options ?? {};
    if (stream?.isAborted === true) return this.onAbort();
    if (stream !== undefined) stream.listener = this;
    const timeoutMs = this.#timeoutMs();
    this.#exchange = this.#client.open(
      this.#pool(),
      {
        method: "POST",
        url: this.#mode.url,
        headers: this.#client.headers.forMessage(this.#message, headers),
        body,
        headersTimeoutMs: timeoutMs,
        bodyTimeoutMs: timeoutMs,
      },
      this,
    );
  }

  /** Whether no byte of the message has left yet: it waits for a connection. */
  get isUnsent(): boolean {
    return this.#resumption === undefined && this.#exchange?.hasBegun !== true;
  }

  /** Ends the request without a failure: its answer came another way, so its POST no longer matters. */
  answeredElsewhere(): void {
    this.#finish(undefined);
    this.#linger();
  }

  /** Ends the request with `failure` unless it is over. */
  cancel(failure: McpError): void {
    this.#finish(failure);
    this.#exchange?.abort(failure);
  }

  /** Cancels the request: its stream was aborted. */
  onAbort(): void {
    const stream = this.#options?.stream;
    if (stream !== undefined) stream.isUnsent = this.isUnsent;
    this.cancel(peerError(this.#client.peer, "cancelled", "the call was cancelled"));
  }

  onHead(head: ResponseHead): BodySink {
    if (this.#resumption !== undefined) return this.#onResumed(head, this.#resumption);
    if (head.status >= 300) return excerptBody((text) => this.#onRefusal(head, text));
    if (this.id === undefined) {
      this.#finish(undefined);
      this.#linger();
      return new DiscardedBody();
    }
    if (this.#method === "initialize") this.#client.oninitialized?.(head);
    const type = mediaTypeOf(head);
    if (type === "text/event-stream") return this.#openFeed().connect();
    if (type !== "application/json" && !type.endsWith("+json"))
      return excerptBody((text) => this.#onOtherText(head, text));
    const { peer, limits } = this.#client;
    let scan: BoundScan | undefined;
    return new TextBody({
      maxBytes: limits.maxMessageBytes,
      tooLarge: () => tooLarge(peer, limits.maxMessageBytes),
      onPiece: (bytes) => {
        scan ??= new BoundScan(limits);
        this.#client.refuseBound(scan.feed(bytes));
      },
      onText: (text) => this.#onJson(head, text, scan !== undefined),
    });
  }

  onEnd(failure: McpError | undefined): void {
    const exchange = this.#exchange;
    this.#exchange = undefined;
    if (this.#settle === undefined) {
      // Nearly no exchange lingers, and to look for it among those of its server takes longer than the rest of this.
      if (exchange !== undefined && this.#isLingering) this.#client.lingering.delete(exchange);
      return;
    }
    const isStream = this.#feed !== undefined;
    const mayResume = failure === undefined || failure.code === "connection_lost";
    if (isStream && mayResume && this.#tryResume()) return;
    const isCutShort = isStream && !this.#isAnsweredElsewhere;
    this.#finish(failure ?? (isCutShort ? this.#streamEnded() : undefined));
  }

  get #isAnsweredElsewhere(): boolean {
    return this.#mode.isAnsweredElsewhere === true;
  }

  /** Calls wait for a free connection. Answers, which a waiting call may depend on, and streams do not. */
  #pool(): PoolName {
    if (this.#isCancellation()) return "cancellations";
    const isAnswer = this.#method === undefined;
    return isAnswer || this.#isSubscription() ? "streams" : "calls";
  }

  #isCancellation(): boolean {
    return this.#method === "notifications/cancelled";
  }

  #isSubscription(): boolean {
    return this.#method === "subscriptions/listen";
  }

  #timeoutMs(): number {
    if (this.#isSubscription()) return 0;
    if (this.#isCancellation()) return cancellationTimeoutMs;
    // The waiter for the answer keeps the deadline, and cancels the request by a message.
    if (this.#isAnsweredElsewhere && this.id !== undefined)
      return this.#client.limits.totalCallTimeoutMs;
    return this.#client.timeoutMs(this.#options?.stream);
  }

  #openFeed(): SseFeed {
    const { peer, limits } = this.#client;
    this.#feed = new SseFeed({
      maxBytes: limits.maxMessageBytes,
      tooLarge: () => tooLarge(peer, limits.maxMessageBytes),
      onMessage: (data) => this.#receive(data),
    });
    return this.#feed;
  }

  /** The answer to another open request has a stream of its own to come on. */
  isMisplaced(message: object): boolean {
    const id = answeredId(message);
    return id !== this.id && this.#context.isOpen(id);
  }

  /** Delivers the message in `text`; the answer to this request ends it. */
  #receive(text: string, wasScanned = false): void {
    const filter = this.#isAnsweredElsewhere ? undefined : this;
    const received = this.#client.receive(text, filter, wasScanned);
    if (received === undefined || !isAnswerTo(received, this.id)) return;
    this.#finish(undefined);
    if (this.#feed !== undefined) this.#linger();
  }

  /** Gives the server a moment to end the exchange by itself, since the answer has arrived. */
  #linger(): void {
    if (this.#exchange === undefined) return;
    this.#isLingering = true;
    this.#client.lingering.add(this.#exchange);
  }

  #onJson(head: ResponseHead, text: string, wasScanned: boolean): void {
    if (text.trim() === "") return this.#onOtherText(head, "");
    this.#receive(text, wasScanned);
    if (this.#settle === undefined) return;
    if (this.#isAnsweredElsewhere) return this.#finish(undefined);
    const message = "the request was answered with something else than its answer";
    this.#finish(peerError(this.#client.peer, "protocol_violation", message));
  }

  /** Many servers accept a message in a word; a web page comes from somebody in front of them. */
  #onOtherText(head: ResponseHead, text: string): void {
    const isAccepted = this.#isAnsweredElsewhere && !text.trimStart().startsWith("<");
    this.#finish(isAccepted ? undefined : this.#noAnswer(head, text));
  }

  /** A refusal may still hold the server's own error for this very request. */
  #onRefusal(head: ResponseHead, text: string): void {
    const failure = this.#statusError(head, text);
    const isPlainRefusal =
      failure.code === "http_error" && !failure.retryable && head.status >= 400;
    if (isPlainRefusal && isErrorFor(text, this.id)) this.#receive(text);
    this.#finish(failure);
  }

  #statusError(head: ResponseHead, text: string): McpError {
    const { peer, headers, clock } = this.#client;
    const hadSession =
      headers.sessionId !== undefined && statedVersion(this.#message) === undefined;
    return statusError(peer, { head, text, hadSession, now: clock.now() });
  }

  #noAnswer(head: ResponseHead, text: string): McpError {
    const { peer } = this.#client;
    if (text !== "") return contentError(peer, head, text);
    const message = `the server accepted the request and sent no answer (HTTP ${head.status})`;
    return peerError(peer, "protocol_violation", message, { details: { status: head.status } });
  }

  #streamEnded(): McpError {
    const message = "the server ended the stream before the answer";
    return peerError(this.#client.peer, "connection_lost", message);
  }

  /** Only the legacy era can resume, and only a stream whose events had ids. */
  #tryResume(): boolean {
    const { clock, limits } = this.#client;
    const feed = this.#feed;
    if (feed?.lastEventId === undefined || statedVersion(this.#message) !== undefined) return false;
    if (this.#mode.isResumable === false) return false;
    if (this.#isAnsweredElsewhere) return false;
    const state = (this.#resumption ??= {
      attempts: 0,
      eventCount: feed.eventCount,
      untilMs: clock.monotonic() + (limits.totalCallTimeoutMs || Number.POSITIVE_INFINITY),
    });
    if (feed.eventCount > state.eventCount) state.attempts = 0;
    state.eventCount = feed.eventCount;
    state.attempts += 1;
    if (state.attempts > maxResumeAttempts || clock.monotonic() > state.untilMs) return false;
    this.#wait(feed.reconnectMs, () => {
      const timeoutMs = this.#timeoutMs();
      this.#exchange = this.#client.open(
        "streams",
        {
          method: "GET",
          headers: this.#client.headers.forStream(feed.lastEventId),
          headersTimeoutMs: timeoutMs,
          bodyTimeoutMs: timeoutMs,
        },
        this,
      );
    });
    return true;
  }

  #onResumed(head: ResponseHead, state: Resumption): BodySink {
    if (
      head.status === 200 &&
      this.#feed !== undefined &&
      mediaTypeOf(head) === "text/event-stream"
    )
      return this.#feed.connect();
    // A server in trouble may recover; one that refuses will refuse again.
    if (head.status >= 500 || head.status === 429) return new DiscardedBody();
    state.attempts = maxResumeAttempts;
    return excerptBody((text) => {
      const failure = this.#statusError(head, text);
      if (failure.code !== "http_error") this.#finish(failure);
    });
  }

  #wait(delayMs: number, task: () => void): void {
    this.#timer = this.#client.clock.schedule(delayMs, () => {
      this.#timer = undefined;
      task();
    });
  }

  #finish(failure: McpError | undefined): void {
    const settle = this.#settle;
    if (settle === undefined) return;
    this.#settle = undefined;
    this.#timer?.cancel();
    const stream = this.#options?.stream;
    if (stream !== undefined) stream.listener = undefined;
    settle(failure);
  }
}

/** Whether a message, or one of a batch, is the response to request `id`. */
function isAnswerTo(received: object, id: string | number | undefined): boolean {
  if (Array.isArray(received)) return received.some((item) => isAnswerTo(Object(item), id));
  return id !== undefined && "id" in received && received.id === id && !("method" in received);
}

function isErrorFor(text: string, id: string | number | undefined): boolean {
  if (!text.startsWith("{")) return false;
  try {
    const value = JSON.parse(text) as object;
    return isAnswerTo(value, id) && "error" in value;
  } catch {
    return false;
  }
}
