import { hash } from "node:crypto";

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
