import { isJsonObject } from "../../text/json-object.ts";
import { edgeOf, edgesOf, keywordOf } from "../compile/schema-check.ts";
import type { JsonSchema } from "../guard/json-schema.ts";
import type { SchemaGraph, SchemaNode } from "../guard/schema-graph.ts";
import { allKinds, kindBits, type Kinds, listedValues, partsInPlace } from "./accepted-kinds.ts";

/** Keywords that limit the shape of a value in a way no type can express, with the kinds of values they limit. */
const inexpressible: ReadonlyMap<string, Kinds> = new Map<string, Kinds>([
  ["not", allKinds],
  ["if", allKinds],
  ["dependentSchemas", kindBits.object],
  ["dependentRequired", kindBits.object],
  ["dependencies", kindBits.object],
  ["unevaluatedProperties", kindBits.object],
  ["propertyNames", kindBits.object],
  ["unevaluatedItems", kindBits.array],
  ["contains", kindBits.array],
]);

/** The keywords that a type for `kinds` of values leaves out, as a comment names them. */
export function inexpressibleIn(node: SchemaNode, kinds: Kinds): readonly string[] {
  const used = [...inexpressible].filter(
    ([keyword, about]) => (about & kinds) !== 0 && isEffective(node, keyword),
  );
  return used.map(([keyword]) => (keyword === "if" ? "if/then/else" : keyword));
}

function isEffective(node: SchemaNode, keyword: string): boolean {
  if (keyword === "dependentRequired" || keyword === "dependencies")
    return keywordOf(node, keyword) !== undefined;
  // Alone, a condition has no consequence.
  if (keyword === "if" && edgeOf(node, "then") === undefined && edgeOf(node, "else") === undefined)
    return false;
  if (keyword === "not" || keyword === "if") return edgeOf(node, keyword) !== undefined;
  return edgesOf(node, keyword).some(({ schema }) =>
    keyword === "propertyNames" ? !acceptsAnyName(schema) : schema !== true,
  );
}

/** Keywords whose schemas hold for some objects and not for others. */
const conditional = ["if", "then", "else", "not", "dependentSchemas", "dependencies"] as const;

/** Schemas visited for one object; beyond them fields of any name count as mentioned. */
const maxSteps = 1_000;

/** Fields that an object schema does not declare, but names in its conditions. */
export interface ConditionalFields {
  /** The schema of each field by its name; `true` where the condition has none for it. */
  readonly names: ReadonlyMap<string, JsonSchema>;
  /** Whether a condition is about fields of any name. */
  readonly isOpen: boolean;
}

/**
 * Collects the fields that the conditions of an object schema name. Whether and how a condition limits
 * them depends on the value, so a type can only say that they may be there. `throughParts` includes the
 * conditions of `allOf`, `anyOf`, `oneOf` and references.
 */
export function conditionalFields(
  graph: SchemaGraph,
  node: SchemaNode,
  throughParts: boolean,
): ConditionalFields {
  const collector = new FieldCollector(graph);
  collector.addConditions(node, throughParts);
  return collector;
}

class FieldCollector implements ConditionalFields {
  readonly names = new Map<string, JsonSchema>();
  readonly #graph: SchemaGraph;
  readonly #conditionsSeen = new Set<SchemaNode>();
  /** Schemas seen as they stand, and those seen inside of `not`. */
  readonly #schemasSeen = [new Set<SchemaNode>(), new Set<SchemaNode>()] as const;
  #steps = 0;
  #isOpen = false;

  constructor(graph: SchemaGraph) {
    this.#graph = graph;
  }

  get isOpen(): boolean {
    return this.#isOpen;
  }

  addConditions(node: SchemaNode, throughParts: boolean): void {
    if (!this.#isNew(node, this.#conditionsSeen)) return;
    if (!node.isReferenceOnly) {
      this.#addRulesForOthers(node);
      for (const keyword of conditional)
        for (const { schema, key } of edgesOf(node, keyword)) {
          if (typeof key === "string") this.#addName(key);
          this.#addAll(schema, keyword === "not");
        }
    }
    if (!throughParts) return;
    const { all, oneEach } = partsInPlace(node);
    for (const part of [...all, ...oneEach.flat()]) {
      const target = isJsonObject(part) ? this.#graph.nodes.get(part) : undefined;
      if (target !== undefined) this.addConditions(target, true);
    }
  }

  /** Adds every field of the same object that a schema names. */
  #addAll(schema: JsonSchema, isDenied: boolean): void {
    const node = isJsonObject(schema) ? this.#graph.nodes.get(schema) : undefined;
    if (node === undefined || !this.#isNew(node, this.#schemasSeen[isDenied ? 1 : 0])) return;
    for (const target of node.references) this.#addAll(target, isDenied);
    if (node.isReferenceOnly) return;
    this.#addRulesForOthers(node);
    const others = edgeOf(node, "additionalProperties");
    if (others !== undefined && others !== false) this.#isOpen = true;
    if (edgesOf(node, "patternProperties").length > 0) this.#isOpen = true;
    for (const edge of edgesOf(node, "properties")) this.#addName(String(edge.key), edge.schema);
    const required = keywordOf(node, "required");
    // A field that must not be required is not one to offer.
    if (!isDenied && Array.isArray(required)) this.#addNames(required as readonly string[]);
    for (const value of listedValues(node) ?? [])
      if (isJsonObject(value)) this.#addNames(Object.keys(value));
    for (const { keyword, key, place, schema: part } of node.edges) {
      if (place !== "same") continue;
      if (typeof key === "string") this.#addName(key);
      this.#addAll(part, isDenied !== (keyword === "not"));
    }
  }

  #addRulesForOthers(node: SchemaNode): void {
    const unevaluated = edgeOf(node, "unevaluatedProperties");
    if (unevaluated !== undefined && unevaluated !== false) this.#isOpen = true;
    if (edgeOf(node, "additionalProperties") === true) this.#isOpen = true;
    const nameRule = edgeOf(node, "propertyNames");
    if (nameRule !== undefined && !acceptsAnyName(nameRule)) this.#isOpen = true;
    for (const keyword of ["dependentRequired", "dependencies"]) {
      const needs = keywordOf(node, keyword);
      for (const [name, needed] of Object.entries(isJsonObject(needs) ? needs : {})) {
        if (!Array.isArray(needed)) continue;
        this.#addName(name);
        this.#addNames(needed as readonly string[]);
      }
    }
  }

  #addNames(names: readonly string[]): void {
    for (const name of names) this.#addName(name);
  }

  #addName(name: string, schema: JsonSchema = true): void {
    const known = this.names.get(name);
    if (known === undefined || known === true) this.names.set(name, schema);
    if (this.names.size > maxSteps) this.#isOpen = true;
  }

  #isNew(node: SchemaNode, seen: Set<SchemaNode>): boolean {
    if (seen.has(node) || this.#steps > maxSteps) return false;
    seen.add(node);
    this.#steps += 1;
    if (this.#steps > maxSteps) this.#isOpen = true;
    return true;
  }
}

/** Whether `propertyNames` allows any name: names are strings, so `{ "type": "string" }` does. */
function acceptsAnyName(schema: JsonSchema): boolean {
  if (typeof schema === "boolean") return schema;
  return Object.keys(schema).every((keyword) => keyword === "type" && schema[keyword] === "string");
}
