import type { JsonSchema, JsonSchemaObject } from "../guard/json-schema.ts";
import type { SchemaGraph } from "../guard/schema-graph.ts";
import { compileArray } from "./compile-array.ts";
import { compileCombinators } from "./compile-combinators.ts";
import { compileObject } from "./compile-object.ts";
import { compileScalar, compileType } from "./compile-scalar.ts";
import { compileUnevaluated } from "./compile-unevaluated.ts";
import { createPatternTest, type PatternEngine } from "./linear-pattern.ts";
import { Meter } from "./meter.ts";
import type { Check, SchemaCompiler } from "./schema-check.ts";

/** A schema compiled to nested functions. No code is generated from text. */
export interface CompiledSchema {
  readonly check: Check;
  readonly meter: Meter;
}

/** The cost of compiling one node, in steps: compiling happens during a check and spends its budget. */
const stepsPerNode = 50;

/**
 * Compiles the root; the other nodes are compiled when a value first needs them. `engine` may be absent
 * when the graph has no patterns.
 */
export function compileSchema(
  graph: SchemaGraph,
  engine: PatternEngine | undefined,
): CompiledSchema {
  const meter = new Meter();
  const acceptAll = inSequence(undefined, [], meter);
  const acceptNone: Check = (_value, trace) => {
    meter.spend(1);
    trace?.report("false", "is not allowed");
    return false;
  };
  const checks = new Map<JsonSchemaObject, Check>();
  const compiler: SchemaCompiler = {
    graph,
    meter,
    nodeOf: (schema) => (typeof schema === "boolean" ? undefined : graph.nodes.get(schema)),
    compile(schema) {
      if (typeof schema === "boolean") return schema ? acceptAll : acceptNone;
      const known = checks.get(schema);
      if (known !== undefined) return known;
      meter.spend(stepsPerNode);
      const check = compileNode(schema, compiler);
      checks.set(schema, check);
      return check;
    },
    compilePattern(source) {
      const pattern = graph.patterns.get(source);
      if (pattern === undefined || engine === undefined) return undefined;
      return createPatternTest(pattern, engine, meter);
    },
  };
  return { check: compileReference(graph.root, compiler), meter };
}

function compileNode(schema: JsonSchemaObject, compiler: SchemaCompiler): Check {
  const node = compiler.nodeOf(schema);
  if (node === undefined) return compiler.compile(true);
  const references = node.references.map((target) => compileReference(target, compiler));
  if (node.isReferenceOnly) return inSequence(undefined, references, compiler.meter);
  const checks = [
    ...references,
    ...compileScalar(node, compiler),
    ...compileObject(node, compiler),
    ...compileArray(node, compiler),
    ...compileCombinators(node, compiler),
    ...compileUnevaluated(node, compiler),
  ];
  return inSequence(compileType(node), checks, compiler.meter);
}

/** Compiles the target when a value first reaches it: compiling a recursive schema at once would never end. */
function compileReference(target: JsonSchema, compiler: SchemaCompiler): Check {
  let check: Check | undefined;
  return (value, trace) => {
    check ??= compiler.compile(target);
    return check(value, trace);
  };
}

function inSequence(type: Check | undefined, checks: readonly Check[], meter: Meter): Check {
  if (checks.length === 0)
    return (value, trace) => {
      meter.spend(1);
      return type === undefined || type(value, trace);
    };
  return (value, trace) => {
    meter.spend(1);
    // A value of the wrong type has one problem, not one for each keyword.
    if (type !== undefined && !type(value, trace)) return false;
    let isValid = true;
    for (const check of checks) {
      if (check(value, trace)) continue;
      if (trace === undefined) return false;
      isValid = false;
    }
    return isValid;
  };
}
