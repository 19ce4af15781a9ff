import { isJsonObject } from "../../text/json-object.ts";
import { edgeOf, edgesOf, keywordOf } from "../compile/schema-check.ts";
import type { JsonSchema } from "../guard/json-schema.ts";
import type { SchemaGraph, SchemaNode } from "../guard/schema-graph.ts";
import { describesParts, listedValues, partsInPlace } from "./accepted-kinds.ts";
import { findArrayRules, hasArrayRules } from "./array-rules.ts";
import { conjunctsOf, nodesOf } from "./conjuncts.ts";

/** The fields of an object schema merged over its parts, where an intersection of their types will not do. */
export interface SharedFields {
  /** The schemas that all hold for the object. */
  readonly conjuncts: readonly SchemaNode[];
  /** All schemas that hold for each field; undefined when that depends on the object. */
  readonly fields: ReadonlyMap<string, readonly JsonSchema[]> | undefined;
  readonly required: ReadonlySet<string>;
  /** The schemas that hold for all other fields. */
  readonly others: readonly JsonSchema[];
}

/** What one schema of an object says about its fields. */
interface FieldSource {
  readonly declared: ReadonlyMap<string, JsonSchema>;
  readonly additional: JsonSchema | undefined;
  readonly patterns: readonly JsonSchema[];
}

/** How deep fields inside of fields are compared. */
const maxDepth = 8;
/** Schemas visited for one emitter; beyond them an intersection has to do. */
const maxSteps = 20_000;

/**
 * Finds the object schemas for which an intersection of types will not do: a field is a list in two of
 * their parts, or is declared in one part and among "all others" in another. TypeScript compares a literal
 * for such a field, or for an item of such a list, with one of the two types alone, and refuses the fields
 * that only the other type names.
 */
export class SharedFieldFinder {
  readonly #graph: SchemaGraph;
  readonly #canCollide: boolean;
  #steps = 0;

  constructor(graph: SchemaGraph) {
    this.#graph = graph;
    const nodes = [...graph.nodes.values()];
    this.#canCollide =
      nodes.filter((node) => hasArrayRules(node)).length > 1 ||
      nodes.some((node) => constrainsOthers(fieldSourceOf(node)));
  }

  /** The merged fields of a schema; undefined where an intersection will do. */
  find(node: SchemaNode): SharedFields | undefined {
    if (!this.#canCollide) return undefined;
    const conjuncts = this.#conjuncts([node]);
    const sources = conjuncts.map((conjunct) => fieldSourceOf(conjunct));
    const lists = conjuncts.flatMap((conjunct) => partsInPlace(conjunct).oneEach);
    const depends = nodesOf(this.#graph, lists.flat()).some((alternative) =>
      this.#collide([...sources, ...this.#sources([alternative])], 0),
    );
    if (!depends && !this.#collide(sources, 0)) return undefined;
    const isOpen = conjuncts.some((conjunct) => listedValues(conjunct) !== undefined);
    const hasPatterns = sources.some(({ patterns }) => patterns.length > 0);
    const required = new Set(conjuncts.flatMap((conjunct) => requiredOf(conjunct)));
    const names = new Set([
      ...sources.flatMap(({ declared }) => [...declared.keys()]),
      ...required,
    ]);
    const isUnsure = depends || isOpen || hasPatterns || lists.length > 0;
    return {
      conjuncts,
      fields: isUnsure
        ? undefined
        : new Map(
            [...names].map((name) => [name, sources.flatMap((part) => schemasFor(part, name))]),
          ),
      required,
      others: sources.flatMap(({ additional }) => additional ?? noSchemas),
    };
  }

  #collide(sources: readonly FieldSource[], depth: number): boolean {
    if (sources.length < 2 || depth >= maxDepth || this.#steps > maxSteps) return false;
    const hasOthers = sources.some((part) => constrainsOthers(part));
    const names = new Map<string, number>();
    for (const { declared } of sources)
      for (const name of declared.keys()) names.set(name, (names.get(name) ?? 0) + 1);
    return [...names].some(([name, count]) => {
      if (count < 2 && !hasOthers) return false;
      const declared = sources.flatMap((part) => part.declared.get(name) ?? noSchemas);
      const others = sources
        .filter((part) => !part.declared.has(name))
        .flatMap(({ additional, patterns }) => [
          ...(additional === undefined ? [] : [additional]),
          ...patterns,
        ]);
      if (this.#anyHasParts(others) && this.#anyHasParts(declared)) return true;
      return this.#areLists(declared, depth);
    });
  }

  /** Whether several schemas of one field have rules for the items of a list, at any depth. */
  #areLists(schemas: readonly JsonSchema[], depth: number): boolean {
    const nodes = [...new Set(nodesOf(this.#graph, schemas))];
    if (nodes.length < 2) return false;
    const { conjuncts, sources, choices } = findArrayRules(this.#graph, nodes);
    this.#steps += conjuncts.length;
    if (sources.length + choices > 1) return true;
    return this.#collide(
      conjuncts.map((conjunct) => fieldSourceOf(conjunct)),
      depth + 1,
    );
  }

  #anyHasParts(schemas: readonly JsonSchema[]): boolean {
    return this.#conjuncts(nodesOf(this.#graph, schemas)).some(
      (conjunct) => describesParts(conjunct) || partsInPlace(conjunct).oneEach.length > 0,
    );
  }

  #sources(nodes: readonly SchemaNode[]): readonly FieldSource[] {
    return this.#conjuncts(nodes).map((conjunct) => fieldSourceOf(conjunct));
  }

  #conjuncts(nodes: readonly SchemaNode[]): readonly SchemaNode[] {
    const conjuncts = conjunctsOf(this.#graph, nodes);
    this.#steps += conjuncts.length;
    return conjuncts;
  }
}

const noSchemas: readonly JsonSchema[] = [];
const noFields: FieldSource = { declared: new Map(), additional: undefined, patterns: [] };

function fieldSourceOf(node: SchemaNode): FieldSource {
  if (node.isReferenceOnly) return noFields;
  const properties = keywordOf(node, "properties");
  // A property whose schema is malformed is left to the server; it is not one of the others either.
  const names = isJsonObject(properties) ? Object.keys(properties) : [];
  return {
    declared: new Map<string, JsonSchema>([
      ...names.map((name) => [name, true] as const),
      ...edgesOf(node, "properties").map(({ key, schema }) => [String(key), schema] as const),
    ]),
    additional: edgeOf(node, "additionalProperties"),
    patterns: edgesOf(node, "patternProperties").map(({ schema }) => schema),
  };
}

function constrainsOthers({ additional, patterns }: FieldSource): boolean {
  return typeof additional === "object" || patterns.length > 0;
}

/** The schemas that a source has for the field `name`, patterns aside. */
function schemasFor({ declared, additional }: FieldSource, name: string): readonly JsonSchema[] {
  const schema = declared.get(name) ?? additional;
  return schema === undefined ? noSchemas : [schema];
}

function requiredOf(node: SchemaNode): readonly string[] {
  const required = node.isReferenceOnly ? undefined : keywordOf(node, "required");
  return Array.isArray(required) ? (required as readonly string[]) : [];
}
