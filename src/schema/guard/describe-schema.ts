import { isJsonObject } from "../../text/json-object.ts";
import { boundedLine } from "../../text/untrusted/bounded-text.ts";

const maxAlternatives = 6;
const maxDepth = 4;

/**
 * Describes a schema as a short type for error messages: `number`, `string[]`, `"open" | "closed"`, `User
 * | null`.
 */
export function describeSchema(schema: unknown, depth = 0): string {
  if (schema === false) return "nothing";
  if (!isJsonObject(schema) || depth > maxDepth) return "any";
  const { const: constant, enum: values, type, anyOf, oneOf, allOf, $ref } = schema;
  if (constant !== undefined) return describeLiteral(constant);
  if (Array.isArray(values)) return describeLiterals(values);
  if (Array.isArray(type))
    return joinAlternatives(firstFew(type).map((name) => describeType(name, schema, depth)));
  if (typeof type === "string") return describeType(type, schema, depth);
  const alternatives = Array.isArray(anyOf) ? anyOf : oneOf;
  if (Array.isArray(alternatives))
    return joinAlternatives(
      firstFew(alternatives).map((entry) => describeSchema(entry, depth + 1)),
    );
  if (typeof $ref === "string") return describeReference($ref);
  if (Array.isArray(allOf)) {
    const described = firstFew(allOf).map((entry) => describeSchema(entry, depth + 1));
    return described.find((text) => text !== "any") ?? "any";
  }
  return isJsonObject(schema["properties"]) ? "object" : "any";
}

/** Shortens a JSON value from a schema to one line that is safe to show. */
export function describeLiteral(value: unknown): string {
  const text = JSON.stringify(value) ?? "null";
  return boundedLine(text, 40);
}

export function describeLiterals(values: readonly unknown[]): string {
  if (values.length === 0) return "nothing";
  return joinAlternatives(firstFew(values).map((value) => describeLiteral(value)));
}

/** Keeps one value more than is shown: the extra one tells `joinAlternatives` to end with `…`. */
function firstFew(values: readonly unknown[]): readonly unknown[] {
  return values.slice(0, maxAlternatives + 1);
}

export function joinAlternatives(texts: readonly string[]): string {
  const distinct = [...new Set(texts)];
  const shown = distinct.slice(0, maxAlternatives);
  if (distinct.length > shown.length) shown.push("…");
  return shown.join(" | ");
}

function describeType(
  name: unknown,
  schema: Readonly<Record<string, unknown>>,
  depth: number,
): string {
  const text = boundedLine(String(name), 40);
  if (name !== "array" || !isJsonObject(schema["items"])) return text;
  const item = describeSchema(schema["items"], depth + 1);
  return item.includes(" ") ? `(${item})[]` : `${item}[]`;
}

/** Names a reference by its last step: `#/$defs/User` reads as `User`. */
function describeReference(reference: string): string {
  const name = reference.slice(reference.lastIndexOf("/") + 1).replace(/^#/, "");
  return boundedLine(name, 40) || "any";
}
