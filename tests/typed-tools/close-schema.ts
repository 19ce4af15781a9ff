import { isJsonObject } from "../../src/text/json-object.ts";

type Schema = Readonly<Record<string, unknown>>;

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
  return { unevaluatedProperties: false, ...closeInside(joined(schema)) };
}

const joinable: ReadonlySet<string> = new Set(
  "type properties additionalProperties items allOf".split(" "),
);

/** What several parts say about the same field, or the same items, in one place: closed apart, each would refuse what the others name. */
function joined(schema: Schema): Schema {
  const parts = partsOf(schema);
  const isPlain = parts.every((part) =>
    Object.keys(part).every((keyword) => joinable.has(keyword)),
  );
  if (!isPlain || parts.length < 2) return schema;
  const said = (keyword: string): readonly unknown[] =>
    parts.flatMap((part) => (keyword in part ? [part[keyword]] : []));
  const names = new Set(
    said("properties").flatMap((properties) => Object.keys(properties as Schema)),
  );
  const about = (name: string): readonly unknown[] =>
    parts.flatMap((part) => {
      const { [name]: field = part["additionalProperties"] } = (part["properties"] ?? {}) as Schema;
      return field === undefined ? [] : [field];
    });
  const all = (keyword: string): object =>
    said(keyword).length === 0 ? {} : { [keyword]: { allOf: said(keyword) } };
  return {
    allOf: said("type").map((type) => ({ type })),
    properties: Object.fromEntries([...names].map((name) => [name, { allOf: about(name) }])),
    ...all("additionalProperties"),
    ...all("items"),
  };
}

function partsOf(schema: Schema): readonly Schema[] {
  const inside = (schema["allOf"] ?? []) as readonly unknown[];
  return [schema, ...inside.filter((part) => isJsonObject(part)).flatMap((part) => partsOf(part))];
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
