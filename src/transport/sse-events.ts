import { StringDecoder } from "node:string_decoder";

import { type EventSourceParser, createParser } from "eventsource-parser";

import type { McpError } from "../errors/mcp-error.ts";
import type { BodySink } from "./http-body.ts";
import { isVisibleAscii } from "./http-headers.ts";

const minReconnectMs = 100;
const maxReconnectMs = 30_000;
const defaultReconnectMs = 1_000;
const maxEventIdLength = 1_024;

export interface SseFeedOptions {
  /** The most one event may hold. */
  readonly maxBytes: number;
  readonly tooLarge: () => McpError;
  /** The data of each `message` event. */
  readonly onMessage: (data: string) => void;
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
    const { maxBytes, tooLarge } = this.#options;
    let isTooLarge = false;
    const parser = createParser({
      maxBufferSize: maxBytes,
      onEvent: ({ id, event, data }) => {
        this.#eventCount += 1;
        if (id !== undefined) this.#remember(id);
        // The parser counts characters, and only what it has to keep between two chunks.
        if (data.length * 3 > maxBytes && Buffer.byteLength(data) > maxBytes) throw tooLarge();
        if (data !== "" && (event === undefined || event === "message"))
          this.#options.onMessage(data);
      },
      onRetry: (retryMs) => {
        this.#reconnectMs = Math.min(Math.max(retryMs, minReconnectMs), maxReconnectMs);
      },
      onError: ({ type }) => {
        if (type === "max-buffer-size-exceeded") isTooLarge = true;
      },
    });
    return new SseBody(parser, () => {
      if (isTooLarge) throw tooLarge();
    });
  }

  /** An id that cannot be sent back in a header makes the stream one that cannot be resumed. */
  #remember(id: string): void {
    const isUsable = id.length <= maxEventIdLength && isVisibleAscii(id);
    this.#lastEventId = isUsable ? id : undefined;
  }
}

class SseBody implements BodySink {
  readonly #parser: EventSourceParser;
  readonly #check: () => void;
  readonly #decoder = new StringDecoder("utf8");
  #isFirst = true;
  #endsInCr = false;

  constructor(parser: EventSourceParser, check: () => void) {
    this.#parser = parser;
    this.#check = check;
  }

  write(chunk: Buffer): boolean {
    const text = this.#decoder.write(chunk);
    if (text === "") return true;
    const hasMark = this.#isFirst && text.charCodeAt(0) === 0xfe_ff;
    this.#isFirst = false;
    this.#endsInCr = text.endsWith("\r");
    this.#parser.feed(hasMark ? text.slice(1) : text);
    this.#check();
    return true;
  }

  end(): void {
    // The parser holds a final CR back, because it may be the first half of a CRLF.
    if (this.#endsInCr) this.#parser.feed("\n");
  }
}
