import { isJsonObject } from "../../text/json-object.ts";
import { edgesOf, keywordOf } from "../compile/schema-check.ts";
import type { JsonSchema, JsonSchemaObject } from "../guard/json-schema.ts";
import type { SchemaGraph, SchemaNode } from "../guard/schema-graph.ts";

/** Kinds of JSON values as a set of bits. */
export type Kinds = number;

export const kindBits = {
  null: 1,
  boolean: 2,
  number: 4,
  string: 8,
  array: 16,
  object: 32,
} as const;
export type JsonKind = keyof typeof kindBits;

const noKinds: Kinds = 0;
export const allKinds: Kinds = 63;

export function kindOfValue(value: unknown): Kinds {
  if (value === null) return kindBits.null;
  if (Array.isArray(value)) return kindBits.array;
  const kind = typeof value;
  return kind === "boolean" || kind === "number" || kind === "string"
    ? kindBits[kind]
    : kindBits.object;
}

/** How many values a type lists at most; longer lists are only checked at run time. */
export const maxListedValues = 1_000;

/** The values of `const` or `enum`; undefined for a schema with neither. */
export function listedValues(node: SchemaNode): readonly unknown[] | undefined {
  if (Object.hasOwn(node.schema, "const")) return [node.schema["const"]];
  const values = keywordOf(node, "enum");
  return Array.isArray(values) ? values : undefined;
}

/** Schemas of which a value must satisfy all, and lists of which it must satisfy one. */
export function partsInPlace(node: SchemaNode): {
  readonly all: readonly JsonSchema[];
  readonly oneEach: readonly (readonly JsonSchema[])[];
} {
  if (node.isReferenceOnly) return { all: node.references, oneEach: [] };
  const schemasOf = (keyword: string) => edgesOf(node, keyword).map(({ schema }) => schema);
  return {
    all: [...node.references, ...schemasOf("allOf")],
    oneEach: [schemasOf("anyOf"), schemasOf("oneOf")].filter((list) => list.length > 0),
  };
}

/** Tells which kinds of values schemas accept and how wide their types are, without looking into objects and arrays. */
export class AcceptedKinds {
  readonly #graph: SchemaGraph;
  readonly #kinds = new Map<JsonSchemaObject, Kinds>();
  readonly #widths = new Map<JsonSchemaObject, Map<Kinds, number>>();

  constructor(graph: SchemaGraph) {
    this.#graph = graph;
  }

  /** Every kind of value that the schema may accept. */
  of(schema: JsonSchema): Kinds {
    if (typeof schema === "boolean") return schema ? allKinds : noKinds;
    const known = this.#kinds.get(schema);
    if (known !== undefined) return known;
    const node = this.#graph.nodes.get(schema);
    if (node === undefined) return allKinds;
    // A reference that leads back here adds no limit.
    this.#kinds.set(schema, allKinds);
    const { all, oneEach } = partsInPlace(node);
    let kinds = node.isReferenceOnly ? allKinds : ownKinds(node);
    for (const part of all) kinds &= this.of(part);
    for (const list of oneEach) kinds &= this.#ofAny(list);
    this.#kinds.set(schema, kinds);
    return kinds;
  }

  /** Whether the parts of a schema that says nothing else leave no kind but `kinds`. */
  isImplied(node: SchemaNode, kinds: Kinds): boolean {
    const { all, oneEach } = partsInPlace(node);
    let implied = allKinds;
    for (const part of all) implied &= this.of(part);
    for (const list of oneEach) implied &= this.#ofAny(list);
    return (implied & ~kinds) === 0;
  }

  /**
   * How many alternatives a compiler has to tell apart in the type of what `schema` accepts of
   * `within`: those of an intersection multiply. Endless for references that lead back to themselves.
   */
  width(schema: JsonSchema, within: Kinds): number {
    const node = isJsonObject(schema) ? this.#graph.nodes.get(schema) : undefined;
    const kinds = within & this.of(schema);
    if (node === undefined) return Math.max(countKinds(kinds), 1);
    let widths = this.#widths.get(node.schema);
    if (widths === undefined) this.#widths.set(node.schema, (widths = new Map()));
    const known = widths.get(kinds);
    if (known !== undefined) return known;
    widths.set(kinds, Number.POSITIVE_INFINITY);
    const { all, oneEach } = partsInPlace(node);
    const isOwn = !node.isReferenceOnly && (describesParts(node) || !this.isImplied(node, kinds));
    const listed = listedValues(node)?.length ?? Number.POSITIVE_INFINITY;
    const own = listed <= maxListedValues ? listed : isOwn ? countKinds(kinds) : 1;
    let width = Math.max(own, 1);
    for (const part of all) width *= this.width(part, kinds);
    for (const list of oneEach)
      width *= list.reduce((sum, part) => sum + this.width(part, kinds), 0);
    widths.set(kinds, width);
    return width;
  }

  #ofAny(schemas: readonly JsonSchema[]): Kinds {
    return schemas.reduce<Kinds>((any, schema) => any | this.of(schema), noKinds);
  }
}

/** Whether the schema says something about what is inside of objects or arrays. */
export function describesParts(node: SchemaNode): boolean {
  return (
    keywordOf(node, "required") !== undefined ||
    node.edges.some(({ place }) => place === "property" || place === "item")
  );
}

function ownKinds(node: SchemaNode): Kinds {
  const type = keywordOf(node, "type");
  const names = (Array.isArray(type) ? type : [type]) as readonly (JsonKind | "integer")[];
  const declared =
    type === undefined
      ? allKinds
      : names.reduce<Kinds>(
          (any, name) => any | kindBits[name === "integer" ? "number" : name],
          noKinds,
        );
  const values = listedValues(node);
  if (values === undefined) return declared;
  return declared & values.reduce<Kinds>((any, value) => any | kindOfValue(value), noKinds);
}

/** `boolean` is two alternatives to a compiler, and `unknown` is one. */
function countKinds(kinds: Kinds): number {
  if (kinds === allKinds) return 1;
  const count = Object.values(kindBits).filter((bit) => (kinds & bit) !== 0).length;
  return (kinds & kindBits.boolean) === 0 ? count : count + 1;
}
