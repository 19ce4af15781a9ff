import { isJsonObject } from "../text/json-object.ts";
import { readOwn } from "./compile/json-values.ts";
import { followPointer } from "./guard/schema-references.ts";

/** Schemas looked at for one property; alternatives inside alternatives would multiply. */
const maxLooks = 100;

/**
 * The values that a schema lists for one of its properties: those of `enum` and `const`, and both of a boolean.
 * Empty where any other value may be right. They are suggestions: whether one of them fits is up to validation.
 */
export function listedValues(schema: unknown, key: string): readonly unknown[] {
  const properties = isJsonObject(schema) ? schema["properties"] : undefined;
  const declared = isJsonObject(properties) ? readOwn(properties, key) : undefined;
  return valuesOf(declared, { document: schema, looks: 0 }) ?? [];
}

interface Search {
  readonly document: unknown;
  looks: number;
}

/** Undefined for a schema that lists nothing. */
function valuesOf(schema: unknown, search: Search): readonly unknown[] | undefined {
  search.looks += 1;
  if (!isJsonObject(schema) || search.looks > maxLooks) return undefined;
  const { $ref, type, enum: values, anyOf, oneOf } = schema;
  if (Array.isArray(values)) return values;
  if (Object.hasOwn(schema, "const")) return [schema["const"]];
  if (type === "boolean") return [true, false];
  if (type === "null") return [null];
  if (typeof $ref === "string" && $ref.startsWith("#"))
    return valuesOf(followPointer(search.document, $ref.slice(1)), search);
  for (const alternatives of [anyOf, oneOf])
    if (Array.isArray(alternatives)) {
      const listed = alternatives.map((entry) => valuesOf(entry, search));
      // One alternative without a list allows everything.
      return listed.every((entry) => entry !== undefined) ? listed.flat() : undefined;
    }
  return undefined;
}
