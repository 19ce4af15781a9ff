import type { JsonSchemaObject } from "../schema/guard/json-schema.ts";
import { followPointer } from "../schema/guard/schema-references.ts";
import { wellFormedSchema } from "../schema/guard/well-formed-schema.ts";
import { isJsonObject, type JsonObject } from "../text/json-object.ts";
import { parseToolName } from "./tool-names.ts";

const maxDepth = 64;
/** What providers refuse at the top of a tool's schema, or what is written anew there. */
const unwantedAtTop: ReadonlySet<string> = new Set(
  "$schema $id id $ref $comment required anyOf oneOf allOf not enum const if then else".split(" "),
);
const schemaMaps: ReadonlySet<string> = new Set(["properties", "$defs", "definitions"]);
const schemaLists: ReadonlySet<string> = new Set(["anyOf", "oneOf", "allOf", "prefixItems"]);

/**
 * The input schema as LLM providers accept it: an object with properties at the top, no
 * alternatives there, no object without `properties` and no list without `items` below, and nothing
 * that the current dialect refuses. Only for showing to a model: arguments are validated against the
 * schema as the server wrote it, which is left untouched.
 */
export function toProviderSchema(schema: unknown): JsonSchemaObject {
  const root = isJsonObject(schema) ? schema : {};
  const { properties, required } = new FieldCollector(root).collect(root);
  const kept = Object.entries(root).filter(([keyword]) => !unwantedAtTop.has(keyword));
  const declared = [...required].filter((name) => Object.hasOwn(properties, name));
  const merged = fromEntries([
    ...kept,
    ["type", "object"],
    ["properties", properties],
    ...(declared.length === 0 ? [] : ([["required", declared]] as const)),
  ]);
  return complete(wellFormedSchema(merged), 0);
}

interface Fields {
  readonly properties: JsonObject;
  readonly required: ReadonlySet<string>;
}

const noFields: Fields = { properties: {}, required: new Set() };

/**
 * The fields of a schema and all its alternatives together: a model that sees too many is corrected
 * by validation, one that sees none cannot call at all.
 */
class FieldCollector {
  readonly #document: JsonObject;
  /** Each part counts once, however many alternatives lead to it. */
  readonly #visited = new Set<JsonObject>();

  constructor(document: JsonObject) {
    this.#document = document;
  }

  collect(schema: unknown, depth = 0): Fields {
    if (!isJsonObject(schema) || this.#visited.has(schema) || depth > maxDepth) return noFields;
    this.#visited.add(schema);
    const { properties, required, allOf, anyOf, oneOf, $ref } = schema;
    const fields = new Map(isJsonObject(properties) ? Object.entries(properties) : []);
    const names = new Set(strings(required));
    const add = (branch: Fields): void => {
      for (const [name, field] of Object.entries(branch.properties))
        if (!fields.has(name)) fields.set(name, field);
    };
    for (const entry of [...list(allOf), this.#resolve($ref)]) {
      const branch = this.collect(entry, depth + 1);
      add(branch);
      for (const name of branch.required) names.add(name);
    }
    for (const alternatives of [list(anyOf), list(oneOf)]) {
      const branches = alternatives.map((entry) => this.collect(entry, depth + 1));
      for (const branch of branches) add(branch);
      for (const name of branches[0]?.required ?? [])
        if (branches.every((branch) => branch.required.has(name))) names.add(name);
    }
    return { properties: fromEntries([...fields]), required: names };
  }

  #resolve(reference: unknown): unknown {
    if (typeof reference !== "string" || !reference.startsWith("#/")) return undefined;
    return followPointer(this.#document, reference.slice(1));
  }
}

function list(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}

function strings(value: unknown): readonly string[] {
  return list(value).filter((entry) => typeof entry === "string");
}

/** Fills in what providers insist on, all the way down. */
function complete(schema: JsonObject, depth: number): JsonObject {
  if (depth > maxDepth) return {};
  const inner = (value: unknown): unknown => {
    if (value === true) return {};
    return isJsonObject(value) ? complete(value, depth + 1) : value;
  };
  const entries = Object.entries(schema).map(([keyword, value]): readonly [string, unknown] => {
    if (keyword === "items") return [keyword, inner(value)];
    if (keyword === "additionalProperties" && isJsonObject(value)) return [keyword, inner(value)];
    if (schemaLists.has(keyword)) return [keyword, list(value).map((entry) => inner(entry))];
    if (!schemaMaps.has(keyword) || !isJsonObject(value)) return [keyword, value];
    return [keyword, mapValues(value, inner)];
  });
  const { type, properties, items, prefixItems } = schema;
  const isOf = (name: string): boolean => type === name || list(type).includes(name);
  if (isOf("object") && properties === undefined) entries.push(["properties", {}]);
  if (isOf("array") && items === undefined && prefixItems === undefined)
    entries.push(["items", {}]);
  return fromEntries(entries);
}

function mapValues(object: JsonObject, change: (value: unknown) => unknown): JsonObject {
  return fromEntries(Object.entries(object).map(([key, value]) => [key, change(value)] as const));
}

/** Unlike assignment, keeps a property called `__proto__` a property. */
function fromEntries(entries: readonly (readonly [string, unknown])[]): JsonObject {
  return Object.fromEntries(entries);
}

export interface ToolDefinition {
  readonly name: string;
  readonly description: string;
  readonly inputSchema: JsonObject;
}

/** A tool as its own server would list it again: the name without our prefix. */
export function toMcpTool(tool: ToolDefinition): ToolDefinition {
  const { name, description, inputSchema } = tool;
  return { name: parseToolName(name).tool, description, inputSchema };
}
