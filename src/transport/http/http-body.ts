import type { Transform } from "node:stream";
import { StringDecoder } from "node:string_decoder";
import type * as Zlib from "node:zlib";

import type { McpError } from "../../errors/mcp-error.ts";

/** Takes the decoded bytes of one response body. */
export interface BodySink {
  /**
   * `false` means that nothing more is wanted: the rest is not read, and the exchange ends well. An
   * `McpError` it throws fails the exchange.
   */
  write(chunk: Buffer): boolean;
  /** Nothing follows. */
  end(): void;
}

/**
 * A stream that undoes a content encoding, `undefined` for none, `"unknown"` for one that nobody
 * asked for. Servers compress even when the request does not offer it.
 */
export function createDecoder(encoding: string): Transform | undefined | "unknown" {
  switch (encoding.trim().toLowerCase()) {
    case "":
    case "identity":
      return undefined;
    case "gzip":
    case "x-gzip":
      return zlib().createGunzip();
    case "deflate":
      return zlib().createInflate();
    case "br":
      return zlib().createBrotliDecompress();
    default:
      return "unknown";
  }
}

/** Loaded with the first compressed answer: it takes two milliseconds, and a host may speak to no server over HTTP. */
const zlib = (): typeof Zlib => process.getBuiltinModule("node:zlib");

export interface TextBodyOptions {
  readonly maxBytes: number;
  /** Makes the error for a body over `maxBytes`; without it the text is cut there instead. */
  readonly tooLarge?: () => McpError;
  /**
   * Takes the bytes of a large body as they come: to look through it in one go, when it is whole, would hold up
   * everything else. May throw as `write` does.
   */
  readonly onPiece?: (bytes: Buffer) => void;
  readonly onText: (text: string) => void;
}

/** A body of more bytes is large, and so many of its bytes are decoded at a time. */
const largeBytes = 64 * 1_024;

/** So many chunks are put together at a time: a chunk of one byte costs a hundred to keep. */
const maxHeldChunks = 1_024;

/**
 * Collects a whole body as text. A large one is decoded as it comes, because in one go that alone would hold up
 * everything else.
 */
export class TextBody implements BodySink {
  readonly #options: TextBodyOptions;
  /** The chunks that are not decoded yet. */
  #held: Buffer[] = [];
  #heldBytes = 0;
  #bytes = 0;
  /** Decodes a large body. */
  #decoder: StringDecoder | undefined;
  #text = "";

  constructor(options: TextBodyOptions) {
    this.#options = options;
  }

  write(chunk: Buffer): boolean {
    const { maxBytes, tooLarge } = this.#options;
    const room = maxBytes - this.#bytes;
    this.#bytes += chunk.length;
    if (chunk.length > room) {
      if (tooLarge !== undefined) throw tooLarge();
      this.#held.push(chunk.subarray(0, room));
      return false;
    }
    this.#held.push(chunk);
    this.#heldBytes += chunk.length;
    if (this.#decoder !== undefined) this.#options.onPiece?.(chunk);
    if (this.#heldBytes > largeBytes || this.#held.length >= maxHeldChunks) this.#decodeHeld();
    return true;
  }

  end(): void {
    const rest = this.#takeHeld();
    const text =
      this.#decoder === undefined ? rest.toString("utf8") : this.#text + this.#decoder.end(rest);
    this.#options.onText(text.charCodeAt(0) === 0xfe_ff ? text.slice(1) : text);
  }

  #decodeHeld(): void {
    const bytes = this.#takeHeld();
    if (this.#decoder === undefined) {
      this.#decoder = new StringDecoder("utf8");
      this.#options.onPiece?.(bytes);
    }
    this.#text += this.#decoder.write(bytes);
  }

  #takeHeld(): Buffer {
    const [first] = this.#held;
    const bytes = this.#held.length === 1 && first ? first : Buffer.concat(this.#held);
    this.#held = [];
    this.#heldBytes = 0;
    return bytes;
  }
}

const maxSideBytes = 65_536;

/** Collects as much of an unwelcome body as an error message may need. */
export function excerptBody(onText: (text: string) => void): BodySink {
  return new TextBody({ maxBytes: maxSideBytes, onText });
}

/** Reads a body of no interest, as far as that is cheaper than a new connection. */
export class DiscardedBody implements BodySink {
  #bytes = 0;

  write(chunk: Buffer): boolean {
    this.#bytes += chunk.length;
    return this.#bytes <= maxSideBytes;
  }

  end(): void {}
}
