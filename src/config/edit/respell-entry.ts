import { isRecord } from "../keys/check-value.ts";
import { entryKeys, entrySpellings, type ServerEntry } from "../keys/config-keys.ts";
import { type KeyTable, snakeCase, spellingsOf, type ValueShape } from "../keys/value-shape.ts";

type RawEntry = Readonly<Record<string, unknown>>;

/** Whether the entries beside a new one are written in snake_case. */
export function prefersSnakeCase(entries: unknown): boolean {
  if (typeof entries !== "object" || entries === null) return false;
  const keys = Object.values(entries)
    .filter((entry) => isRecord(entry))
    .flatMap((entry) => Object.keys(entry))
    .filter((key) => entrySpellings.has(key));
  return keys.some((key) => key.includes("_")) && !keys.some((key) => /[A-Z]/.test(key));
}

/**
 * Rewrites `entry` in the style of `existing`: its spellings, its form of `command`, its word for being
 * disabled.
 */
export function respell(
  existing: RawEntry,
  entry: ServerEntry | RawEntry,
  isSnakeCase: boolean,
): RawEntry {
  const given = withCommandForm(existing["command"], { ...entry });
  const { enabled, ...rest } = given;
  const isTurned =
    typeof enabled === "boolean" &&
    Object.hasOwn(existing, "disabled") &&
    !Object.hasOwn(existing, "enabled");
  return respellKeys(
    existing,
    isTurned ? { ...rest, disabled: !enabled } : given,
    entryKeys,
    isSnakeCase,
  );
}

function respellKeys(
  existing: RawEntry,
  given: RawEntry,
  table: KeyTable,
  isSnakeCase: boolean,
): RawEntry {
  const spellings = spellingsOf(table);
  const writtenAs = new Map(Object.keys(existing).map((key) => [spellings.get(key), key]));
  const entries = Object.entries(given)
    .filter(([, value]) => value !== undefined && value !== null)
    .map(([key, value]) => {
      const name = spellings.get(key);
      const spec = name === undefined ? undefined : table[name];
      if (name === undefined || spec === undefined) return [key, value] as const;
      const written = writtenAs.get(name) ?? (isSnakeCase ? snakeCase(key) : key);
      const inner = innerTable(spec.shape);
      if (inner === undefined || !isRecord(value)) return [written, value] as const;
      const old = existing[written];
      return [written, respellKeys(isRecord(old) ? old : {}, value, inner, isSnakeCase)] as const;
    });
  return Object.fromEntries(entries);
}

function innerTable(shape: ValueShape): KeyTable | undefined {
  if (shape.type === "object") return shape.keys;
  if (shape.type !== "either") return undefined;
  return shape.shapes.map((option) => innerTable(option)).find((table) => table !== undefined);
}

/** Keeps the form of `command`: a list stays a list, a program with `args` stays one. */
function withCommandForm(existing: unknown, entry: RawEntry): RawEntry {
  const { command, args, ...rest } = entry;
  const given = Array.isArray(args) ? (args as unknown[]) : [];
  if (Array.isArray(existing) && typeof command === "string")
    return { command: [command, ...given], ...rest };
  if (typeof existing === "string" && Array.isArray(command)) {
    const [program, ...own] = command as unknown[];
    return { command: program, ...(own.length === 0 ? {} : { args: own }), ...rest };
  }
  return entry;
}
