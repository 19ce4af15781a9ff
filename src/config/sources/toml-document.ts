import { parse } from "smol-toml";

import type { FieldPath } from "../keys/check-value.ts";
import { defaultLimits } from "../keys/limits.ts";
import type { Position } from "../parse/parse-entry.ts";

export type TomlResult =
  | {
      readonly ok: true;
      readonly value: unknown;
      /** Finds the position of the deepest part of `path` that has a line of its own. */
      readonly locate: (path: FieldPath) => Position;
    }
  | { readonly ok: false; readonly message: string; readonly position: Position };

/** Parses a TOML text. Never throws. */
export function parseToml(text: string): TomlResult {
  try {
    const value = parse(text, { maxDepth: defaultLimits.maxJsonDepth });
    return { ok: true, value, locate: createLocate(text) };
  } catch (error) {
    const { message, line = 1, column = 1 } = error as Error & Partial<Position>;
    // The first line says what is wrong; those below it repeat the text, which may hold secrets.
    const [reason = ""] = message.split("\n");
    return {
      ok: false,
      message: reason.replace(/^Invalid TOML document: /, "") || "this is not TOML",
      position: { line, column },
    };
  }
}

/**
 * Finds lines by scanning for headers and keys, because the parser keeps no positions. Text inside of a value of
 * several lines may look like a key: then a message names a wrong line, and nothing else depends on it.
 */
function createLocate(text: string): (path: FieldPath) => Position {
  let positions: ReadonlyMap<string, Position> | undefined;
  return (path) => {
    positions ??= findPositions(text);
    for (let length = path.length; length > 0; length -= 1) {
      const found = positions.get(keyOf(path.slice(0, length)));
      if (found !== undefined) return found;
    }
    return { line: 1, column: 1 };
  };
}

function findPositions(text: string): ReadonlyMap<string, Position> {
  const positions = new Map<string, Position>();
  let table: readonly string[] = [];
  let openQuote: string | undefined;
  for (const [index, line] of text.split(/\r\n|\n/).entries()) {
    const wasOpen = openQuote !== undefined;
    openQuote = quoteAfter(line, openQuote);
    if (wasOpen) continue;
    const found = headerOrKey(line);
    if (found === undefined) continue;
    const path = found.isHeader ? found.path : [...table, ...found.path];
    if (found.isHeader) table = found.path;
    const position = { line: index + 1, column: line.search(/\S/) + 1 };
    // `[a.b]` is also where `a` begins, when nothing said so before.
    for (let length = 1; length <= path.length; length += 1) {
      const key = keyOf(path.slice(0, length));
      if (!positions.has(key)) positions.set(key, position);
    }
  }
  return positions;
}

function keyOf(path: FieldPath): string {
  return JSON.stringify(path.map(String));
}

/** Returns the quotes of several lines that are open after `line`. */
function quoteAfter(line: string, open: string | undefined): string | undefined {
  let quote = open;
  for (const [found] of line.matchAll(/"""|'''/g))
    if (quote === undefined) quote = found;
    else if (quote === found) quote = undefined;
  return quote;
}

const keyPart = /[ \t]*(?:"((?:[^"\\]|\\.)*)"|'([^']*)'|([A-Za-z0-9_-]+))[ \t]*(\.)?/y;

function headerOrKey(
  line: string,
): { readonly isHeader: boolean; readonly path: readonly string[] } | undefined {
  const start = /^[ \t]*(\[?)\[?/.exec(line);
  const isHeader = start?.[1] === "[";
  const path: string[] = [];
  keyPart.lastIndex = start?.[0].length ?? 0;
  for (let match = keyPart.exec(line); match !== null; match = keyPart.exec(line)) {
    const end = keyPart.lastIndex;
    path.push(match[1] ?? match[2] ?? match[3] ?? "");
    if (match[4] === undefined)
      return line[end] === (isHeader ? "]" : "=") ? { isHeader, path } : undefined;
  }
  return undefined;
}
