/** An object of parsed JSON: any key may be there, `__proto__` as plain data included. */
export type JsonObject = Readonly<Record<string, unknown>>;

/**
 * Whether a value is an object and no list. For parsed JSON that says everything; of values a program
 * made it says nothing about their class, which `checkPlainJson` looks at.
 */
export function isJsonObject(value: unknown): value is JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
