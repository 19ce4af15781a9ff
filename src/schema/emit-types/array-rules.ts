import { isJsonObject } from "../../text/json-object.ts";
import { edgeOf, edgesOf, keywordOf } from "../compile/schema-check.ts";
import { arrayForm, type JsonSchema } from "../guard/json-schema.ts";
import type { SchemaGraph, SchemaNode } from "../guard/schema-graph.ts";
import { kindBits, kindOfValue, listedValues, partsInPlace } from "./accepted-kinds.ts";

/** What one schema, or several that all hold, say about the items of an array. */
export interface ArrayRules {
  /** Per place the schemas that hold there. */
  readonly prefix: readonly (readonly JsonSchema[])[];
  /** Those of all further items; undefined when there are none. */
  readonly rest: readonly JsonSchema[] | undefined;
  /** So many items are always there. */
  readonly least: number;
}

/** Undefined when the schema says nothing about arrays. */
export function arrayRules(node: SchemaNode): ArrayRules | undefined {
  if (node.isReferenceOnly) return undefined;
  const { prefixKeyword, restKeyword } = arrayForm(node.schema);
  const rest = edgeOf(node, restKeyword);
  const places: JsonSchema[] = [];
  for (const { key, schema } of edgesOf(node, prefixKeyword))
    if (typeof key === "number") places[key] = schema;
  if (places.length === 0 && (rest === undefined || rest === true)) return undefined;
  // A place without a schema is left to the server.
  const prefix = Array.from(places, (schema: JsonSchema | undefined) => [schema ?? true]);
  const least = keywordOf(node, "minItems");
  const most = keywordOf(node, "maxItems");
  const isFull = prefix.length > 0 && typeof most === "number" && most <= prefix.length;
  return {
    prefix,
    rest: rest === false || isFull ? undefined : [rest ?? true],
    least: typeof least === "number" ? least : 0,
  };
}

/** What holds where all of `rules` hold. */
export function allRules(rules: readonly ArrayRules[]): ArrayRules {
  const ends = rules.filter(({ rest }) => rest === undefined).map(({ prefix }) => prefix.length);
  const length = Math.min(...ends, Math.max(0, ...rules.map(({ prefix }) => prefix.length)));
  return {
    prefix: Array.from({ length }, (_, place) =>
      rules.flatMap(({ prefix, rest }) => prefix[place] ?? rest ?? []),
    ),
    rest: ends.length > 0 ? undefined : rules.flatMap(({ rest }) => rest ?? []),
    least: Math.max(0, ...rules.map(({ least }) => least)),
  };
}

/** Everything that speaks of the arrays that a schema accepts. */
export interface ArraySpeakers {
  /** The schemas themselves and all they refer to or list under `allOf`. */
  readonly conjuncts: readonly SchemaNode[];
  /** Those of them that say something about the items. */
  readonly speakers: readonly SchemaNode[];
  /** How many lists of alternatives say something. */
  readonly choices: number;
}

const maxSteps = 1_000;

/** Of all `nodes` at once: schemas that all hold. */
export function arraySpeakers(graph: SchemaGraph, nodes: readonly SchemaNode[]): ArraySpeakers {
  const conjuncts = new Set(nodes);
  let choices = 0;
  // The set grows while it is walked.
  for (const conjunct of conjuncts) {
    const { all, oneEach } = partsInPlace(conjunct);
    for (const target of nodesOf(graph, all)) if (conjuncts.size < maxSteps) conjuncts.add(target);
    choices += oneEach.filter((list) => anySpeaks(graph, nodesOf(graph, list))).length;
  }
  return {
    conjuncts: [...conjuncts],
    speakers: [...conjuncts].filter((conjunct) => speaksOfArrays(conjunct)),
    choices,
  };
}

function anySpeaks(graph: SchemaGraph, nodes: readonly SchemaNode[]): boolean {
  const reached = new Set(nodes);
  for (const node of reached) {
    if (speaksOfArrays(node) || reached.size > maxSteps) return true;
    const { all, oneEach } = partsInPlace(node);
    for (const target of nodesOf(graph, [...all, ...oneEach.flat()])) reached.add(target);
  }
  return false;
}

export function speaksOfArrays(node: SchemaNode): boolean {
  return listsArrays(node) || arrayRules(node) !== undefined;
}

export function listsArrays(node: SchemaNode): boolean {
  if (node.isReferenceOnly) return false;
  return listedValues(node)?.some((value) => kindOfValue(value) === kindBits.array) ?? false;
}

export function nodesOf(graph: SchemaGraph, schemas: readonly JsonSchema[]): readonly SchemaNode[] {
  return schemas.flatMap((schema) => {
    const node = isJsonObject(schema) ? graph.nodes.get(schema) : undefined;
    return node ?? [];
  });
}
