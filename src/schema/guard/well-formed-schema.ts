import { isJsonObject } from "../../text/json-object.ts";
import { arrayForm, isJsonSchema, type JsonSchemaObject } from "./json-schema.ts";
import { readKeywords } from "./keyword-rules.ts";
import { followPointer } from "./schema-references.ts";

type Writable = Record<string, unknown>;

const maxDepth = 64;

/**
 * Keywords that the copy leaves out. Addresses and anchors serve only references that are not pointers, and
 * two equal ones make a schema invalid.
 */
const leftOut: ReadonlySet<string> = new Set(
  "$schema $vocabulary $id id $anchor $dynamicAnchor $dynamicRef $recursiveAnchor $recursiveRef contentSchema".split(
    " ",
  ),
);

/** Keywords that check nothing, each with the type that its value must have. */
const annotations: ReadonlyMap<string, "string" | "boolean" | "array"> = new Map([
  ...["title", "description", "$comment", "format", "contentEncoding", "contentMediaType"].map(
    (keyword) => [keyword, "string"] as const,
  ),
  ...["deprecated", "readOnly", "writeOnly"].map((keyword) => [keyword, "boolean"] as const),
  ["examples", "array"],
]);

/**
 * Copies a schema into a form that the 2020-12 meta-schema accepts, for model providers: one wrong keyword
 * in one tool makes them refuse the whole request. Older forms are translated; malformed keywords, addresses
 * and pointers to nothing are left out, so the copy may accept more values than the original.
 */
export function wellFormedSchema(schema: JsonSchemaObject): JsonSchemaObject {
  const referring: Writable[] = [];
  const root = wellFormedPart(schema, referring, 0);
  for (const part of referring) if (!leadsSomewhere(root, part["$ref"])) delete part["$ref"];
  return root;
}

function wellFormedPart(schema: JsonSchemaObject, referring: Writable[], depth: number): Writable {
  if (depth > maxDepth) return {};
  const { subschemas, malformed } = readKeywords(schema, "2020-12");
  const refused = new Set(malformed);
  // The key of a subschema tells whether its keyword holds one schema, a list or a map.
  const holders = new Map(subschemas.map(({ keyword, key }) => [keyword, typeof key]));
  const inner = (value: unknown): unknown => {
    if (typeof value === "boolean") return value;
    return isJsonObject(value) ? wellFormedPart(value, referring, depth + 1) : {};
  };
  const entries = Object.entries(schema)
    .filter(([keyword, value]) => !refused.has(keyword) && isAllowed(keyword, value))
    .map(([keyword, value]): readonly [string, unknown] => {
      const form = holders.get(keyword);
      if (form === undefined) return [keyword, withoutRepeats(keyword, value)];
      return [keyword, form === "undefined" ? inner(value) : eachOf(keyword, value, inner)];
    });
  // Unlike assignment, `fromEntries` keeps a property called `__proto__` a property.
  const part: Writable = Object.fromEntries(entries);
  useCurrentTuple(schema, part);
  useCurrentLimit(part, "minimum", "exclusiveMinimum");
  useCurrentLimit(part, "maximum", "exclusiveMaximum");
  if (part["$ref"] !== undefined) referring.push(part);
  return part;
}

function isAllowed(keyword: string, value: unknown): boolean {
  if (leftOut.has(keyword)) return false;
  if (keyword === "enum") return Array.isArray(value) && value.length > 0;
  if (keyword === "pattern") return isPattern(String(value));
  const type = annotations.get(keyword);
  if (type !== undefined) return type === (Array.isArray(value) ? "array" : typeof value);
  // JSON would turn a number that is not finite into null.
  return typeof value !== "number" || Number.isFinite(value);
}

function isPattern(source: string): boolean {
  try {
    return new RegExp(source) instanceof RegExp;
  } catch {
    return false;
  }
}

/** Keywords that map a property to a list of names; the meta-schema forbids repeated names. */
const namesByProperty: ReadonlySet<string> = new Set(["dependencies", "dependentRequired"]);

/**
 * Copies the list or map of a keyword and applies `inner` to each schema in it; some maps hold lists of
 * names too.
 */
function eachOf(keyword: string, value: unknown, inner: (entry: unknown) => unknown): unknown {
  if (Array.isArray(value)) return value.map((entry) => inner(entry));
  return Object.fromEntries(
    Object.entries(value as JsonSchemaObject)
      .filter(([key]) => keyword !== "patternProperties" || isPattern(key))
      .map(([key, entry]) => [
        key,
        namesByProperty.has(keyword) && Array.isArray(entry) ? [...new Set(entry)] : inner(entry),
      ]),
  );
}

function withoutRepeats(keyword: string, value: unknown): unknown {
  if (namesByProperty.has(keyword)) return eachOf(keyword, value, (entry) => entry);
  const isList = keyword === "type" || keyword === "required";
  return isList && Array.isArray(value) ? [...new Set(value)] : value;
}

/** Renames the older tuple form: a list of `items` becomes `prefixItems`, `additionalItems` becomes `items`. */
function useCurrentTuple(schema: JsonSchemaObject, part: Writable): void {
  const { additionalItems, items } = part;
  delete part["additionalItems"];
  if (arrayForm(schema).prefixKeyword === "items") {
    delete part["items"];
    part["prefixItems"] = items;
    if (additionalItems !== undefined) part["items"] = additionalItems;
  }
  const { prefixItems } = part;
  if (Array.isArray(prefixItems) && prefixItems.length === 0) delete part["prefixItems"];
}

/** Translates the exclusive limit of draft 4, which is `true` beside the number. */
function useCurrentLimit(part: Writable, keyword: string, exclusive: string): void {
  const { [keyword]: limit, [exclusive]: isExclusive } = part;
  if (typeof isExclusive !== "boolean") return;
  delete part[exclusive];
  if (!isExclusive || limit === undefined) return;
  delete part[keyword];
  part[exclusive] = limit;
}

function leadsSomewhere(root: JsonSchemaObject, reference: unknown): boolean {
  if (reference === "#") return true;
  if (typeof reference !== "string" || !reference.startsWith("#/")) return false;
  try {
    return isJsonSchema(followPointer(root, decodeURIComponent(reference.slice(1))));
  } catch {
    // The fragment cannot be decoded.
    return false;
  }
}
