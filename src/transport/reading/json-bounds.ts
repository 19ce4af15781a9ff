import type { Limits } from "../../config/keys/limits.ts";

/** The one revision with batches names no bound; no client of ours ever asks for that many answers at once. */
export const maxBatchMessages = 1_000;

const quote = 0x22;
const backslash = 0x5c;
/** The kind of a byte outside of strings: of no interest, the beginning of a string, or one that counts. */
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

export interface BrokenBound {
  readonly code: "protocol_violation" | "too_large";
  readonly text: string;
  readonly hint?: string;
}

/**
 * Tells which bound a JSON text breaks: `deep` when it nests arrays and objects too deep for code that walks
 * a value recursively, `dense` when it holds so many values that building them would hold up everything
 * else and take many times its size in memory. Found in one linear pass before anything is built. Text
 * that is no JSON may get any answer.
 */
export function brokenBound(json: string, bounds: JsonBounds): "deep" | "dense" | undefined {
  const { maxJsonDepth, maxJsonValues } = bounds;
  // A level takes two characters, and so does a value with what separates it from the next.
  const mayBeDeep = json.length >= 2 * (maxJsonDepth + 1) && counts(json, "{[", maxJsonDepth);
  if (mayBeDeep) return scan(json, bounds);
  const mayBeDense = json.length >= 2 * maxJsonValues && counts(json, ",:{[", maxJsonValues);
  return mayBeDense ? scan(json, bounds) : undefined;
}

function scan(json: string, bounds: JsonBounds): "deep" | "dense" | undefined {
  return new BoundScan(bounds).feed(Buffer.from(json));
}

/** Describes a broken bound as the error says it. */
export function describeBound(broken: "deep" | "dense", bounds: JsonBounds): BrokenBound {
  const { maxJsonDepth, maxJsonValues } = bounds;
  if (broken === "deep")
    return {
      code: "protocol_violation",
      text: `the server sent a message nested deeper than ${maxJsonDepth} levels`,
    };
  return {
    code: "too_large",
    text: `the server sent a message of more than ${maxJsonValues} values`,
    hint: "if such messages are to be expected, raise `limits.maxJsonValues`",
  };
}

/**
 * Whether more than `limit` of these characters occur. Most texts hold few of them, and a memory search
 * finds that out a hundred times faster than the pass.
 */
function counts(json: string, characters: string, limit: number): boolean {
  let seen = 0;
  for (const character of characters) {
    for (let at = json.indexOf(character); at !== -1; at = json.indexOf(character, at + 1)) {
      seen += 1;
      if (seen > limit) return true;
    }
  }
  return false;
}

/**
 * Finds which bound a JSON text breaks, in its bytes, which may come piece by piece: a large text has been
 * looked through by the time it is whole, and one that breaks a bound never gets that far.
 */
export class BoundScan {
  readonly #bounds: JsonBounds;
  #depth = 0;
  #values = 1;
  #isInString = false;
  /** Whether the piece ended between a backslash and the character it escapes. */
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

  /** Returns where the string that goes on at `start` ends, or the end of the piece. */
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

/** Finds the next byte that may end a string, or the first of the backslashes in front of it. */
function nextSpecial(bytes: Buffer, from: number): number {
  const found = bytes.indexOf(quote, from);
  let index = found === -1 ? bytes.length : found;
  while (index > from && bytes[index - 1] === backslash) index -= 1;
  return index;
}
