import { isJsonObject } from "../../text/json-object.ts";
import { describeSchema } from "../guard/describe-schema.ts";
import type { JsonSchema } from "../guard/json-schema.ts";
import type { SchemaNode } from "../guard/schema-graph.ts";
import { readOwn } from "./json-values.ts";
import { type Check, edgeOf, edgesOf, type SchemaCompiler } from "./schema-check.ts";
import type { Trace } from "./validation-failure.ts";

/**
 * Compiles the keywords that apply further schemas to the same value: `allOf`, `anyOf`, `not`, `if` and so
 * on.
 */
export function compileCombinators(node: SchemaNode, compiler: SchemaCompiler): readonly Check[] {
  return [
    ...edgesOf(node, "allOf").map(({ schema }) => compiler.compile(schema)),
    ...compileAnyOf(node, compiler),
    ...compileOneOf(node, compiler),
    ...compileNot(node, compiler),
    ...compileConditional(node, compiler),
    ...compileDependentSchemas(node, compiler),
  ];
}

interface Branch {
  readonly schema: JsonSchema;
  readonly check: Check;
}

function branchesOf(
  node: SchemaNode,
  keyword: string,
  compiler: SchemaCompiler,
): readonly Branch[] {
  return edgesOf(node, keyword).map(({ schema }) => ({ schema, check: compiler.compile(schema) }));
}

function compileAnyOf(node: SchemaNode, compiler: SchemaCompiler): readonly Check[] {
  const branches = branchesOf(node, "anyOf", compiler);
  if (branches.length === 0) return [];
  return [
    (value, trace) => {
      for (const { check } of branches) if (check(value, undefined)) return true;
      if (trace !== undefined) explainNoMatch({ keyword: "anyOf", branches, value, trace });
      return false;
    },
  ];
}

function compileOneOf(node: SchemaNode, compiler: SchemaCompiler): readonly Check[] {
  const branches = branchesOf(node, "oneOf", compiler);
  if (branches.length === 0) return [];
  // Two matches of uncertain branches do not prove that both match.
  const isCertain = !branches.some(({ schema }) => compiler.nodeOf(schema)?.isUncertain);
  return [
    (value, trace) => {
      let matches = 0;
      for (const { check } of branches) {
        if (check(value, undefined)) matches += 1;
        if (matches > (isCertain ? 1 : 0)) break;
      }
      if (matches === 1) return true;
      if (matches > 1) trace?.report("oneOf", "matches more than one of the allowed forms");
      else if (trace !== undefined) explainNoMatch({ keyword: "oneOf", branches, value, trace });
      return false;
    },
  ];
}

interface NoMatch {
  readonly keyword: string;
  readonly branches: readonly Branch[];
  readonly value: unknown;
  readonly trace: Trace;
}

/**
 * Reports the problems inside the one branch that the value was meant for, if type and constants single
 * one out.
 */
function explainNoMatch({ keyword, branches, value, trace }: NoMatch): void {
  const [meant, ...others] = branches.filter(({ schema }) => mayBeMeant(schema, value));
  if (meant !== undefined && others.length === 0) {
    meant.check(value, trace);
    return;
  }
  const expected = describeSchema({ anyOf: branches.map(({ schema }) => schema) });
  trace.report(keyword, `must be one of the allowed forms (${expected})`, expected);
}

/** Whether the type and the constant properties of a branch fit the value. */
function mayBeMeant(schema: JsonSchema, value: unknown): boolean {
  if (typeof schema === "boolean") return false;
  const { type, properties } = schema as { type?: unknown; properties?: unknown };
  if (typeof type === "string" && !isOfType(value, type)) return false;
  if (!isJsonObject(value) || !isJsonObject(properties)) return typeof type === "string";
  return Object.entries(properties).every(([name, declared]) => {
    const constant = isJsonObject(declared) ? declared["const"] : undefined;
    return typeof constant !== "string" || readOwn(value, name) === constant;
  });
}

function isOfType(value: unknown, type: string): boolean {
  if (type === "object") return isJsonObject(value);
  if (type === "array") return Array.isArray(value);
  return type === "integer" ? typeof value === "number" : typeof value === type;
}

function compileNot(node: SchemaNode, compiler: SchemaCompiler): readonly Check[] {
  const schema = edgeOf(node, "not");
  if (schema === undefined || compiler.nodeOf(schema)?.isUncertain) return [];
  const check = compiler.compile(schema);
  return [
    (value, trace) => {
      if (!check(value, undefined)) return true;
      trace?.report("not", "has a form that is not allowed");
      return false;
    },
  ];
}

function compileConditional(node: SchemaNode, compiler: SchemaCompiler): readonly Check[] {
  const condition = edgeOf(node, "if");
  if (condition === undefined || compiler.nodeOf(condition)?.isUncertain) return [];
  const [thenSchema, elseSchema] = [edgeOf(node, "then"), edgeOf(node, "else")];
  if (thenSchema === undefined && elseSchema === undefined) return [];
  const check = compiler.compile(condition);
  const thenCheck = compiler.compile(thenSchema ?? true);
  const elseCheck = compiler.compile(elseSchema ?? true);
  return [
    (value, trace) => (check(value, undefined) ? thenCheck(value, trace) : elseCheck(value, trace)),
  ];
}

/** Compiles `dependentSchemas`, and the entries of the older `dependencies` that are schemas. */
function compileDependentSchemas(node: SchemaNode, compiler: SchemaCompiler): readonly Check[] {
  return [...edgesOf(node, "dependentSchemas"), ...edgesOf(node, "dependencies")].map(
    ({ key, schema }): Check => {
      const name = String(key);
      const check = compiler.compile(schema);
      return (value, trace) =>
        !isJsonObject(value) || readOwn(value, name) === undefined || check(value, trace);
    },
  );
}
