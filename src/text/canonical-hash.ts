import { createHash } from "node:crypto";

/** JSON with sorted keys: equal values give equal text, whatever order they were written in. */
export function canonicalJson(value: unknown): string {
  if (typeof value !== "object" || value === null) return JSON.stringify(value) ?? "null";
  return Array.isArray(value)
    ? canonicalList(value)
    : canonicalMembers(value as Readonly<Record<string, unknown>>);
}

// Loops by index, and no call more than needed for a text: whole tool lists come through here when a server is first
// seen, and the engine spends milliseconds on optimizing what takes more steps.

function canonicalList(items: readonly unknown[]): string {
  let text = "";
  for (let index = 0; index < items.length; index += 1) {
    if (index > 0) text += ",";
    text += canonicalJson(items[index]);
  }
  return `[${text}]`;
}

function canonicalMembers(members: Readonly<Record<string, unknown>>): string {
  const keys = Object.keys(members).toSorted();
  let text = "";
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
  return createHash("sha256").update(canonicalJson(value)).digest("hex");
}
