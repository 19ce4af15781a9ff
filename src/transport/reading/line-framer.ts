import { StringDecoder } from "node:string_decoder";

const newline = 0x0a;
const carriageReturn = 0x0d;
/** Smaller chunks are gathered here, so that a trickle costs bytes and not objects. */
const gatherBytes = 16 * 1_024;
const smallChunkBytes = 4 * 1_024;
/** A line of more bytes is large: worth looking at before it is whole. */
const largeLineBytes = 1_024 * 1_024;

/** `too-long`: a line is longer than allowed; `ended`: the handler wanted no more. */
export type FramingState = "more" | "too-long" | "ended";

/** Takes the lines of a stream; `false`, from either method, ends the framing for good. */
export interface LineHandler {
  /** A line, without its line ending. */
  onLine(line: string, byteLength: number): boolean;
  /** A piece of a large line, the line ending included: all of them in order, then the line. */
  onPiece(bytes: Buffer): boolean;
}

/**
 * Cuts a stream of bytes into lines that end in LF or CRLF. However the stream is split, the work is
 * linear and no more than one line and one chunk are held. Text is decoded line by line; a large line is
 * decoded as it comes, because in one go that alone would hold up everything else.
 */
export class LineFramer {
  readonly #maxLineBytes: number;
  readonly #handler: LineHandler;
  // The beginning of a line whose end has not arrived: the pieces, then what was gathered.
  #pieces: Buffer[] = [];
  #gathered = Buffer.alloc(0);
  #gatheredBytes = 0;
  #partialBytes = 0;
  /** Decodes a large line, which is held as text and not in pieces. */
  #decoder: StringDecoder | undefined;
  #decoded = "";

  constructor(maxLineBytes: number, handler: LineHandler) {
    this.#maxLineBytes = maxLineBytes;
    this.#handler = handler;
  }

  /** Hands on every line that `chunk` completes. Any state but `more` is final: push nothing after it. */
  push(chunk: Buffer): FramingState {
    let start = 0;
    let end = chunk.indexOf(newline);
    while (end !== -1) {
      const state =
        this.#partialBytes === 0
          ? this.#handOn(chunk, start, end)
          : this.#completePartial(chunk.subarray(start, end));
      if (state !== "more") return state;
      start = end + 1;
      end = chunk.indexOf(newline, start);
    }
    return start === chunk.length ? "more" : this.#keep(chunk.subarray(start));
  }

  /** The beginning of the line whose end has not arrived: enough of it to find a secret in, not to show. */
  get partialHead(): string {
    if (this.#decoder !== undefined) return this.#decoded.slice(0, gatherBytes);
    const first = this.#pieces[0] ?? this.#gathered.subarray(0, this.#gatheredBytes);
    return first.toString("utf8", 0, Math.min(first.length, gatherBytes));
  }

  #handOn(bytes: Buffer, start: number, lineEnd: number): FramingState {
    const end = lineEnd > start && bytes[lineEnd - 1] === carriageReturn ? lineEnd - 1 : lineEnd;
    if (end - start > this.#maxLineBytes) return "too-long";
    const line = bytes.toString("utf8", start, end);
    return this.#handler.onLine(line, end - start) ? "more" : "ended";
  }

  #completePartial(rest: Buffer): FramingState {
    const state = this.#keep(rest);
    if (state !== "more") return state;
    const byteLength = this.#partialBytes;
    if (this.#decoder !== undefined) return this.#handOnDecoded(this.#decoder, byteLength);
    if (this.#pieces.length > 0) this.#sealGathered();
    const pieces = this.#pieces;
    this.#pieces = [];
    this.#gatheredBytes = 0;
    this.#partialBytes = 0;
    const line = pieces.length === 0 ? this.#gathered : Buffer.concat(pieces, byteLength);
    return this.#handOn(line, 0, byteLength);
  }

  #handOnDecoded(decoder: StringDecoder, byteLength: number): FramingState {
    const text = this.#decoded + decoder.end();
    this.#decoder = undefined;
    this.#decoded = "";
    this.#partialBytes = 0;
    const endingBytes = text.endsWith("\r") ? 1 : 0;
    if (byteLength - endingBytes > this.#maxLineBytes) return "too-long";
    const line = text.slice(0, text.length - endingBytes);
    return this.#handler.onLine(line, byteLength - endingBytes) ? "more" : "ended";
  }

  #keep(bytes: Buffer): FramingState {
    // One more than allowed, in case it is the CR of a line ending.
    if (this.#partialBytes + bytes.length > this.#maxLineBytes + 1) return "too-long";
    if (!this.#show(bytes)) return "ended";
    this.#partialBytes += bytes.length;
    if (this.#decoder !== undefined) return "more";
    if (bytes.length >= smallChunkBytes) {
      this.#sealGathered();
      this.#pieces.push(bytes);
      return "more";
    }
    if (this.#gatheredBytes + bytes.length > this.#gathered.length) {
      this.#sealGathered();
      this.#gathered = Buffer.allocUnsafe(gatherBytes);
    }
    bytes.copy(this.#gathered, this.#gatheredBytes);
    this.#gatheredBytes += bytes.length;
    return "more";
  }

  /** Hands on and decodes the bytes of a large line; false when the handler wants no more. */
  #show(bytes: Buffer): boolean {
    if (this.#partialBytes + bytes.length <= largeLineBytes) return true;
    if (this.#decoder === undefined) {
      this.#sealGathered();
      this.#decoder = new StringDecoder("utf8");
      const pieces = this.#pieces;
      this.#pieces = [];
      if (!pieces.every((piece) => this.#take(piece))) return false;
    }
    return this.#take(bytes);
  }

  #take(piece: Buffer): boolean {
    this.#decoded += this.#decoder?.write(piece) ?? "";
    return this.#handler.onPiece(piece);
  }

  /** Makes a piece of the gathered bytes; later ones are gathered in a new buffer. */
  #sealGathered(): void {
    if (this.#gatheredBytes === 0) return;
    this.#pieces.push(this.#gathered.subarray(0, this.#gatheredBytes));
    this.#gathered = Buffer.alloc(0);
    this.#gatheredBytes = 0;
  }
}
