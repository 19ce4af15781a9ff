import { isJsonObject, type JsonObject } from "../../text/json-object.ts";

/**
 * Neither database gives back every text as it was: what follows a NUL is cut off by one and refused by
 * the other, and all lone surrogates become the same replacement character. Two agents would become one
 * by that, and what a person allowed one of them would serve the other. Such characters are therefore
 * written as this mark, which stands for no character, and four hexadecimal digits; so is the mark itself.
 */
const mark = "\uFDD0";
const marked = /\uFDD0([0-9a-f]{4})/g;

/** Escapes what a text column cannot store; other parameters stay as they are. */
export function toStored(parameter: unknown): unknown {
  if (typeof parameter !== "string" || isStorable(parameter)) return parameter;
  return parameter.replace(
    /[\0\uFDD0\p{Cs}]/gu,
    (character) => mark + character.charCodeAt(0).toString(16).padStart(4, "0"),
  );
}

/** Restores the texts of rows as they were given to `toStored`. Changes the rows in place. */
export function fromStored<Row>(rows: readonly Row[]): readonly Row[] {
  for (const row of rows as readonly Record<string, unknown>[])
    for (const column in row) {
      const value = row[column];
      if (typeof value === "string" && value.includes(mark)) row[column] = unmarked(value);
    }
  return rows;
}

const unstorableInJson = /\\(?:u(0000|d[89a-f][0-9a-f]{2})|.)|\uFDD0/g;

/**
 * Writes the characters that a text column cannot store as `toStored` does, in a text that `JSON.stringify` made.
 * It has them as escapes, which a database may keep but cannot take apart: Postgres fails on them, SQLite cuts.
 */
export function toStoredJson(json: string): string {
  if (!json.includes("\\u") && !json.includes(mark)) return json;
  return json.replace(unstorableInJson, (found, digits: string | undefined) => {
    if (found === mark) return `${mark}fdd0`;
    return digits === undefined ? found : mark + digits;
  });
}

/** Restores the JSON that was given to `toStoredJson`. */
export function fromStoredJson(json: string): string {
  return json.includes(mark) ? json.replace(marked, String.raw`\u$1`) : json;
}

function isStorable(text: string): boolean {
  return text.isWellFormed() && !text.includes("\0") && !text.includes(mark);
}

function unmarked(text: string): string {
  return text.replace(marked, (_, digits: string) =>
    String.fromCharCode(Number.parseInt(digits, 16)),
  );
}

/** Parses a column of JSON text; undefined when it is not JSON, which only damage or another program can cause. */
export function parseJsonColumn(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return undefined;
  }
}

/** Parses a column that holds a JSON object; undefined when it holds anything else. */
export function parseObjectColumn(text: string): JsonObject | undefined {
  const value = parseJsonColumn(text);
  return isJsonObject(value) ? value : undefined;
}
