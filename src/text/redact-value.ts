import { mask, redact } from "./redact.ts";
import { truncate } from "./truncate.ts";

export interface RedactValueOptions {
  /** Longer texts are cut. */
  readonly maxText: number;
}

const secretKey = /api[-_]?key|token|secret|passw|credential|authorization|cookie|private[-_]?key/i;
/** Deeper values and further members are left out: what is kept is for a person to read. */
const maxDepth = 8;
const maxMembers = 100;

/** A copy of JSON data without what looks like a secret, by its key or by itself, and bounded in every direction. */
export function redactValue<T>(value: T, options: RedactValueOptions): T {
  return copy(value, 0, options) as T;
}

/** The texts in JSON data that are secrets by their key. */
export function secretsIn(value: unknown): readonly string[] {
  const secrets: string[] = [];
  const visit = (inner: unknown, depth: number, isSecret: boolean): void => {
    if (typeof inner === "string" && isSecret) secrets.push(inner);
    if (typeof inner !== "object" || inner === null || depth >= maxDepth) return;
    for (const [key, item] of Object.entries(inner).slice(0, maxMembers))
      visit(item, depth + 1, isSecret || secretKey.test(key));
  };
  visit(value, 0, false);
  return secrets;
}

function copy(value: unknown, depth: number, options: RedactValueOptions): unknown {
  // Cut before it is searched for secrets: a text of megabytes is kept to its beginning only.
  if (typeof value === "string") return redact(truncate(value, options.maxText));
  if (typeof value !== "object" || value === null) return value;
  if (depth >= maxDepth) return "…";
  if (Array.isArray(value))
    return value.slice(0, maxMembers).map((item) => copy(item, depth + 1, options));
  const members = Object.entries(value).slice(0, maxMembers);
  return Object.fromEntries(
    members.map(([key, item]) => [
      truncate(key, options.maxText),
      secretKey.test(key) && item !== null ? mask : copy(item, depth + 1, options),
    ]),
  );
}
