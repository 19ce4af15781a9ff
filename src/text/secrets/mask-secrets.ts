import { findable, maskKnown } from "./redact.ts";

/**
 * JSON data in which known secrets are masked wherever they stand, in keys as in values. What holds
 * none comes back as it is, not as a copy.
 */
export function maskSecrets<T>(value: T, secrets: readonly string[]): T {
  const known = findable(secrets);
  return known.length === 0 ? value : (masked(value, known) as T);
}

function masked(value: unknown, known: readonly string[]): unknown {
  if (typeof value === "string") return maskKnown(value, known);
  if (typeof value !== "object" || value === null) return value;
  if (Array.isArray(value)) {
    const items = value.map((item: unknown) => masked(item, known));
    return items.some((item, index) => item !== value[index]) ? items : value;
  }
  const members = Object.entries(value).map(
    ([key, item]) => [maskKnown(key, known), masked(item, known)] as const,
  );
  const isSame = members.every(([key, item]) => (value as Record<string, unknown>)[key] === item);
  return isSame ? value : Object.fromEntries(members);
}
