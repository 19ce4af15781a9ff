import { defaultLimits } from "../config/keys/limits.ts";
import { invalid } from "../schema/compile/validation-failure.ts";
import { checkPlainJson } from "../schema/validate/plain-json.ts";
import type { ToolArguments } from "./call-contract.ts";
import type { CallRecord } from "./call-events.ts";

const unreadable = () =>
  invalid([{ path: "", keyword: "json", message: "the arguments cannot be read as plain JSON" }]);

/**
 * Copies the arguments of a call when it is made. The caller's object may change at any time, by a
 * getter even while it is read: each part of it is read once, `toJSON` is never called, and the copy is
 * what is checked, shown to a person, sent, sent again and recorded. For arguments that are no plain
 * JSON it sets `argumentsProblem` instead.
 */
export function copyArguments(record: CallRecord): void {
  const copying: Copying = { parts: 0, isPlain: true };
  try {
    const args = copy(record.args, 0, copying);
    if (copying.isPlain) {
      record.args = args as ToolArguments;
      record.argumentsText = JSON.stringify(args);
    } else {
      record.argumentsProblem = checkPlainJson(args) ?? unreadable();
    }
  } catch {
    // Reading an object may run code of the caller.
    record.argumentsProblem = unreadable();
  }
}

interface Copying {
  /** Objects and lists so far. */
  parts: number;
  /** Everything so far can be written as JSON. */
  isPlain: boolean;
}

const { maxJsonDepth: maxDepth } = defaultLimits;
const maxParts = 1_000_000;

/** Replaces an object with a prototype of its own, which could change between two reads. */
const notPlain: unknown = Object.freeze(Object.create({}));

// Every call comes through here: one walk copies and checks.
function copy(value: unknown, depth: number, copying: Copying): unknown {
  if (typeof value === "string" || typeof value === "boolean" || value === null) return value;
  if (typeof value === "object") return copyPart(value, depth, copying);
  if (typeof value !== "number" || !Number.isFinite(value)) copying.isPlain = false;
  return value;
}

function copyPart(part: object, depth: number, copying: Copying): unknown {
  copying.parts += 1;
  if (depth >= maxDepth || copying.parts > maxParts) {
    copying.isPlain = false;
    return {};
  }
  if (Array.isArray(part)) return copyList(part, depth, copying);
  // Objects of another realm have another prototype, but one that has none itself.
  const prototype: unknown = Object.getPrototypeOf(part);
  const isOwnRealm = prototype === Object.prototype || prototype === null;
  if (isOwnRealm || Object.getPrototypeOf(prototype) === null)
    return copyObject(part as Readonly<Record<string, unknown>>, depth, copying);
  copying.isPlain = false;
  return notPlain;
}

function copyList(items: readonly unknown[], depth: number, copying: Copying): unknown[] {
  const copied: unknown[] = [];
  const { length } = items;
  for (let index = 0; index < length && copying.isPlain; index += 1)
    copied.push(copy(items[index], depth + 1, copying));
  return copied;
}

function copyObject(
  object: Readonly<Record<string, unknown>>,
  depth: number,
  copying: Copying,
): Record<string, unknown> {
  const copied: Record<string, unknown> = {};
  const keys = Object.keys(object);
  for (let index = 0; index < keys.length && copying.isPlain; index += 1) {
    const key = keys[index] as string;
    const value = object[key];
    // As in JSON, a property that is undefined is absent.
    if (value === undefined) continue;
    const own = copy(value, depth + 1, copying);
    if (key === "__proto__") defineOwn(copied, key, own);
    else copied[key] = own;
  }
  return copied;
}

function defineOwn(object: object, key: string, value: unknown): void {
  const everything = { configurable: true, enumerable: true, writable: true };
  Object.defineProperty(object, key, { ...everything, value });
}
