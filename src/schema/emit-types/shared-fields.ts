import { isJsonObject } from "../../text/json-object.ts";
import { edgeOf, edgesOf, keywordOf } from "../compile/schema-check.ts";
import type { JsonSchema } from "../guard/json-schema.ts";
import type { SchemaGraph, SchemaNode } from "../guard/schema-graph.ts";
import { describesParts, listedValues, partsInPlace } from "./accepted-kinds.ts";
import { arraySpeakers, nodesOf, speaksOfArrays } from "./array-rules.ts";

/** The objects of a schema as one, where TypeScript cannot put together what its parts say. */
export interface SharedFields {
  /** The schema itself and all it refers to or lists under `allOf`. */
  readonly conjuncts: readonly SchemaNode[];
  /** Per name all schemas that hold; undefined when it depends on the object which ones do. */
  readonly fields: ReadonlyMap<string, readonly JsonSchema[]> | undefined;
  readonly required: ReadonlySet<string>;
  /** Those that hold for all other fields. */
  readonly others: readonly JsonSchema[];
}

/** What one of several schemas that hold for an object says about its fields. */
interface Speaker {
  readonly declared: ReadonlyMap<string, JsonSchema>;
  readonly additional: JsonSchema | undefined;
  readonly patterns: readonly JsonSchema[];
}

/** Fields of fields that are looked at. */
const maxDepth = 8;
/** Schemas that are looked at for one emitter. Where that is not enough, an intersection has to do. */
const maxSteps = 20_000;

/**
 * Finds the objects for which an intersection will not do: where a field is a list in two parts, or is
 * declared in one and among "all others" in another. What is written down for the field, or for an item
 * of the list, TypeScript compares with one of the two alone, and refuses what only the other one names.
 */
export class SharedFieldFinder {
  readonly #graph: SchemaGraph;
  readonly #canCollide: boolean;
  #steps = 0;

  constructor(graph: SchemaGraph) {
    this.#graph = graph;
    const nodes = [...graph.nodes.values()];
    this.#canCollide =
      nodes.filter((node) => speaksOfArrays(node)).length > 1 ||
      nodes.some((node) => hasWordsOnOthers(speakerOf(node)));
  }

  /** Undefined where an intersection will do. */
  find(node: SchemaNode): SharedFields | undefined {
    if (!this.#canCollide) return undefined;
    const conjuncts = this.#conjuncts([node]);
    const speakers = conjuncts.map((conjunct) => speakerOf(conjunct));
    const lists = conjuncts.flatMap((conjunct) => partsInPlace(conjunct).oneEach);
    const depends = nodesOf(this.#graph, lists.flat()).some((alternative) =>
      this.#collide([...speakers, ...this.#speakers([alternative])], 0),
    );
    if (!depends && !this.#collide(speakers, 0)) return undefined;
    const isOpen = conjuncts.some((conjunct) => listedValues(conjunct) !== undefined);
    const hasPatterns = speakers.some(({ patterns }) => patterns.length > 0);
    const required = new Set(conjuncts.flatMap((conjunct) => requiredOf(conjunct)));
    const names = new Set([
      ...speakers.flatMap(({ declared }) => [...declared.keys()]),
      ...required,
    ]);
    const isUnsure = depends || isOpen || hasPatterns || lists.length > 0;
    return {
      conjuncts,
      fields: isUnsure
        ? undefined
        : new Map([...names].map((name) => [name, speakers.flatMap((part) => said(part, name))])),
      required,
      others: speakers.flatMap(({ additional }) => additional ?? noSchemas),
    };
  }

  #collide(speakers: readonly Speaker[], depth: number): boolean {
    if (speakers.length < 2 || depth >= maxDepth || this.#steps > maxSteps) return false;
    const hasOthers = speakers.some((part) => hasWordsOnOthers(part));
    const names = new Map<string, number>();
    for (const { declared } of speakers)
      for (const name of declared.keys()) names.set(name, (names.get(name) ?? 0) + 1);
    return [...names].some(([name, count]) => {
      if (count < 2 && !hasOthers) return false;
      const declared = speakers.flatMap((part) => part.declared.get(name) ?? noSchemas);
      const others = speakers
        .filter((part) => !part.declared.has(name))
        .flatMap(({ additional, patterns }) => [
          ...(additional === undefined ? [] : [additional]),
          ...patterns,
        ]);
      if (this.#anyHasParts(others) && this.#anyHasParts(declared)) return true;
      return this.#areLists(declared, depth);
    });
  }

  /** Whether several schemas of one field speak of the items of a list, in it or inside of it. */
  #areLists(schemas: readonly JsonSchema[], depth: number): boolean {
    const nodes = [...new Set(nodesOf(this.#graph, schemas))];
    if (nodes.length < 2) return false;
    const { conjuncts, speakers, choices } = arraySpeakers(this.#graph, nodes);
    this.#steps += conjuncts.length;
    if (speakers.length + choices > 1) return true;
    return this.#collide(
      conjuncts.map((conjunct) => speakerOf(conjunct)),
      depth + 1,
    );
  }

  #anyHasParts(schemas: readonly JsonSchema[]): boolean {
    return this.#conjuncts(nodesOf(this.#graph, schemas)).some(
      (conjunct) => describesParts(conjunct) || partsInPlace(conjunct).oneEach.length > 0,
    );
  }

  #speakers(nodes: readonly SchemaNode[]): readonly Speaker[] {
    return this.#conjuncts(nodes).map((conjunct) => speakerOf(conjunct));
  }

  #conjuncts(nodes: readonly SchemaNode[]): readonly SchemaNode[] {
    const { conjuncts } = arraySpeakers(this.#graph, nodes);
    this.#steps += conjuncts.length;
    return conjuncts;
  }
}

const noSchemas: readonly JsonSchema[] = [];
const silent: Speaker = { declared: new Map(), additional: undefined, patterns: [] };

function speakerOf(node: SchemaNode): Speaker {
  if (node.isReferenceOnly) return silent;
  const properties = keywordOf(node, "properties");
  // One that is no schema is left to the server, and is not one of the others either.
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

function hasWordsOnOthers({ additional, patterns }: Speaker): boolean {
  return typeof additional === "object" || patterns.length > 0;
}

/** What is said about the field `name`, patterns aside. */
function said({ declared, additional }: Speaker, name: string): readonly JsonSchema[] {
  const schema = declared.get(name) ?? additional;
  return schema === undefined ? noSchemas : [schema];
}

function requiredOf(node: SchemaNode): readonly string[] {
  const required = node.isReferenceOnly ? undefined : keywordOf(node, "required");
  return Array.isArray(required) ? (required as readonly string[]) : [];
}
