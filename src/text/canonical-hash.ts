import { createHash } from "node:crypto";

/** JSON with sorted keys: equal values give equal text, whatever order they were written in. */
export function canonicalJson(value: unknown): string {
  if (typeof value !== "object" || value === null) return JSON.stringify(value) ?? "null";
  // Plain loops: whole tool lists come through here when a server is first seen.
  let text = "";
  if (Array.isArray(value)) {
    for (const item of value) text += text === "" ? canonicalJson(item) : `,${canonicalJson(item)}`;
    return `[${text}]`;
  }
  const members = value as Readonly<Record<string, unknown>>;
  for (const key of Object.keys(members).toSorted()) {
    const item = members[key];
    if (item === undefined) continue;
    const member = `${JSON.stringify(key)}:${canonicalJson(item)}`;
    text += text === "" ? member : `,${member}`;
  }
  return `{${text}}`;
}

/** SHA-256 of the canonical form, in hexadecimal. */
export function canonicalHash(value: unknown): string {
  return createHash("sha256").update(canonicalJson(value)).digest("hex");
}
