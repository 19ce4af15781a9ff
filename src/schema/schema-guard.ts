import { defaultLimits, type Limits } from "../config/limits.ts";
import { neutralizeLine } from "../text/neutralize.ts";
import { truncate } from "../text/truncate.ts";
import { isJsonSchema } from "./json-schema.ts";
import { estimateCost } from "./schema-cost.ts";
import { buildSchemaGraph, type SchemaGraph } from "./schema-graph.ts";

export type SchemaLimits = Pick<
  Limits,
  "maxSchemaBytes" | "maxSchemaDepth" | "maxSchemaNodes" | "schemaTimeoutMs"
>;

/**
 * What the guard thinks of a schema that a server sent.
 * `plain`: checking takes time in proportion to the value, and happens in place.
 * `complex`: checking may multiply (alternatives inside alternatives, recursion that looks at the
 * same part twice, very large patterns), and happens in a worker with a deadline.
 * `refused`: it cannot be checked at all, so its tool cannot be used.
 */
export type SchemaReport =
  | {
      readonly kind: "plain" | "complex";
      /** Keywords that only the server can judge, such as `pattern at /properties/x`. */
      readonly unvalidated: readonly string[];
    }
  | { readonly kind: "refused"; readonly reason: string };

/** More schemas than this on one part of a value are complex; real tools stay below 10. */
const maxPlainCost = 256;
/** Compiling patterns of this many instructions in all takes a few milliseconds. */
const maxPlainPatternSize = 2_000;
const maxNotes = 32;

/** Judges a schema without compiling it. Never throws, whatever is given. */
export function inspectSchema(schema: unknown, limits: SchemaLimits = defaultLimits): SchemaReport {
  const problem = measureSchema(schema, limits);
  if (problem !== undefined) return { kind: "refused", reason: problem };
  return examineSchema(schema).report;
}

type Refusal = Extract<SchemaReport, { readonly kind: "refused" }>;

export type Examination =
  | { readonly report: Refusal; readonly graph?: undefined }
  | { readonly report: Exclude<SchemaReport, Refusal>; readonly graph: SchemaGraph };

/** The judgement together with what compiling needs. Only for what `measureSchema` let through. */
export function examineSchema(schema: unknown): Examination {
  if (!isJsonSchema(schema)) return refuse("it is not an object");
  const graph = buildSchemaGraph(schema);
  if ("problem" in graph) return refuse(graph.problem);
  const cost = estimateCost(graph);
  if (typeof cost === "object") return refuse(cost.problem);
  let patternSize = 0;
  for (const { size } of graph.patterns.values()) patternSize += size;
  const kind = cost > maxPlainCost || patternSize > maxPlainPatternSize ? "complex" : "plain";
  const notes = graph.unvalidated.slice(0, maxNotes).map((note) => forDisplay(note));
  return { report: { kind, unvalidated: notes }, graph };
}

function refuse(reason: string): Examination {
  return { report: { kind: "refused", reason: forDisplay(reason) } };
}

function forDisplay(text: string): string {
  return truncate(neutralizeLine(text), 200);
}

/**
 * Why the document is too large, too deep or no JSON; undefined when it is neither. Runs without
 * recursion, because it is what makes recursion over the schema safe afterwards.
 */
export function measureSchema(schema: unknown, limits: SchemaLimits): string | undefined {
  const { maxSchemaBytes, maxSchemaDepth, maxSchemaNodes } = limits;
  const tooLarge = `it is larger than ${maxSchemaBytes} bytes`;
  let nodes = 0;
  let characters = 0;
  const pending: { readonly value: unknown; readonly depth: number }[] = [
    { value: schema, depth: 1 },
  ];
  for (let next = pending.pop(); next !== undefined; next = pending.pop()) {
    const { value, depth } = next;
    if (typeof value === "string") characters += value.length + 2;
    else if (typeof value === "number" && Number.isFinite(value)) characters += 1;
    else if (typeof value === "boolean" || value === null) characters += 4;
    else if (typeof value !== "object") return "it is not plain JSON";
    else {
      nodes += 1;
      if (depth > maxSchemaDepth) return `it is nested deeper than ${maxSchemaDepth} levels`;
      if (nodes > maxSchemaNodes) return `it has more than ${maxSchemaNodes} parts`;
      if (Array.isArray(value)) {
        characters += value.length + 1;
        if (characters > maxSchemaBytes) return tooLarge;
        for (const child of value) pending.push({ value: child, depth: depth + 1 });
      } else {
        for (const key of Object.keys(value)) {
          characters += key.length + 4;
          if (characters > maxSchemaBytes) return tooLarge;
          const child = (value as Readonly<Record<string, unknown>>)[key];
          if (child !== undefined) pending.push({ value: child, depth: depth + 1 });
        }
      }
    }
    if (characters > maxSchemaBytes) return tooLarge;
  }
  // Escapes and characters outside of ASCII need up to six bytes; near the limit they are counted.
  if (characters * 6 <= maxSchemaBytes) return undefined;
  const bytes = new TextEncoder().encode(JSON.stringify(schema)).length;
  return bytes > maxSchemaBytes ? tooLarge : undefined;
}
