import { edgeOf, edgesOf, keywordOf } from "../compile/schema-check.ts";
import { arrayForm, type JsonSchema } from "../guard/json-schema.ts";
import type { SchemaGraph, SchemaNode } from "../guard/schema-graph.ts";
import { kindBits, kindOfValue, listedValues, partsInPlace } from "./accepted-kinds.ts";
import { conjunctsOf, nodesOf } from "./conjuncts.ts";

/** The rules for the items of an array, of one schema or of several that all hold. */
export interface ArrayRules {
  /** The schemas that hold for each of the first items. */
  readonly prefix: readonly (readonly JsonSchema[])[];
  /** The schemas that hold for all further items; undefined when there are no further items. */
  readonly rest: readonly JsonSchema[] | undefined;
  /** How many items are always there. */
  readonly least: number;
}

/** The rules of a schema itself; undefined when it has none. */
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

/** The rules that hold where all of `rules` hold. */
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

/** Where the rules for the items of an array stand. */
export interface ArrayRuleSources {
  /** The schemas that all hold for the array. */
  readonly conjuncts: readonly SchemaNode[];
  /** Those of the conjuncts that have rules for items or list whole arrays. */
  readonly sources: readonly SchemaNode[];
  /** How many lists of alternatives (`anyOf`, `oneOf`) have rules for items. */
  readonly choices: number;
}

/** Schemas visited inside of one list of alternatives; beyond them it counts as having rules. */
const maxSteps = 1_000;

/** Finds the rules for items where all of `nodes` hold. */
export function findArrayRules(graph: SchemaGraph, nodes: readonly SchemaNode[]): ArrayRuleSources {
  const conjuncts = conjunctsOf(graph, nodes);
  const choices = conjuncts
    .flatMap((conjunct) => partsInPlace(conjunct).oneEach)
    .filter((list) => anyHasArrayRules(graph, nodesOf(graph, list)));
  return {
    conjuncts,
    sources: conjuncts.filter((conjunct) => hasArrayRules(conjunct)),
    choices: choices.length,
  };
}

function anyHasArrayRules(graph: SchemaGraph, nodes: readonly SchemaNode[]): boolean {
  const reached = new Set(nodes);
  // The set grows while it is walked.
  for (const node of reached) {
    if (hasArrayRules(node) || reached.size > maxSteps) return true;
    const { all, oneEach } = partsInPlace(node);
    for (const target of nodesOf(graph, [...all, ...oneEach.flat()])) reached.add(target);
  }
  return false;
}

/** Whether a schema itself limits the items of an array. */
export function hasArrayRules(node: SchemaNode): boolean {
  return listsArrays(node) || arrayRules(node) !== undefined;
}

/** Whether `enum` or `const` of a schema holds an array. */
export function listsArrays(node: SchemaNode): boolean {
  if (node.isReferenceOnly) return false;
  return listedValues(node)?.some((value) => kindOfValue(value) === kindBits.array) ?? false;
}
