import type { Transform } from "node:stream";
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

/** A body of more bytes is large. */
const largeBytes = 64 * 1_024;

/** So many pieces are put together at a time: a piece of one byte costs a hundred to keep. */
const piecesPerChunk = 1_024;

/** Collects a whole body as text. */
export class TextBody implements BodySink {
  readonly #options: TextBodyOptions;
  readonly #chunks: Buffer[] = [];
  /** What came last. */
  readonly #pieces: Buffer[] = [];
  #bytes = 0;
  #isLarge = false;

  constructor(options: TextBodyOptions) {
    this.#options = options;
  }

  write(chunk: Buffer): boolean {
    const { maxBytes, tooLarge } = this.#options;
    const room = maxBytes - this.#bytes;
    this.#bytes += chunk.length;
    if (chunk.length <= room) {
      this.#pieces.push(chunk);
      if (this.#bytes > largeBytes) this.#lookThrough(chunk);
      if (this.#pieces.length >= piecesPerChunk) this.#joinPieces();
      return true;
    }
    if (tooLarge !== undefined) throw tooLarge();
    this.#pieces.push(chunk.subarray(0, room));
    return false;
  }

  end(): void {
    this.#joinPieces();
    const [first] = this.#chunks;
    const bytes = this.#chunks.length === 1 && first ? first : Buffer.concat(this.#chunks);
    const text = bytes.toString("utf8");
    this.#options.onText(text.charCodeAt(0) === 0xfe_ff ? text.slice(1) : text);
  }

  #lookThrough(chunk: Buffer): void {
    const { onPiece } = this.#options;
    if (onPiece === undefined) return;
    if (this.#isLarge) return onPiece(chunk);
    this.#isLarge = true;
    for (const earlier of [...this.#chunks, ...this.#pieces]) onPiece(earlier);
  }

  #joinPieces(): void {
    if (this.#pieces.length < piecesPerChunk) this.#chunks.push(...this.#pieces);
    else this.#chunks.push(Buffer.concat(this.#pieces));
    this.#pieces.length = 0;
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
