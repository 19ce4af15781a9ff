import { isJsonObject } from "../../text/json-object.ts";
import {
  arrayForm,
  type Dialect,
  isJsonSchema,
  type JsonSchemaObject,
  refHidesSiblings,
} from "./json-schema.ts";

/** The part of a value that a subschema applies to; `none` is for `$defs`, which apply only by reference. */
export type Place = "same" | "property" | "name" | "item" | "none";

export interface Subschema {
  readonly keyword: string;
  /** The property name, pattern or position under the keyword; undefined when the keyword holds one schema. */
  readonly key: string | number | undefined;
  /** The value at this place. It need not be a schema. */
  readonly schema: unknown;
  readonly place: Place;
}

interface KeywordRule {
  readonly isValid: (value: unknown) => boolean;
  /** The part of a value that the schemas inside the keyword apply to; absent for keywords without schemas. */
  readonly place?: Place;
  readonly since?: "2019-09" | "2020-12";
}

type Shape = KeywordRule["isValid"];

const typeNames: ReadonlySet<unknown> = new Set(
  "null boolean object array number string integer".split(" "),
);
const isType: Shape = (value) =>
  Array.isArray(value)
    ? value.length > 0 && value.every((name) => typeNames.has(name))
    : typeNames.has(value);
const isText: Shape = (value) => typeof value === "string";
const isFlag: Shape = (value) => typeof value === "boolean";
const isNumber: Shape = (value) => typeof value === "number";
const isPositive: Shape = (value) => typeof value === "number" && value > 0;
/** Draft 4 writes `exclusiveMinimum: true` beside `minimum`; later drafts write the number. */
const isLimit: Shape = (value) => typeof value === "number" || typeof value === "boolean";
const isCount: Shape = (value) => Number.isInteger(value) && (value as number) >= 0;
const isNames: Shape = (value) =>
  Array.isArray(value) && value.every((entry) => typeof entry === "string");
const isMapOfNames: Shape = (value) =>
  isJsonObject(value) && Object.values(value).every((entry) => isNames(entry));
const isDependencies: Shape = (value) =>
  isJsonObject(value) &&
  Object.values(value).every((entry) => isNames(entry) || isJsonSchema(entry));
/** Accepts a list of schemas only: dropping one wrong entry would change what `anyOf` and its kind mean. */
const isSchemas: Shape = (value) =>
  Array.isArray(value) && value.length > 0 && value.every((entry) => isJsonSchema(entry));
const isItems: Shape = (value) => isJsonSchema(value) || Array.isArray(value);

const rules: ReadonlyMap<string, KeywordRule> = new Map<string, KeywordRule>([
  ["type", { isValid: isType }],
  ["enum", { isValid: Array.isArray }],
  ["multipleOf", { isValid: isPositive }],
  ["minimum", { isValid: isNumber }],
  ["maximum", { isValid: isNumber }],
  ["exclusiveMinimum", { isValid: isLimit }],
  ["exclusiveMaximum", { isValid: isLimit }],
  ["minLength", { isValid: isCount }],
  ["maxLength", { isValid: isCount }],
  ["pattern", { isValid: isText }],
  ["minItems", { isValid: isCount }],
  ["maxItems", { isValid: isCount }],
  ["uniqueItems", { isValid: isFlag }],
  ["minContains", { isValid: isCount, since: "2019-09" }],
  ["maxContains", { isValid: isCount, since: "2019-09" }],
  ["minProperties", { isValid: isCount }],
  ["maxProperties", { isValid: isCount }],
  ["required", { isValid: isNames }],
  ["dependentRequired", { isValid: isMapOfNames, since: "2019-09" }],
  ["$ref", { isValid: isText }],
  ["$dynamicRef", { isValid: isText, since: "2020-12" }],
  ["allOf", { isValid: isSchemas, place: "same" }],
  ["anyOf", { isValid: isSchemas, place: "same" }],
  ["oneOf", { isValid: isSchemas, place: "same" }],
  ["not", { isValid: isJsonSchema, place: "same" }],
  ["if", { isValid: isJsonSchema, place: "same" }],
  ["then", { isValid: isJsonSchema, place: "same" }],
  ["else", { isValid: isJsonSchema, place: "same" }],
  ["dependentSchemas", { isValid: isJsonObject, place: "same", since: "2019-09" }],
  ["dependencies", { isValid: isDependencies, place: "same" }],
  ["properties", { isValid: isJsonObject, place: "property" }],
  ["patternProperties", { isValid: isJsonObject, place: "property" }],
  ["additionalProperties", { isValid: isJsonSchema, place: "property" }],
  ["unevaluatedProperties", { isValid: isJsonSchema, place: "property", since: "2019-09" }],
  ["propertyNames", { isValid: isJsonSchema, place: "name" }],
  ["contains", { isValid: isJsonSchema, place: "item" }],
  ["items", { isValid: isItems, place: "item" }],
  ["prefixItems", { isValid: Array.isArray, place: "item", since: "2020-12" }],
  ["additionalItems", { isValid: isJsonSchema, place: "item" }],
  ["unevaluatedItems", { isValid: isJsonSchema, place: "item", since: "2019-09" }],
  ["$defs", { isValid: isJsonObject, place: "none" }],
  ["definitions", { isValid: isJsonObject, place: "none" }],
]);
const maps: ReadonlySet<string> = new Set(
  "dependentSchemas dependencies properties patternProperties $defs definitions".split(" "),
);

export interface KeywordReading {
  /** The values at every place where a schema is expected, except under malformed keywords. */
  readonly subschemas: readonly Subschema[];
  /**
   * Keywords whose value has the wrong form. The server checks them instead of the host, and the tool stays
   * usable: hand-written schemas are full of `"required": true` and `"type": "any"`.
   */
  readonly malformed: readonly string[];
}

const empty: KeywordReading = { subschemas: [], malformed: [] };

/**
 * Reads one schema object by the rules of `dialect`. Unknown keywords are ignored, as the specification
 * asks.
 */
export function readKeywords(schema: JsonSchemaObject, dialect: Dialect): KeywordReading {
  const isReference = refHidesSiblings(dialect) && typeof schema["$ref"] === "string";
  let subschemas: Subschema[] | undefined;
  let malformed: string[] | undefined;
  for (const keyword of Object.keys(schema)) {
    const rule = rules.get(keyword);
    if (rule === undefined || !isKnown(rule, dialect)) continue;
    if (isReference && rule.place !== "none") continue;
    const value = schema[keyword];
    if (!rule.isValid(value)) (malformed ??= []).push(keyword);
    else if (rule.place !== undefined) collect(schema, keyword, rule.place, (subschemas ??= []));
  }
  if (subschemas === undefined && malformed === undefined) return empty;
  return { subschemas: subschemas ?? empty.subschemas, malformed: malformed ?? empty.malformed };
}

function isKnown({ since }: KeywordRule, dialect: Dialect): boolean {
  return since === undefined || dialect === "2020-12" || dialect === since;
}

function collect(
  schema: JsonSchemaObject,
  keyword: string,
  place: Place,
  found: Subschema[],
): void {
  const value = schema[keyword];
  // `additionalItems` applies only beside a list of `items`.
  if (keyword === "additionalItems" && arrayForm(schema).restKeyword !== keyword) return;
  if (keyword === "prefixItems" && arrayForm(schema).prefixKeyword !== keyword) return;
  if (Array.isArray(value)) {
    for (const [key, entry] of value.entries()) found.push({ keyword, key, schema: entry, place });
  } else if (maps.has(keyword)) {
    const map = value as Readonly<Record<string, unknown>>;
    for (const key of Object.keys(map)) {
      const entry = map[key];
      // `dependencies` may hold lists of property names beside schemas.
      if (keyword !== "dependencies" || !Array.isArray(entry))
        found.push({ keyword, key, schema: entry, place });
    }
  } else {
    found.push({ keyword, key: undefined, schema: value, place });
  }
}
