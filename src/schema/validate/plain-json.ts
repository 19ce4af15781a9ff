import { defaultLimits } from "../../config/keys/limits.ts";
import {
  invalid,
  Trace,
  type ValidationProblem,
  type Verdict,
} from "../compile/validation-failure.ts";

export interface PlainJsonLimits {
  readonly maxDepth: number;
  /** The number of objects and lists in the whole value. */
  readonly maxParts: number;
}

const defaults: PlainJsonLimits = { maxDepth: defaultLimits.maxJsonDepth, maxParts: 1_000_000 };

/**
 * Checks that a value survives JSON unchanged. JSON drops functions, turns `NaN` into `null` and a date
 * into text, and fails on a cycle; each of these is a failure here. A property that is `undefined`
 * counts as absent, as it does in JSON.
 */
export function checkPlainJson(value: unknown, limits: PlainJsonLimits = defaults): Verdict {
  const { maxDepth, maxParts } = limits;
  const offence = findOffence(value, 0, { maxDepth, maxParts, parts: 0 });
  if (offence === undefined) return undefined;
  const problems: ValidationProblem[] = [];
  let trace = Trace.into(problems);
  for (const key of offence.keys.toReversed()) trace = trace.at(key);
  trace.report("json", offence.what);
  return invalid(problems);
}

interface Search extends PlainJsonLimits {
  parts: number;
}

interface Offence {
  readonly what: string;
  /** The path to the offending part, innermost key first. */
  readonly keys: (string | number)[];
}

/**
 * Searches depth first. Cycles need no bookkeeping: the limit on depth ends them, and the limit on parts
 * ends wide ones.
 */
function findOffence(value: unknown, depth: number, search: Search): Offence | undefined {
  if (typeof value === "string" || typeof value === "boolean" || value === null) return undefined;
  if (typeof value === "number")
    return Number.isFinite(value) ? undefined : { what: "is not a finite number", keys: [] };
  if (typeof value !== "object")
    return { what: `is of type ${typeof value}, which JSON does not have`, keys: [] };
  if (depth >= search.maxDepth)
    return { what: `is nested deeper than ${search.maxDepth} levels or contains itself`, keys: [] };
  search.parts += 1;
  if (search.parts > search.maxParts)
    return { what: `has more than ${search.maxParts} parts`, keys: [] };
  return Array.isArray(value)
    ? findInList(value, depth, search)
    : findInObject(value as Readonly<Record<string, unknown>>, depth, search);
}

function findInList(items: readonly unknown[], depth: number, search: Search): Offence | undefined {
  for (let index = 0; index < items.length; index += 1) {
    const offence = findOffence(items[index], depth + 1, search);
    if (offence === undefined) continue;
    offence.keys.push(index);
    return offence;
  }
  return undefined;
}

function findInObject(
  object: Readonly<Record<string, unknown>>,
  depth: number,
  search: Search,
): Offence | undefined {
  // A plain object of another realm has a prototype that has none itself.
  const prototype: unknown = Object.getPrototypeOf(object);
  const isOwnRealm = prototype === Object.prototype || prototype === null;
  if (!isOwnRealm && Object.getPrototypeOf(prototype) !== null)
    return { what: "is not a plain object", keys: [] };
  // Values are read without their keys: every call runs this, and lookups by key are slow over objects of
  // many shapes.
  const children: readonly unknown[] = Object.values(object);
  for (let index = 0; index < children.length; index += 1) {
    const child = children[index];
    const offence = child === undefined ? undefined : findOffence(child, depth + 1, search);
    if (offence === undefined) continue;
    offence.keys.push(Object.keys(object)[index] as string);
    return offence;
  }
  return undefined;
}

/** Parses JSON text; the value is frozen at every depth. */
export function parseFrozen(text: string): unknown {
  return deepFreeze(JSON.parse(text) as unknown);
}

/**
 * Copies a value that `checkPlainJson` accepts; the copy is frozen and shares nothing with the caller's
 * object.
 */
export function frozenCopy<T>(value: T): T {
  return parseFrozen(JSON.stringify(value)) as T;
}

function deepFreeze<T>(value: T): T {
  if (typeof value === "object" && value !== null && !Object.isFrozen(value)) {
    Object.freeze(value);
    for (const inner of Object.values(value)) deepFreeze(inner);
  }
  return value;
}
