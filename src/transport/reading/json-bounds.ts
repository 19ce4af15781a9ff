import { BoundScan, type JsonBounds } from "./bound-scan.ts";

export interface BrokenBound {
  readonly code: "protocol_violation" | "too_large";
  readonly text: string;
  readonly hint?: string;
}

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

function scan(json: string, bounds: JsonBounds): "deep" | "dense" | undefined {
  return new BoundScan(bounds).feed(Buffer.from(json));
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
