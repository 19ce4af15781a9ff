import type { JsonSchema } from "../guard/json-schema.ts";
import type { SchemaGraph, SchemaNode } from "../guard/schema-graph.ts";
import type { Meter } from "./meter.ts";
import type { Trace } from "./validation-failure.ts";

/**
 * Tests whether a value satisfies one schema. Without a trace the test stops at the first problem and
 * allocates nothing; with one it goes on and reports every problem.
 */
export type Check = (value: unknown, trace: Trace | undefined) => boolean;

/** The services that the compiler of each keyword group uses. */
export interface SchemaCompiler {
  readonly graph: SchemaGraph;
  readonly meter: Meter;
  compile(schema: JsonSchema): Check;
  /** Returns undefined for a pattern that only the server checks. */
  compilePattern(source: string): ((text: string) => boolean) | undefined;
  nodeOf(schema: JsonSchema): SchemaNode | undefined;
}

/** Reads the value of a keyword; undefined for one that only the server checks. */
export function keywordOf(node: SchemaNode, keyword: string): unknown {
  return node.skipped.has(keyword) ? undefined : node.schema[keyword];
}

/** Lists the subschemas of `keyword` in order. */
export function edgesOf(node: SchemaNode, keyword: string): SchemaNode["edges"] {
  return node.edges.filter((edge) => edge.keyword === keyword);
}

/** Returns the subschema of a keyword that holds a single one. */
export function edgeOf(node: SchemaNode, keyword: string): JsonSchema | undefined {
  return node.edges.find((edge) => edge.keyword === keyword && edge.key === undefined)?.schema;
}
