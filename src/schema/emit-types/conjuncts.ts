import { isJsonObject } from "../../text/json-object.ts";
import { keywordOf } from "../compile/schema-check.ts";
import type { JsonSchema, JsonSchemaObject } from "../guard/json-schema.ts";
import type { SchemaGraph, SchemaNode } from "../guard/schema-graph.ts";
import { partsInPlace } from "./accepted-kinds.ts";

const maxConjuncts = 1_000;

/** The schemas that all hold where `nodes` hold: these, what they refer to, and what they list under `allOf`. */
export function conjunctsOf(
  graph: SchemaGraph,
  nodes: readonly SchemaNode[],
): readonly SchemaNode[] {
  const conjuncts = new Set(nodes);
  // The set grows while it is walked.
  for (const conjunct of conjuncts)
    for (const target of nodesOf(graph, partsInPlace(conjunct).all))
      if (conjuncts.size < maxConjuncts) conjuncts.add(target);
  return [...conjuncts];
}

/** The nodes of those schemas that are objects; `true` and `false` have none. */
export function nodesOf(graph: SchemaGraph, schemas: readonly JsonSchema[]): readonly SchemaNode[] {
  return schemas.flatMap((schema) => {
    const node = isJsonObject(schema) ? graph.nodes.get(schema) : undefined;
    return node ?? [];
  });
}

/**
 * One schema that accepts what all of `schemas` accept. Where none of them is that schema, a new one is
 * made and added to `nodes`.
 */
export function conjunctionOf(
  schemas: readonly JsonSchema[],
  nodes: Map<JsonSchemaObject, SchemaNode>,
): JsonSchema {
  const byMeaning = new Map<JsonSchema, JsonSchema>();
  for (const schema of schemas) {
    const meaning = targetOf(schema, nodes);
    if (schema !== true && !byMeaning.has(meaning)) byMeaning.set(meaning, schema);
  }
  const distinct = [...byMeaning.values()];
  const [only = true] = distinct;
  if (distinct.length <= 1) return only;
  const described = distinct.find((part) => isJsonObject(part) && "description" in part);
  const schema = {
    allOf: distinct,
    ...(isJsonObject(described) ? { description: described["description"] } : {}),
  };
  const edges = distinct.map(
    (part, key) => ({ keyword: "allOf", key, schema: part, place: "same" }) as const,
  );
  nodes.set(schema, {
    schema,
    references: [],
    isReferenceOnly: false,
    edges,
    skipped: new Set(),
    isUncertain: false,
  });
  return schema;
}

/** The target of a schema that is nothing but a reference; any other schema itself. */
function targetOf(
  schema: JsonSchema,
  nodes: ReadonlyMap<JsonSchemaObject, SchemaNode>,
): JsonSchema {
  const node = isJsonObject(schema) ? nodes.get(schema) : undefined;
  return node !== undefined && isOnlyReference(node) ? (node.references[0] ?? schema) : schema;
}

/** Whether a schema says nothing but `$ref`. */
export function isOnlyReference(node: SchemaNode): boolean {
  if (node.references.length !== 1) return false;
  return (
    node.isReferenceOnly || (node.edges.length === 0 && keywordOf(node, "required") === undefined)
  );
}
