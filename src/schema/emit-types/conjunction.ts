import { isJsonObject } from "../../text/json-object.ts";
import { keywordOf } from "../compile/schema-check.ts";
import type { JsonSchema, JsonSchemaObject } from "../guard/json-schema.ts";
import type { SchemaNode } from "../guard/schema-graph.ts";

/** One schema that accepts what all of these accept. Where it is a new one, `nodes` gets to know it. */
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

/** What a schema is only another name for, if it is. */
function targetOf(
  schema: JsonSchema,
  nodes: ReadonlyMap<JsonSchemaObject, SchemaNode>,
): JsonSchema {
  const node = isJsonObject(schema) ? nodes.get(schema) : undefined;
  return node !== undefined && isOnlyReference(node) ? (node.references[0] ?? schema) : schema;
}

/** Whether a schema is nothing but another name for one. */
export function isOnlyReference(node: SchemaNode): boolean {
  if (node.references.length !== 1) return false;
  return (
    node.isReferenceOnly || (node.edges.length === 0 && keywordOf(node, "required") === undefined)
  );
}
