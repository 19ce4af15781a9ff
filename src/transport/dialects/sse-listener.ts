import type { McpError } from "../../errors/mcp-error.ts";
import type { Timer } from "../../ports/clock.ts";
import { type BodySink, excerptBody } from "../http/http-body.ts";
import type { HttpClient } from "../http/http-client.ts";
import { tooLarge } from "../http/http-errors.ts";
import {
  type Exchange,
  type ExchangeObserver,
  type ResponseHead,
  mediaTypeOf,
} from "../http/http-exchange.ts";
import { missingStreamError, noStreamError } from "../http/http-status.ts";
import { SseFeed } from "../http/sse-events.ts";

const maxOpenFailures = 5;
/** A stream that ended sooner counts as short-lived and lengthens the wait before the next one. */
const usefulLifeMs = 10_000;
const maxWaitMs = 30_000;

/**
 * Keeps open the stream on which a legacy server sends messages that answer no request. The stream is
 * optional: a server need not offer it, and its loss is no disconnect. It is opened again, later each time it
 * proves short-lived, and given up on a server that keeps refusing.
 */
export class SseListener implements ExchangeObserver {
  readonly #client: HttpClient;
  readonly #feed: SseFeed;
  #exchange: Exchange | undefined;
  #timer: Timer | undefined;
  #isStopped = false;
  #openedAt: number | undefined;
  #openFailures = 0;
  #shortLives = 0;
  /** Waits for the first opening when the stream is required. */
  #onOpen: ((failure: McpError | undefined) => void) | undefined;

  constructor(client: HttpClient, onMessage: (data: string) => void) {
    this.#client = client;
    const { peer, limits } = client;
    this.#feed = new SseFeed({
      maxBytes: limits.maxMessageBytes,
      tooLarge: () => tooLarge(peer, limits.maxMessageBytes),
      onMessage,
    });
  }

  /** Opens the stream in the background, unless it is open or stopped. */
  start(): void {
    if (this.#isStopped || this.#exchange !== undefined || this.#timer !== undefined) return;
    this.#open(0);
  }

  /**
   * Opens the stream and resolves when it is open. Otherwise rejects and stays stopped, with `config_invalid`
   * where the server has no such stream.
   */
  require(timeoutMs: number): Promise<void> {
    return new Promise((resolve, reject) => {
      this.#onOpen = (failure) => {
        if (failure === undefined) return resolve();
        this.stop(failure);
        const isMissing = failure.code === "http_error" && isFinal(failure);
        reject(isMissing ? missingStreamError(this.#client.peer, failure) : failure);
      };
      this.#open(timeoutMs);
    });
  }

  /** Ends the stream for good. A waiting `require` rejects with `reason`. */
  stop(reason: McpError): void {
    this.#isStopped = true;
    this.#timer?.cancel();
    this.#exchange?.abort(reason);
    this.#opened(reason);
  }

  onHead(head: ResponseHead): BodySink {
    if (head.status === 200 && mediaTypeOf(head) === "text/event-stream") {
      this.#openedAt = this.#client.clock.monotonic();
      this.#openFailures = 0;
      this.#opened(undefined);
      return this.#feed.connect();
    }
    return excerptBody((text) => {
      throw this.#refused(head, text);
    });
  }

  onEnd(failure: McpError | undefined): void {
    const { clock, logger, peer } = this.#client;
    this.#exchange = undefined;
    if (this.#openedAt === undefined) this.#opened(failure);
    if (this.#isStopped) return;
    if (this.#openedAt === undefined) {
      this.#openFailures += 1;
      if (isFinal(failure) || this.#openFailures > maxOpenFailures) {
        logger.debug("no stream for messages of the server", {
          serverName: peer.serverName,
          reason: failure?.message,
        });
        return;
      }
    } else {
      const livedMs = clock.monotonic() - this.#openedAt;
      this.#shortLives = livedMs < usefulLifeMs ? this.#shortLives + 1 : 0;
    }
    const penalty = 2 ** Math.max(this.#shortLives + this.#openFailures - 1, 0);
    this.#timer = clock.schedule(Math.min(this.#feed.reconnectMs * penalty, maxWaitMs), () => {
      this.#timer = undefined;
      this.#open(0);
    });
  }

  /** Sends the request. `0` waits for ever: some servers send the headers with the first event. */
  #open(headersTimeoutMs: number): void {
    this.#openedAt = undefined;
    this.#exchange = this.#client.open(
      "streams",
      {
        method: "GET",
        headers: this.#client.headers.forStream(this.#feed.lastEventId),
        headersTimeoutMs,
        bodyTimeoutMs: 0,
      },
      this,
    );
  }

  #opened(failure: McpError | undefined): void {
    const onOpen = this.#onOpen;
    this.#onOpen = undefined;
    onOpen?.(failure);
  }

  #refused(head: ResponseHead, text: string): McpError {
    const { peer, clock, headers } = this.#client;
    const hadSession = headers.sessionId !== undefined;
    return noStreamError(peer, { head, text, hadSession, now: clock.now() });
  }
}

/** Whether opening the stream again would fail in the same way. */
function isFinal(failure: McpError | undefined): boolean {
  const status = failure?.details["status"];
  return typeof status === "number" && status < 500 && status !== 429;
}
