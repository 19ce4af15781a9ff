import { StringDecoder } from "node:string_decoder";

import type { McpError } from "../../errors/mcp-error.ts";
import type { BodySink } from "./http-body.ts";
import { isVisibleAscii } from "./http-headers.ts";
import { SseParser } from "./sse-parser.ts";

const minReconnectMs = 100;
const maxReconnectMs = 30_000;
const defaultReconnectMs = 1_000;
const maxEventIdLength = 1_024;
/** Room for the name of a field and its line end beside the largest data. */
const framing = 16;

export interface SseFeedOptions {
  /** The most one event may hold. */
  readonly maxBytes: number;
  readonly tooLarge: () => McpError;
  /** The data of each `message` event. */
  readonly onMessage: (data: string) => void;
  /** Each event of another name; without it they are left out. */
  readonly onOther?: ((event: string, data: string) => void) | undefined;
}

/**
 * One logical stream of events that may span several connections: it remembers where it stood and
 * how long the server asks to wait.
 */
export class SseFeed {
  readonly #options: SseFeedOptions;
  #lastEventId: string | undefined;
  #reconnectMs = defaultReconnectMs;
  #eventCount = 0;

  constructor(options: SseFeedOptions) {
    this.#options = options;
  }

  /** Where to resume; undefined when the server gave no usable id. */
  get lastEventId(): string | undefined {
    return this.#lastEventId;
  }

  /** The server's wish, kept between a tenth of a second (no storms) and half a minute. */
  get reconnectMs(): number {
    return this.#reconnectMs;
  }

  /** Events received so far, on all connections. */
  get eventCount(): number {
    return this.#eventCount;
  }

  /** The reader of one connection's bytes. */
  connect(): BodySink {
    const { maxBytes, tooLarge, onMessage, onOther } = this.#options;
    const parser = new SseParser({
      maxCharacters: maxBytes + framing,
      onEvent: ({ id, event, data }) => {
        if (id !== undefined) this.#remember(id);
        if (data === undefined) return;
        this.#eventCount += 1;
        // The parser counts characters.
        if (data.length * 3 > maxBytes && Buffer.byteLength(data) > maxBytes) throw tooLarge();
        if (data === "") return;
        if (event === undefined || event === "message") onMessage(data);
        else onOther?.(event, data);
      },
      onRetry: (retryMs) => {
        this.#reconnectMs = Math.min(Math.max(retryMs, minReconnectMs), maxReconnectMs);
      },
    });
    return new SseBody(parser, tooLarge);
  }

  /** An id that cannot be sent back in a header makes the stream one that cannot be resumed. */
  #remember(id: string): void {
    const isUsable = id.length <= maxEventIdLength && isVisibleAscii(id);
    this.#lastEventId = isUsable ? id : undefined;
  }
}

class SseBody implements BodySink {
  readonly #parser: SseParser;
  readonly #tooLarge: () => McpError;
  readonly #decoder = new StringDecoder("utf8");

  constructor(parser: SseParser, tooLarge: () => McpError) {
    this.#parser = parser;
    this.#tooLarge = tooLarge;
  }

  write(chunk: Buffer): boolean {
    if (!this.#parser.feed(this.#decoder.write(chunk))) throw this.#tooLarge();
    return true;
  }

  /** What has no blank line behind it is no event. */
  end(): void {}
}
