import type { Meter } from "./meter.ts";

/** Reads an own property; undefined when it is absent or only the prototype has it. */
export function readOwn(object: Readonly<Record<string, unknown>>, key: string): unknown {
  return Object.hasOwn(object, key) ? object[key] : undefined;
}

/** Lists the keys that JSON would write: those whose value is not undefined. */
export function definedKeys(object: Readonly<Record<string, unknown>>, meter: Meter): string[] {
  const keys = Object.keys(object).filter((key) => object[key] !== undefined);
  meter.spendOn(keys.length);
  return keys;
}

/** Compares two JSON values by their own properties, whatever the order of the keys. */
export function isEqualJson(a: unknown, b: unknown, meter: Meter): boolean {
  if (a === b) return true;
  if (typeof a !== "object" || typeof b !== "object" || a === null || b === null) return false;
  meter.spend(1);
  if (Array.isArray(a) || Array.isArray(b)) {
    if (!Array.isArray(a) || !Array.isArray(b) || a.length !== b.length) return false;
    return a.every((item, index) => isEqualJson(item, b[index], meter));
  }
  const left = a as Readonly<Record<string, unknown>>;
  const right = b as Readonly<Record<string, unknown>>;
  const keys = definedKeys(left, meter);
  if (keys.length !== definedKeys(right, meter).length) return false;
  return keys.every((key) => isEqualJson(left[key], readOwn(right, key), meter));
}

/** The cost of writing one value as text, in steps of a check. */
const textSteps = 20;

/** Writes a value as text that is the same for two values exactly when they are equal. */
function identityText(value: unknown, meter: Meter): string {
  meter.spend(typeof value === "string" ? textSteps + (value.length >> 3) : textSteps);
  if (Array.isArray(value)) return `[${value.map((item) => identityText(item, meter)).join(",")}]`;
  if (typeof value !== "object" || value === null) return JSON.stringify(value) ?? "null";
  const object = value as Readonly<Record<string, unknown>>;
  const keys = definedKeys(object, meter);
  keys.sort();
  return `{${keys.map((key) => `${JSON.stringify(key)}:${identityText(object[key], meter)}`).join(",")}}`;
}

/** Finds duplicates in time linear in the size of the array, because it compares texts and not pairs. */
export function hasDuplicates(items: readonly unknown[], meter: Meter): boolean {
  const seen = new Set<unknown>();
  for (const item of items) {
    meter.spend(1);
    const isScalar = item === null || typeof item === "number" || typeof item === "boolean";
    const identity = isScalar ? item : identityText(item, meter);
    if (seen.has(identity)) return true;
    seen.add(identity);
  }
  return false;
}
