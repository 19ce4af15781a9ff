import type { Limits } from "../config/limits.ts";

const quote = 0x22;
const comma = 0x2c;
const colon = 0x3a;
const backslash = 0x5c;
/** `[` and `{`, likewise `]` and `}`, differ in this one bit. */
const bracketBit = 0x20;
const opening = 0x7b;
const closing = 0x7d;

export interface BrokenBound {
  readonly code: "protocol_violation" | "too_large";
  readonly text: string;
  readonly hint?: string;
}

export type JsonBounds = Pick<Limits, "maxJsonDepth" | "maxJsonValues">;

/**
 * Which bound a JSON text breaks: `deep` when it nests arrays and objects too deep for code that walks
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

/** The same for people. */
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

function scan(json: string, { maxJsonDepth, maxJsonValues }: JsonBounds) {
  let depth = 0;
  let values = 1;
  for (let index = 0; index < json.length; index += 1) {
    const code = json.charCodeAt(index);
    if (code === quote) {
      index = endOfString(json, index);
    } else if (code === comma || code === colon) {
      values += 1;
    } else if ((code | bracketBit) === opening) {
      depth += 1;
      values += 1;
      if (depth > maxJsonDepth) return "deep";
    } else if ((code | bracketBit) === closing) {
      depth -= 1;
    }
    if (values > maxJsonValues) return "dense";
  }
  return undefined;
}

function endOfString(json: string, start: number): number {
  for (let index = start + 1; index < json.length; index += 1) {
    const code = json.charCodeAt(index);
    if (code === quote) return index;
    if (code === backslash) index += 1;
  }
  return json.length;
}

/** Few of them settle it at the speed of a memory search, which is a hundred times that of the pass. */
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
