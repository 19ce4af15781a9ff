import { closest } from "../../text/closest.ts";
import { isJsonObject, type JsonObject } from "../../text/json-object.ts";
import { reveal, SecretText } from "../../text/secrets/secret-text.ts";
import { boundedLine } from "../../text/untrusted/bounded-text.ts";
import type { ConfigText } from "./server-config.ts";
import {
  type ChoiceShape,
  describeShape,
  maxTextLength,
  type KeyTable,
  type ListShape,
  type MapShape,
  type NumberShape,
  spellingsOf,
  type ValueShape,
  type ValuesOf,
} from "./value-shape.ts";

/** The keys and indexes that lead to a value, as they are written in the source. */
export type FieldPath = readonly (string | number)[];
export type Severity = "error" | "warning";

/** Reports one flaw. Messages name keys, never values. */
export type Report = (severity: Severity, path: FieldPath, message: string) => void;

export interface CheckContext {
  readonly report: Report;
  readonly unknownKeySeverity: Severity;
}

export interface CheckedKeys<T extends KeyTable> {
  /** The values under their canonical names; a bad or `null` value is absent. */
  readonly values: ValuesOf<T>;
  /** The path at which each value was written. */
  readonly paths: ReadonlyMap<string, FieldPath>;
}

/** Whether a value of a config has members. A `SecretText` is an object but counts as one value. */
export function isRecord(value: unknown): value is JsonObject {
  return isJsonObject(value) && !SecretText.is(value);
}

/** Makes a name from a file fit for a message. */
export function quoteName(name: string): string {
  return `"${boundedLine(name, 64)}"`;
}

const spellingsCache = new WeakMap<KeyTable, ReadonlyMap<string, string>>();

function cachedSpellings(table: KeyTable): ReadonlyMap<string, string> {
  const spellings = spellingsCache.get(table) ?? spellingsOf(table);
  spellingsCache.set(table, spellings);
  return spellings;
}

/**
 * Checks an object key by key. Only keys of the table are looked into, so depth and size of the rest cost
 * nothing.
 */
export function checkKeys<T extends KeyTable>(
  table: T,
  source: Readonly<Record<string, unknown>>,
  at: FieldPath,
  context: CheckContext,
): CheckedKeys<T> {
  const spellings = cachedSpellings(table);
  const values = new Map<string, unknown>();
  const paths = new Map<string, FieldPath>();
  for (const [written, value] of Object.entries(source)) {
    const path = [...at, written];
    const name = spellings.get(written);
    const spec = name === undefined ? undefined : table[name];
    if (name === undefined || spec === undefined) {
      context.report(context.unknownKeySeverity, path, unknownKey(written, Object.keys(table)));
      continue;
    }
    if (value === null || value === undefined) continue;
    const earlier = paths.get(name)?.at(-1);
    if (earlier !== undefined) {
      const both = `${quoteName(String(earlier))} and ${quoteName(written)}`;
      context.report("error", path, `${both} are two spellings of one key: keep one`);
      continue;
    }
    paths.set(name, path);
    const checked = checkValue(spec.shape, value, path, context);
    if (checked !== undefined) values.set(name, checked);
  }
  return { values: Object.fromEntries(values) as ValuesOf<T>, paths };
}

function unknownKey(written: string, known: readonly string[]): string {
  const [suggestion] = closest(written.slice(0, 64).replaceAll("_", ""), known, 1);
  const hint = suggestion === undefined ? "" : `. Did you mean "${suggestion}"?`;
  return `unknown key ${quoteName(written)}${hint}`;
}

/** Returns the canonical value, or undefined after reporting its flaw. */
function checkValue(
  shape: ValueShape,
  value: unknown,
  path: FieldPath,
  context: CheckContext,
): unknown {
  const fail = (message: string): undefined => {
    context.report("error", path, `${quotePath(path)} ${message}`);
  };
  const wrongType = (): undefined => fail(`must be ${describeShape(shape)}`);
  switch (shape.type) {
    case "flag":
      return typeof value === "boolean" ? value : wrongType();
    case "number":
      return isInRange(shape, value) ? (value === Infinity ? 0 : value) : wrongType();
    case "choice":
      return findChoice(shape, value) ?? wrongType();
    case "text": {
      if (!isText(value, shape.acceptsSecrets)) return wrongType();
      const text = reveal(value);
      if (text.trim() === "") return fail("must not be empty");
      if (text.includes("\0")) return fail("must not hold a NUL character");
      if (text.length > (shape.maxLength ?? maxTextLength)) return fail("is too long");
      const matches = shape.pattern === undefined || new RegExp(shape.pattern, "u").test(text);
      return matches ? value : wrongType();
    }
    case "list":
      if (!Array.isArray(value)) return wrongType();
      return checkItems(shape, value, path, context) ? [...(value as unknown[])] : undefined;
    case "map":
      if (!isRecord(value)) return wrongType();
      return checkEntries(shape, value, path, context) ? { ...value } : undefined;
    case "object": {
      if (!isRecord(value)) return wrongType();
      const inner =
        shape.isClosed === true ? { ...context, unknownKeySeverity: "error" as const } : context;
      return checkKeys(shape.keys, value, path, inner).values;
    }
    case "objects":
      if (!Array.isArray(value) || !value.every(isRecord)) return wrongType();
      return value.map(
        (item, index): unknown => checkKeys(shape.keys, item, [...path, index], context).values,
      );
    case "either": {
      const option = shape.shapes.find((candidate) => acceptsType(candidate, value));
      return option === undefined ? wrongType() : checkValue(option, value, path, context);
    }
  }
}

/** Whether `value` has the JavaScript type of `shape`; the options of an `either` are told apart by it. */
function acceptsType(shape: ValueShape, value: unknown): boolean {
  switch (shape.type) {
    case "text":
      return isText(value, shape.acceptsSecrets);
    case "choice":
      return typeof value === "string";
    case "flag":
      return typeof value === "boolean";
    case "number":
      return typeof value === "number";
    case "list":
    case "objects":
      return Array.isArray(value);
    case "map":
    case "object":
      return isRecord(value);
    case "either":
      return shape.shapes.some((option) => acceptsType(option, value));
  }
}

function isInRange(shape: NumberShape, value: unknown): value is number {
  if (typeof value !== "number" || Number.isNaN(value)) return false;
  if (value === Infinity) return shape.unit !== undefined;
  if (shape.isInteger === true && !Number.isInteger(value)) return false;
  return value >= shape.minimum && value <= (shape.maximum ?? Number.MAX_SAFE_INTEGER);
}

/** Unifies the spelling of a choice; hosts write `streamableHttp`, `streamable-http` or `STREAMABLE_HTTP`. */
function fold(text: string): string {
  return text.toLowerCase().replaceAll(/[-_\s]/g, "");
}

function findChoice(shape: ChoiceShape, value: unknown): string | undefined {
  if (typeof value !== "string") return undefined;
  return shape.values.find((option) => fold(option) === fold(value));
}

function isText(value: unknown, acceptsSecrets = false): value is ConfigText {
  return typeof value === "string" || (acceptsSecrets && SecretText.is(value));
}

function checkItems(
  shape: ListShape,
  items: readonly unknown[],
  path: FieldPath,
  context: CheckContext,
): boolean {
  let isValid = true;
  for (const [index, item] of items.entries()) {
    const isString = isText(item, shape.acceptsSecrets);
    if (isString && !reveal(item).includes("\0")) continue;
    const itemPath = [...path, index];
    const message = isString ? "must not hold a NUL character" : "must be a string";
    context.report("error", itemPath, `${quotePath(itemPath)} ${message}`);
    isValid = false;
  }
  return isValid;
}

function checkEntries(
  shape: MapShape,
  source: Readonly<Record<string, unknown>>,
  path: FieldPath,
  context: CheckContext,
): boolean {
  const names = new RegExp(shape.namePattern, "u");
  const values = shape.valuePattern === undefined ? undefined : new RegExp(shape.valuePattern, "u");
  let isValid = true;
  for (const [name, value] of Object.entries(source)) {
    const entryPath = [...path, name];
    let message: string | undefined;
    if (!names.test(name)) message = "is not a possible name";
    else if (!isText(value, true)) message = "must be a string";
    else if (reveal(value).includes("\0") || values?.test(reveal(value)) === false)
      message = "holds a character that is not allowed there";
    if (message === undefined) continue;
    context.report("error", entryPath, `${quotePath(entryPath)} ${message}`);
    isValid = false;
  }
  return isValid;
}

/** Writes a path inside an entry as people do: `"env.TOKEN"`. */
function quotePath(path: FieldPath): string {
  return quoteName(path.join("."));
}
