import type { Limits } from "../../config/keys/limits.ts";

const quote = 0x22;
const backslash = 0x5c;
/** What a byte outside of strings is: of no interest, the beginning of a string, or one that counts. */
const plain = 0;
const string = 1;
const separator = 2;
const opening = 3;
const closing = 4;
const kinds = new Uint8Array(256);
for (const [bytes, kind] of [
  ['"', string],
  [",:", separator],
  ["[{", opening],
  ["]}", closing],
] as const)
  for (const byte of Buffer.from(bytes)) kinds[byte] = kind;
/** A string of more bytes than these is skipped by a memory search, which takes a while to begin. */
const shortStringBytes = 32;

export type JsonBounds = Pick<Limits, "maxJsonDepth" | "maxJsonValues">;

/**
 * Finds which bound a JSON text breaks, in its bytes, which may come piece by piece: a large text has been
 * looked through by the time it is whole, and one that breaks a bound never gets that far.
 */
export class BoundScan {
  readonly #bounds: JsonBounds;
  #depth = 0;
  #values = 1;
  #isInString = false;
  /** The piece ended between a backslash and what it escapes. */
  #isEscaped = false;

  constructor(bounds: JsonBounds) {
    this.#bounds = bounds;
  }

  /** Nothing may be fed after a bound was broken. */
  feed(bytes: Buffer): "deep" | "dense" | undefined {
    const { maxJsonDepth, maxJsonValues } = this.#bounds;
    let depth = this.#depth;
    let values = this.#values;
    let index = this.#isInString ? this.#skipString(bytes, 0) : 0;
    while (index < bytes.length) {
      const kind = kinds[bytes[index] as number];
      index += 1;
      if (kind === plain) continue;
      if (kind === string) {
        index = this.#skipString(bytes, index);
      } else if (kind === closing) {
        depth -= 1;
      } else {
        values += 1;
        if (kind === opening) depth += 1;
        if (depth > maxJsonDepth) return "deep";
        if (values > maxJsonValues) return "dense";
      }
    }
    this.#depth = depth;
    this.#values = values;
    return undefined;
  }

  /** Where the string that goes on at `start` is over, or the piece is. */
  #skipString(bytes: Buffer, start: number): number {
    let index = this.#isEscaped ? start + 1 : start;
    this.#isInString = true;
    this.#isEscaped = false;
    let searchFrom = index + shortStringBytes;
    while (index < bytes.length) {
      const code = bytes[index];
      if (code === quote) {
        this.#isInString = false;
        return index + 1;
      }
      if (code === backslash) {
        index += 2;
      } else if (index < searchFrom) {
        index += 1;
      } else {
        index = nextSpecial(bytes, index);
        searchFrom = index + shortStringBytes;
      }
    }
    this.#isEscaped = index > bytes.length;
    return bytes.length;
  }
}

/** The next byte that may end a string, or the first of the backslashes in front of it. */
function nextSpecial(bytes: Buffer, from: number): number {
  const found = bytes.indexOf(quote, from);
  let index = found === -1 ? bytes.length : found;
  while (index > from && bytes[index - 1] === backslash) index -= 1;
  return index;
}
