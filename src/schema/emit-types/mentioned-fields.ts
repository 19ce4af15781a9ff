import { isJsonObject } from "../../text/json-object.ts";
import { edgeOf, edgesOf, keywordOf } from "../compile/schema-check.ts";
import type { JsonSchema } from "../guard/json-schema.ts";
import type { SchemaGraph, SchemaNode } from "../guard/schema-graph.ts";
import { listedValues, partsInPlace } from "./accepted-kinds.ts";

/** Keywords whose schemas may or may not hold for the object that they stand at. */
const conditional = ["if", "then", "else", "not", "dependentSchemas", "dependencies"] as const;

/** Schemas that are looked at for one object; one that needs more is said to be open. */
const maxSteps = 1_000;

/** What an object schema says about fields that it does not declare. */
export interface MentionedFields {
  /** Each by its name, with what is said about it. */
  readonly names: ReadonlyMap<string, JsonSchema>;
  /** Fields of any name are spoken of. */
  readonly isOpen: boolean;
}

/**
 * The fields that conditions on an object speak of. Whether and how they are limited depends on the
 * value, so that a type can only say that they may be there. `throughParts` also asks the conditions of
 * `allOf`, references and so on.
 */
export function mentionedFields(
  graph: SchemaGraph,
  node: SchemaNode,
  throughParts: boolean,
): MentionedFields {
  const mentions = new Mentions(graph);
  mentions.addConditions(node, throughParts);
  return mentions;
}

class Mentions implements MentionedFields {
  readonly names = new Map<string, JsonSchema>();
  readonly #graph: SchemaGraph;
  readonly #asked = new Set<SchemaNode>();
  /** One for what holds, one for what must not. */
  readonly #walked = [new Set<SchemaNode>(), new Set<SchemaNode>()] as const;
  #steps = 0;
  #isOpen = false;

  constructor(graph: SchemaGraph) {
    this.#graph = graph;
  }

  get isOpen(): boolean {
    return this.#isOpen;
  }

  addConditions(node: SchemaNode, throughParts: boolean): void {
    if (!this.#isNew(node, this.#asked)) return;
    if (!node.isReferenceOnly) {
      this.#addWordsAboutOthers(node);
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

  /** Everything that a schema says about the fields of the same object. */
  #addAll(schema: JsonSchema, isDenied: boolean): void {
    const node = isJsonObject(schema) ? this.#graph.nodes.get(schema) : undefined;
    if (node === undefined || !this.#isNew(node, this.#walked[isDenied ? 1 : 0])) return;
    for (const target of node.references) this.#addAll(target, isDenied);
    if (node.isReferenceOnly) return;
    this.#addWordsAboutOthers(node);
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

  #addWordsAboutOthers(node: SchemaNode): void {
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

/** Names are strings, so `{ "type": "string" }` asks nothing of them. */
export function acceptsAnyName(schema: JsonSchema): boolean {
  if (typeof schema === "boolean") return schema;
  return Object.keys(schema).every((keyword) => keyword === "type" && schema[keyword] === "string");
}
