import type { JSONRPCMessage } from "@modelcontextprotocol/client";

import type { McpError } from "../../errors/mcp-error.ts";
import type { Timer } from "../../ports/clock.ts";
import type { SendOptions } from "../../protocol/channel/channel-transport.ts";
import { type BodySink, DiscardedBody, excerptBody, TextBody } from "./http-body.ts";
import type { HttpLane, HttpLink } from "./http-client.ts";
import { peerError, tooLarge } from "./http-errors.ts";
import {
  type ExchangeObserver,
  type HttpExchange,
  mediaTypeOf,
  type ResponseHead,
} from "./http-exchange.ts";
import { statedVersion } from "./http-headers.ts";
import { contentError, statusError } from "./http-status.ts";
import type { OpenCall } from "./open-calls.ts";
import { SseFeed } from "./sse-events.ts";

/** Tries in a row to get a broken stream back without a new event on any of them. */
const maxResumeAttempts = 3;
/** Nobody waits for it to arrive, so a server that never answers must not keep its connection for long. */
const cancellationTimeoutMs = 5_000;

/** How the messages of one transport travel. */
export interface CallManner {
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

interface Resumption {
  attempts: number;
  eventCount: number;
  readonly untilMs: number;
}

/**
 * One JSON-RPC message on its way: the POST, and for a request the body or stream that answers it.
 * A request is over when its answer was delivered; when none can come any more it fails at once.
 */
export class HttpCall implements ExchangeObserver, OpenCall {
  /** Absent for notifications and for answers to the server: nothing answers them. */
  readonly id: string | number | undefined;
  readonly #link: HttpLink;
  readonly #options: SendOptions | undefined;
  readonly #manner: CallManner;
  readonly #message: JSONRPCMessage;
  readonly #method: string | undefined;
  #settle: ((failure: McpError | undefined) => void) | undefined;
  #exchange: HttpExchange | undefined;
  #feed: SseFeed | undefined;
  #resumption: Resumption | undefined;
  #timer: Timer | undefined;

  constructor(
    link: HttpLink,
    message: JSONRPCMessage,
    options: SendOptions | undefined,
    manner: CallManner,
  ) {
    this.#link = link;
    this.#options = options;
    this.#manner = manner;
    this.#message = message;
    this.#method = "method" in message ? message.method : undefined;
    this.id = this.#method !== undefined && "id" in message ? message.id : undefined;
  }

  /** Starts the call; `settle` is called once, without a failure when all went well. */
  run(body: string, settle: (failure: McpError | undefined) => void): void {
    this.#settle = settle;
    const { requestSignal, stream, headers } = this.#options ?? {};
    if (requestSignal?.aborted === true || stream?.isAborted === true) return this.handleEvent();
    requestSignal?.addEventListener("abort", this);
    if (stream !== undefined) stream.listener = this;
    this.#link.openCalls.add(this);
    const timeoutMs = this.#timeoutMs();
    this.#exchange = this.#link.open(
      this.#lane(),
      {
        method: "POST",
        url: this.#manner.url,
        headers: this.#link.headers.forMessage(this.#message, headers),
        body,
        headersTimeoutMs: timeoutMs,
        bodyTimeoutMs: timeoutMs,
      },
      this,
    );
  }

  /** Nothing of it has left: it waits for a connection. */
  get isUnsent(): boolean {
    return this.#resumption === undefined && this.#exchange?.hasBegun !== true;
  }

  /** Its answer came another way: what becomes of the POST no longer matters. */
  answeredElsewhere(): void {
    this.#finish(undefined);
    this.#linger();
  }

  /** Ends the call with `failure` unless it is over. */
  cancel(failure: McpError): void {
    this.#finish(failure);
    this.#exchange?.abort(failure);
  }

  /** The request's stream, or its signal, was aborted. */
  handleEvent(): void {
    const stream = this.#options?.stream;
    if (stream !== undefined) stream.isUnsent = this.isUnsent;
    this.cancel(peerError(this.#link.peer, "cancelled", "the call was cancelled"));
  }

  onHead(head: ResponseHead): BodySink {
    if (this.#resumption !== undefined) return this.#onResumed(head, this.#resumption);
    if (head.status >= 300) return excerptBody((text) => this.#onRefusal(head, text));
    if (this.id === undefined) {
      this.#finish(undefined);
      this.#linger();
      return new DiscardedBody();
    }
    if (this.#method === "initialize") this.#link.oninitialized?.(head);
    const type = mediaTypeOf(head);
    if (type === "text/event-stream") return this.#openFeed().connect();
    if (type !== "application/json" && !type.endsWith("+json"))
      return excerptBody((text) => this.#onOtherText(head, text));
    const { peer, limits } = this.#link;
    return new TextBody({
      maxBytes: limits.maxMessageBytes,
      tooLarge: () => tooLarge(peer, limits.maxMessageBytes),
      onText: (text) => this.#onJson(head, text),
    });
  }

  onEnd(failure: McpError | undefined): void {
    const exchange = this.#exchange;
    this.#exchange = undefined;
    if (this.#settle === undefined) {
      if (exchange !== undefined) this.#link.lingering.delete(exchange);
      return;
    }
    const isStream = this.#feed !== undefined;
    const mayResume = failure === undefined || failure.code === "connection_lost";
    if (isStream && mayResume && this.#tryResume()) return;
    const isCutShort = isStream && !this.#isAnsweredElsewhere;
    this.#finish(failure ?? (isCutShort ? this.#streamEnded() : undefined));
  }

  get #isAnsweredElsewhere(): boolean {
    return this.#manner.isAnsweredElsewhere === true;
  }

  /** Calls wait their turn; what a waiting call may depend on, or what stays open, does not. */
  #lane(): HttpLane {
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
    // Whoever waits for the answer keeps the deadline, and calls the request off by a message.
    if (this.#isAnsweredElsewhere && this.id !== undefined)
      return this.#link.limits.totalCallTimeoutMs;
    const { stream, requestSignal } = this.#options ?? {};
    return this.#link.timeoutMs(stream ?? requestSignal);
  }

  #openFeed(): SseFeed {
    const { peer, limits } = this.#link;
    this.#feed = new SseFeed({
      maxBytes: limits.maxMessageBytes,
      tooLarge: () => tooLarge(peer, limits.maxMessageBytes),
      onMessage: (data) => this.#receive(data),
    });
    return this.#feed;
  }

  /** Delivers what came; the answer to this call ends it. */
  #receive(text: string): void {
    const received = this.#link.receive(text, this.#isAnsweredElsewhere ? undefined : this.id);
    if (received === undefined || !isAnswerTo(received, this.id)) return;
    this.#finish(undefined);
    if (this.#feed !== undefined) this.#linger();
  }

  /** All that mattered has arrived; the server gets a moment to end the exchange by itself. */
  #linger(): void {
    if (this.#exchange !== undefined) this.#link.lingering.add(this.#exchange);
  }

  #onJson(head: ResponseHead, text: string): void {
    if (text.trim() === "") return this.#onOtherText(head, "");
    this.#receive(text);
    if (this.#settle === undefined) return;
    if (this.#isAnsweredElsewhere) return this.#finish(undefined);
    const message = "the request was answered with something else than its answer";
    this.#finish(peerError(this.#link.peer, "protocol_violation", message));
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
    const { peer, headers, clock } = this.#link;
    const hadSession =
      headers.sessionId !== undefined && statedVersion(this.#message) === undefined;
    return statusError(peer, { head, text, hadSession, now: clock.now() });
  }

  #noAnswer(head: ResponseHead, text: string): McpError {
    const { peer } = this.#link;
    if (text !== "") return contentError(peer, head, text);
    const message = `the server accepted the request and sent no answer (HTTP ${head.status})`;
    return peerError(peer, "protocol_violation", message, { details: { status: head.status } });
  }

  #streamEnded(): McpError {
    const message = "the server ended the stream before the answer";
    return peerError(this.#link.peer, "connection_lost", message);
  }

  /** Only the legacy era can resume, and only a stream whose events had ids. */
  #tryResume(): boolean {
    const { clock, limits } = this.#link;
    const feed = this.#feed;
    if (feed?.lastEventId === undefined || statedVersion(this.#message) !== undefined) return false;
    if (this.#manner.isResumable === false) return false;
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
      this.#exchange = this.#link.open(
        "streams",
        {
          method: "GET",
          headers: this.#link.headers.forStream(feed.lastEventId),
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
    this.#timer = this.#link.clock.schedule(delayMs, () => {
      this.#timer = undefined;
      task();
    });
  }

  #finish(failure: McpError | undefined): void {
    const settle = this.#settle;
    if (settle === undefined) return;
    this.#settle = undefined;
    this.#link.openCalls.delete(this);
    this.#timer?.cancel();
    const { stream, requestSignal } = this.#options ?? {};
    requestSignal?.removeEventListener("abort", this);
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
