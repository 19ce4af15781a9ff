import { isJsonObject } from "../../src/schema/json-schema.ts";

/** Keywords by what they hold: schemas for the value itself, or for its parts. */
const inPlace: ReadonlySet<string> = new Set("allOf anyOf oneOf then else".split(" "));
const inPlaceMaps: ReadonlySet<string> = new Set(["dependentSchemas", "$defs"]);
const parts: ReadonlySet<string> = new Set(
  "items prefixItems additionalItems additionalProperties unevaluatedProperties unevaluatedItems".split(
    " ",
  ),
);
const partMaps: ReadonlySet<string> = new Set(["properties", "patternProperties"]);

/**
 * The same schema without the silent leave to add fields: what it accepts has only fields that
 * something in the schema speaks of, at every depth. Such a value can be written down as a literal.
 */
export function closeSchema(schema: unknown): unknown {
  if (!isJsonObject(schema)) return schema;
  return { unevaluatedProperties: false, ...closeInside(schema) };
}

function closeInside(schema: unknown): object {
  if (!isJsonObject(schema)) return schema as never;
  const entries = Object.entries(schema).map(([keyword, value]): readonly [string, unknown] => {
    if (inPlace.has(keyword)) return [keyword, each(value, closeInside)];
    if (parts.has(keyword)) return [keyword, each(value, closeSchema)];
    if (inPlaceMaps.has(keyword)) return [keyword, eachEntry(value, closeInside)];
    return [keyword, partMaps.has(keyword) ? eachEntry(value, closeSchema) : value];
  });
  return Object.fromEntries(entries);
}

function each(value: unknown, close: (schema: unknown) => unknown): unknown {
  return Array.isArray(value) ? value.map((entry) => close(entry)) : close(value);
}

function eachEntry(value: unknown, close: (schema: unknown) => unknown): unknown {
  if (!isJsonObject(value)) return value;
  return Object.fromEntries(Object.entries(value).map(([key, entry]) => [key, close(entry)]));
}
