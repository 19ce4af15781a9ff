import { defaultLimits, type Limits } from "../../config/keys/limits.ts";
import { boundedLine } from "../../text/untrusted/bounded-text.ts";
import { isJsonSchema } from "./json-schema.ts";
import { estimateCost } from "./schema-cost.ts";
import { buildSchemaGraph, type SchemaGraph, type SchemaProblem } from "./schema-graph.ts";

export type SchemaLimits = Pick<
  Limits,
  "maxSchemaBytes" | "maxSchemaDepth" | "maxSchemaNodes" | "schemaTimeoutMs"
>;

/**
 * The guard's judgement of a schema that a server sent.
 * `plain`: a check takes time in proportion to the value and runs in place.
 * `complex`: a check may multiply (alternatives inside alternatives, recursion that checks the same
 * part twice, very large patterns), or the schema is too large to be judged on this thread. A worker
 * with a deadline runs the check.
 * `refused`: no check is possible, so the tool cannot be used.
 */
export type SchemaReport =
  | {
      readonly kind: "plain" | "complex";
      /** Keywords that only the server checks, such as `pattern at /properties/x`. */
      readonly unvalidated: readonly string[];
    }
  | { readonly kind: "refused"; readonly reason: string };

/**
 * A schema that applies more subschemas than this to one part of a value is complex; real tools stay below
 * 10.
 */
const maxPlainCost = 256;
/** Compiling patterns of this many instructions in all takes a few milliseconds. */
const maxPlainPatternSize = 2_000;
const maxNotes = 32;

/**
 * Schemas with more nodes are examined in the worker, because they would block this thread; published
 * servers have far fewer.
 */
const maxExaminedNodes = 2_000;

/** Judges a schema without compiling it. Never throws, whatever is given. */
export function inspectSchema(schema: unknown, limits: SchemaLimits = defaultLimits): SchemaReport {
  const measure = measureSchema(schema, limits);
  if ("problem" in measure) return { kind: "refused", reason: measure.problem };
  return isForWorker(measure) ? largeReport : examineSchema(schema).report;
}

/** Whether the worker examines the schema, and not this thread. */
export function isForWorker({ nodes }: SchemaMeasure): boolean {
  return nodes > maxExaminedNodes;
}

/** The report of every schema that only the worker examines. */
export const largeReport: SchemaReport = { kind: "complex", unvalidated: [] };

type Refusal = Extract<SchemaReport, { readonly kind: "refused" }>;

export type Examination =
  | { readonly report: Refusal; readonly graph?: undefined }
  | { readonly report: Exclude<SchemaReport, Refusal>; readonly graph: SchemaGraph };

/** Judges a schema and keeps the graph for the compiler. Call it only with what `measureSchema` let through. */
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
  return boundedLine(text, 200);
}

/** The size of a document that is within the limits. */
export interface SchemaMeasure {
  /** The number of objects and lists in the document. */
  readonly nodes: number;
}

type SizeLimits = Pick<Limits, "maxSchemaBytes" | "maxSchemaDepth" | "maxSchemaNodes">;

/**
 * Measures the document, or says why it is too large, too deep or no JSON. It does not recurse: its
 * limits are what makes recursion over the schema safe afterwards.
 */
export function measureSchema(schema: unknown, limits: SizeLimits): SchemaMeasure | SchemaProblem {
  const size = countCharacters(schema, limits);
  // A character takes up to six bytes as an escape, so bytes are counted only near the limit.
  if ("problem" in size || size.characters * 6 <= limits.maxSchemaBytes) return size;
  const bytes = new TextEncoder().encode(JSON.stringify(schema)).length;
  return bytes > limits.maxSchemaBytes ? tooLarge(limits) : size;
}

/** Whether a value has more characters than a schema may have bytes. It ends as soon as that is known. */
export function isOversized(value: unknown, { maxSchemaBytes }: SizeLimits): boolean {
  const anyShape = { maxSchemaDepth: Infinity, maxSchemaNodes: Infinity };
  const size = countCharacters(value, { maxSchemaBytes, ...anyShape });
  return "problem" in size && size.problem === tooLarge({ maxSchemaBytes }).problem;
}

function tooLarge({ maxSchemaBytes }: Pick<SizeLimits, "maxSchemaBytes">): SchemaProblem {
  return { problem: `it is larger than ${maxSchemaBytes} bytes` };
}

function countCharacters(
  schema: unknown,
  limits: SizeLimits,
): (SchemaMeasure & { readonly characters: number }) | SchemaProblem {
  const { maxSchemaBytes, maxSchemaDepth, maxSchemaNodes } = limits;
  let nodes = 0;
  let characters = 0;
  // Two lists instead of one of pairs: every tool of every server that starts comes through here.
  const pending: unknown[] = [schema];
  const depths: number[] = [1];
  while (pending.length > 0) {
    const value = pending.pop();
    const depth = depths.pop()!;
    if (typeof value === "string") characters += value.length + 2;
    else if (typeof value === "number" && Number.isFinite(value)) characters += 1;
    else if (typeof value === "boolean" || value === null) characters += 4;
    else if (typeof value !== "object") return { problem: "it is not plain JSON" };
    else {
      nodes += 1;
      if (depth > maxSchemaDepth)
        return { problem: `it is nested deeper than ${maxSchemaDepth} levels` };
      if (nodes > maxSchemaNodes) return { problem: `it has more than ${maxSchemaNodes} parts` };
      if (Array.isArray(value)) {
        characters += value.length + 1;
        if (characters > maxSchemaBytes) return tooLarge(limits);
        for (const child of value as readonly unknown[]) {
          pending.push(child);
          depths.push(depth + 1);
        }
      } else {
        for (const key of Object.keys(value)) {
          characters += key.length + 4;
          if (characters > maxSchemaBytes) return tooLarge(limits);
          const child = (value as Readonly<Record<string, unknown>>)[key];
          if (child === undefined) continue;
          pending.push(child);
          depths.push(depth + 1);
        }
      }
    }
    if (characters > maxSchemaBytes) return tooLarge(limits);
  }
  return { nodes, characters };
}
