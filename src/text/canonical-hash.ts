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

/** Bound on what is hashed before Node's own code is loaded for it: that takes as long as this much. */
const maxCharsBefore = 2_048;
let charsBefore = 0;

/** SHA-256 of the canonical form, in hexadecimal. */
export function canonicalHash(value: unknown): string {
  const text = canonicalJson(value);
  charsBefore += text.length;
  return charsBefore > maxCharsBefore ? hash("sha256", text, "hex") : sha256(text);
}
