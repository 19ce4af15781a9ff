import type { JsonSchema } from "../guard/json-schema.ts";
import type { SchemaGraph, SchemaNode } from "../guard/schema-graph.ts";
import type { Meter } from "./meter.ts";
import type { Trace } from "./validation-failure.ts";

/**
 * Whether a value satisfies one schema. Without a trace it stops at the first problem and allocates
 * nothing; with one it goes on and reports.
 */
export type Check = (value: unknown, trace: Trace | undefined) => boolean;

/** What the compilers of the keyword groups get from the whole. */
export interface SchemaCompiler {
  readonly graph: SchemaGraph;
  readonly meter: Meter;
  compile(schema: JsonSchema): Check;
  /** Undefined for a pattern that is left to the server. */
  compilePattern(source: string): ((text: string) => boolean) | undefined;
  nodeOf(schema: JsonSchema): SchemaNode | undefined;
}

/** A keyword's value, unless the keyword is left to the server. */
export function keywordOf(node: SchemaNode, keyword: string): unknown {
  return node.skipped.has(keyword) ? undefined : node.schema[keyword];
}

/** The subschemas that `keyword` holds, in order. */
export function edgesOf(node: SchemaNode, keyword: string): SchemaNode["edges"] {
  return node.edges.filter((edge) => edge.keyword === keyword);
}

/** The one subschema of a keyword that holds one. */
export function edgeOf(node: SchemaNode, keyword: string): JsonSchema | undefined {
  return node.edges.find((edge) => edge.keyword === keyword && edge.key === undefined)?.schema;
}
