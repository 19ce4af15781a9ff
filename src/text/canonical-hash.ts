import { hash } from "node:crypto";

import { sha256 } from "./sha-256.ts";

/**
 * JSON with sorted keys: equal values give equal text, whatever order they were written in. Plain loops in one function,
 * because whole tool lists come through here when a server is first seen: the engine optimizes each function by itself.
 */
export function canonicalJson(value: unknown): string {
  if (typeof value !== "object" || value === null) return JSON.stringify(value) ?? "null";
  let text = "";
  if (Array.isArray(value)) {
    for (let index = 0; index < value.length; index += 1) {
      if (index > 0) text += ",";
      text += canonicalJson(value[index]);
    }
    return `[${text}]`;
  }
  const members = value as Readonly<Record<string, unknown>>;
  const keys = Object.keys(members).toSorted();
  for (let index = 0; index < keys.length; index += 1) {
    const key = keys[index]!;
    const item = members[key];
    if (item === undefined) continue;
    if (text !== "") text += ",";
    text += `${JSON.stringify(key)}:${typeof item === "string" ? JSON.stringify(item) : canonicalJson(item)}`;
  }
  return `{${text}}`;
}

/** SHA-256 of the canonical form, in hexadecimal. */
export function canonicalHash(value: unknown): string {
  return hash("sha256", canonicalJson(value), "hex");
}

/** Of more, the engine would begin to optimize our code, which takes longer than to load Node's. */
const fewChars = 640;
let charsLeft = 0;

/** Prepares for a process that may hash one or two entries and nothing else: for these, nothing of Node is loaded. */
export function expectFewEntries(): void {
  charsLeft = fewChars;
}

/** The same hash for the entry of a server. */
export function entryHash(value: unknown): string {
  const text = canonicalJson(value);
  charsLeft -= text.length;
  return charsLeft < 0 ? hash("sha256", text, "hex") : sha256(text);
}
