import { isJsonObject } from "../text/json-object.ts";
import { readOwn } from "./compile/json-values.ts";
import { followPointer } from "./guard/schema-references.ts";

/** Schemas looked at for one argument; alternatives inside alternatives would multiply. */
const maxLooks = 500;
const everyType = ["string", "number", "boolean", "null", "array", "object"] as const;
type TypeName = (typeof everyType)[number];

/**
 * The value that `key=text` on a command line means to this schema. Text stays text wherever the
 * schema allows a string or does not know the key; otherwise it is read as the type that is asked
 * for. Text that cannot be read stays text, so that validation says what was expected.
 */
export function coerceArgument(schema: unknown, key: string, text: string): unknown {
  const properties = isJsonObject(schema) ? schema["properties"] : undefined;
  const declared = isJsonObject(properties) ? readOwn(properties, key) : undefined;
  if (declared === undefined) return text;
  const types = typesOf(declared, { document: schema, looks: 0 });
  if (types.has("string")) return text;
  const value = readJson(text);
  if (value === undefined) return text;
  return types.has(typeName(value)) ? value : text;
}

function readJson(text: string): unknown {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return undefined;
  }
  // A whole number that JavaScript would change must not be sent changed.
  const isRounded =
    typeof value === "number" && /^-?\d+$/.test(text) && !Number.isSafeInteger(value);
  return isRounded ? undefined : value;
}

function typeName(value: unknown): TypeName {
  if (value === null) return "null";
  if (Array.isArray(value)) return "array";
  return typeof value as TypeName;
}

interface Search {
  readonly document: unknown;
  looks: number;
}

/** The types that a schema may accept; all of them when it does not say. */
function typesOf(schema: unknown, search: Search): ReadonlySet<TypeName> {
  search.looks += 1;
  if (!isJsonObject(schema) || search.looks > maxLooks) return new Set(everyType);
  const { $ref, type, enum: values, anyOf, oneOf, allOf } = schema;
  const found: ReadonlySet<TypeName>[] = [];
  if (typeof $ref === "string" && $ref.startsWith("#"))
    found.push(typesOf(followPointer(search.document, $ref.slice(1)), search));
  if (type !== undefined) found.push(new Set([type].flat().map((name) => declaredType(name))));
  if (Object.hasOwn(schema, "const")) found.push(new Set([typeName(schema["const"])]));
  if (Array.isArray(values)) found.push(new Set(values.map((value) => typeName(value))));
  for (const alternatives of [anyOf, oneOf])
    if (Array.isArray(alternatives))
      found.push(union(alternatives.map((entry) => typesOf(entry, search))));
  if (Array.isArray(allOf)) found.push(...allOf.map((entry) => typesOf(entry, search)));
  return new Set(everyType.filter((name) => found.every((types) => types.has(name))));
}

function declaredType(name: unknown): TypeName {
  return name === "integer" ? "number" : (name as TypeName);
}

function union(sets: readonly ReadonlySet<TypeName>[]): ReadonlySet<TypeName> {
  return new Set(sets.flatMap((types) => [...types]));
}
