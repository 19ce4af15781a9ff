import { defaultLimits } from "../../config/keys/limits.ts";
import type { SchemaGraph } from "../guard/schema-graph.ts";
import { examineSchema, isForWorker, measureSchema } from "../guard/schema-guard.ts";
import { allKinds, kindBits } from "./accepted-kinds.ts";
import { TypeEmitter } from "./type-emitter.ts";
import { TypeNames } from "./type-names.ts";
import { anyObjectType, declaration, type Field, unknownType, widened } from "./type-text.ts";

export interface EmitTypeOptions {
  /** The name to declare. */
  readonly name: string;
  /** The beginning of the names of types for `$ref`; `name` by default. */
  readonly prefix?: string | undefined;
  /** The names of the file so far, `name` included; nothing else is in the file by default. */
  readonly names?: TypeNames | undefined;
  /** The doc comment of the declaration; must be safe to stand in one. */
  readonly documentation?: string | undefined;
}

/**
 * Declares `name` as the type of what a JSON Schema accepts, and what else it needs. Every accepted
 * value is assignable to it; where the type accepts more than the schema does, a comment says why.
 * A schema that cannot be used gives `unknown`. Takes bounded time and text, whatever is given.
 */
export function emitType(schema: unknown, options: EmitTypeOptions): string {
  const graph = usableGraph(schema);
  if ("problem" in graph)
    return declaration(options.name, widened(unknownType, [graph.problem]), options.documentation);
  return createEmitter(graph, options)
    .declare(options.name, allKinds, options.documentation)
    .join("\n");
}

/** Declares `name` as the type of the arguments of a tool, which are always an object; otherwise like `emitType`. */
export function emitParamsType(schema: unknown, options: EmitTypeOptions): string {
  const { name, documentation } = options;
  // A tool without a schema takes any arguments, as one with an empty schema does.
  const graph = usableGraph(schema ?? {});
  if ("problem" in graph)
    return declaration(name, widened(anyObjectType, [graph.problem]), documentation);
  return createEmitter(graph, options).declare(name, kindBits.object, documentation).join("\n");
}

/** The fields of the arguments of a tool, with their types; none for a schema that cannot be used. */
export function paramsFields(schema: unknown, options: EmitTypeOptions): readonly Field[] {
  const graph = usableGraph(schema);
  return "problem" in graph ? [] : createEmitter(graph, options).fields(options.name);
}

function createEmitter(graph: SchemaGraph, options: EmitTypeOptions): TypeEmitter {
  const { name, prefix = name, names = new TypeNames([name]) } = options;
  return new TypeEmitter(graph, { names, prefix });
}

function usableGraph(schema: unknown): SchemaGraph | { readonly problem: string } {
  const measure = measureSchema(schema, defaultLimits);
  if ("problem" in measure) return { problem: measure.problem };
  if (isForWorker(measure)) return { problem: "it is too large" };
  const { report, graph } = examineSchema(schema);
  return graph ?? { problem: report.reason };
}
