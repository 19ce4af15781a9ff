import type { McpError } from "../../errors/mcp-error.ts";
import { type BodySink, excerptBody } from "../http/http-body.ts";
import type { HttpClient } from "../http/http-client.ts";
import { peerError, tooLarge } from "../http/http-errors.ts";
import { type ExchangeObserver, type ResponseHead, mediaTypeOf } from "../http/http-exchange.ts";
import { RedirectableGet } from "../http/http-redirect.ts";
import { noStreamError } from "../http/http-status.ts";
import { SseFeed } from "../http/sse-events.ts";

/** Receives the events of one stream. An error that it throws ends the stream. */
export interface SseStreamObserver {
  /** Called when the server has begun to answer. */
  onOpen(): void;
  onMessage(data: string): void;
  /** Called for an event of another name than `message`. */
  onOther(event: string, data: string): void;
  /** Called exactly once, when the stream has ended. */
  onEnd(failure: McpError): void;
}

/**
 * Reads the single stream of a legacy connection. It is opened once, may be silent for ever, and is never
 * reopened.
 */
export class SseStream implements ExchangeObserver {
  readonly #client: HttpClient;
  readonly #observer: SseStreamObserver;
  readonly #get: RedirectableGet;

  constructor(client: HttpClient, observer: SseStreamObserver) {
    this.#client = client;
    this.#observer = observer;
    const headers = client.headers.forStream();
    const request = { url: client.peer.url, headers, headersTimeoutMs: 0, bodyTimeoutMs: 0 };
    this.#get = new RedirectableGet(client, "streams", request, this);
  }

  /** The address of the stream: the configured one, or the one that it redirected to. */
  get url(): URL {
    return this.#get.url;
  }

  open(): void {
    this.#get.run();
  }

  /** Ends the stream with `reason` unless it has ended. */
  abort(reason: McpError): void {
    this.#get.abort(reason);
  }

  onHead(head: ResponseHead): BodySink {
    const { peer, limits, clock } = this.#client;
    if (head.status !== 200 || mediaTypeOf(head) !== "text/event-stream")
      return excerptBody((text) => {
        throw noStreamError(peer, { head, text, hadSession: false, now: clock.now() });
      });
    this.#observer.onOpen();
    return new SseFeed({
      maxBytes: limits.maxMessageBytes,
      tooLarge: () => tooLarge(peer, limits.maxMessageBytes),
      onMessage: (data) => this.#observer.onMessage(data),
      onOther: (event, data) => this.#observer.onOther(event, data),
    }).connect();
  }

  onEnd(failure: McpError | undefined): void {
    const ended = "the server ended its stream, and the session with it";
    this.#observer.onEnd(failure ?? peerError(this.#client.peer, "connection_lost", ended));
  }
}
