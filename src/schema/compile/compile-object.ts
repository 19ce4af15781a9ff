import { closest } from "../../text/closest.ts";
import { isJsonObject, type JsonObject } from "../../text/json-object.ts";
import { boundedLine } from "../../text/untrusted/bounded-text.ts";
import { describeSchema } from "../guard/describe-schema.ts";
import type { JsonSchema } from "../guard/json-schema.ts";
import type { SchemaNode } from "../guard/schema-graph.ts";
import { countOf } from "./compile-scalar.ts";
import { definedKeys, readOwn } from "./json-values.ts";
import { type Check, edgeOf, edgesOf, keywordOf, type SchemaCompiler } from "./schema-check.ts";
import type { Trace } from "./validation-failure.ts";

type ObjectCheck = (object: JsonObject, trace: Trace | undefined) => boolean;

export function compileObject(node: SchemaNode, compiler: SchemaCompiler): readonly Check[] {
  const checks = [
    compileRequired(node, compiler),
    compileProperties(node, compiler),
    compileOtherProperties(node, compiler),
    compileNames(node, compiler),
    compilePropertyCount(node, compiler),
    compileDependentRequired(node, compiler),
  ].filter((check) => check !== undefined);
  if (checks.length === 0) return [];
  return [
    (value, trace) => {
      if (!isJsonObject(value)) return true;
      let isValid = true;
      for (const check of checks) {
        if (check(value, trace)) continue;
        if (trace === undefined) return false;
        isValid = false;
      }
      return isValid;
    },
  ];
}

/** Returns a reader for one property. Names on `Object.prototype` need the slower check for own properties. */
function readerOf(key: string): (object: JsonObject) => unknown {
  if (key in Object.prototype) return (object) => readOwn(object, key);
  return (object) => object[key];
}

function compileRequired(node: SchemaNode, { meter }: SchemaCompiler): ObjectCheck | undefined {
  const required = keywordOf(node, "required");
  if (!Array.isArray(required) || required.length === 0) return undefined;
  const names = [...new Set(required as readonly string[])];
  const readers = names.map((name) => readerOf(name));
  return (object, trace) => {
    meter.spendOn(names.length);
    if (trace === undefined) return readers.every((read) => read(object) !== undefined);
    const missing = names.filter((name) => readOwn(object, name) === undefined);
    for (const name of missing) reportMissing(node, name, trace);
    return missing.length === 0;
  };
}

function reportMissing(node: SchemaNode, name: string, trace: Trace): void {
  const properties = node.schema["properties"];
  const declared = isJsonObject(properties) ? readOwn(properties, name) : undefined;
  const expected = describeSchema(declared);
  if (expected === "any") trace.at(name).report("required", "is required");
  else trace.at(name).report("required", `is required (${expected})`, expected);
}

interface Property {
  readonly key: string;
  readonly read: (object: JsonObject) => unknown;
  readonly schema: JsonSchema;
  /** Compiled when a value first has the property: few calls use every property of a tool. */
  check: Check | undefined;
}

function compileProperties(node: SchemaNode, compiler: SchemaCompiler): ObjectCheck | undefined {
  const properties = edgesOf(node, "properties").map(({ key, schema }): Property => {
    const name = String(key);
    return { key: name, read: readerOf(name), schema, check: undefined };
  });
  if (properties.length === 0) return undefined;
  return (object, trace) => {
    compiler.meter.spendOn(properties.length);
    let isValid = true;
    for (const property of properties) {
      const { key, read } = property;
      const value = read(object);
      if (value === undefined) continue;
      const check = (property.check ??= compiler.compile(property.schema));
      if (check(value, trace?.at(key))) continue;
      if (trace === undefined || trace.isFull) return false;
      isValid = false;
    }
    return isValid;
  };
}

/** Compiles `patternProperties` and `additionalProperties`, which look at every key of the value. */
function compileOtherProperties(
  node: SchemaNode,
  compiler: SchemaCompiler,
): ObjectCheck | undefined {
  const additional = edgeOf(node, "additionalProperties");
  const patterns = compilePatternProperties(node, compiler);
  if ((additional === undefined || additional === true) && patterns.length === 0) return undefined;
  const properties = keywordOf(node, "properties");
  const declared = new Set(isJsonObject(properties) ? Object.keys(properties) : []);
  const checkAdditional = additional === undefined ? undefined : compiler.compile(additional);
  return (object, trace) => {
    let isValid = true;
    for (const key of Object.keys(object)) {
      const value = object[key];
      if (value === undefined) continue;
      compiler.meter.spend(1);
      let isCovered = declared.has(key);
      if (isCovered && patterns.length === 0) continue;
      let isAccepted = true;
      for (const { matches, check } of patterns) {
        if (!matches(key)) continue;
        isCovered = true;
        if (!check(value, trace?.at(key))) isAccepted = false;
      }
      if (!isCovered && additional === false) {
        isAccepted = false;
        if (trace !== undefined) reportUnknown(key, declared, trace);
      } else if (!isCovered && checkAdditional?.(value, trace?.at(key)) === false) {
        isAccepted = false;
      }
      if (isAccepted) continue;
      if (trace === undefined || trace.isFull) return false;
      isValid = false;
    }
    return isValid;
  };
}

/** With more declared names than this, no likely spelling is searched for: it would take too long. */
const maxCompared = 200;

function reportUnknown(key: string, declared: ReadonlySet<string>, trace: Trace): void {
  const [suggestion] = declared.size > maxCompared ? [] : closest(key, declared, 1);
  const hint = suggestion === undefined ? "" : `; did you mean "${boundedLine(suggestion, 64)}"?`;
  trace.at(key).report("additionalProperties", `is not a known property${hint}`);
}

export interface PatternProperty {
  readonly matches: (key: string) => boolean;
  readonly check: Check;
}

export function compilePatternProperties(
  node: SchemaNode,
  compiler: SchemaCompiler,
): readonly PatternProperty[] {
  const compiled: PatternProperty[] = [];
  for (const { key, schema } of edgesOf(node, "patternProperties")) {
    const matches = compiler.compilePattern(String(key));
    if (matches !== undefined) compiled.push({ matches, check: compiler.compile(schema) });
  }
  return compiled;
}

function compileNames(node: SchemaNode, compiler: SchemaCompiler): ObjectCheck | undefined {
  const names = edgeOf(node, "propertyNames");
  if (names === undefined) return undefined;
  const check = compiler.compile(names);
  return (object, trace) => {
    let isValid = true;
    for (const key of Object.keys(object)) {
      if (object[key] === undefined || check(key, undefined)) continue;
      if (trace === undefined || trace.isFull) return false;
      trace.at(key).report("propertyNames", "has a name that is not allowed");
      isValid = false;
    }
    return isValid;
  };
}

function compilePropertyCount(
  node: SchemaNode,
  { meter }: SchemaCompiler,
): ObjectCheck | undefined {
  const min = keywordOf(node, "minProperties");
  const max = keywordOf(node, "maxProperties");
  const least = typeof min === "number" ? min : 0;
  const most = typeof max === "number" ? max : Number.POSITIVE_INFINITY;
  if (least === 0 && most === Number.POSITIVE_INFINITY) return undefined;
  return (object, trace) => {
    const count = definedKeys(object, meter).length;
    if (count < least)
      trace?.report("minProperties", `must have at least ${countOf(least, "field")}`);
    if (count > most) trace?.report("maxProperties", `must have at most ${countOf(most, "field")}`);
    return count >= least && count <= most;
  };
}

/** Compiles `dependentRequired`, and the entries of the older `dependencies` that are lists of names. */
function compileDependentRequired(
  node: SchemaNode,
  { meter }: SchemaCompiler,
): ObjectCheck | undefined {
  const rules: { readonly when: string; readonly needs: readonly string[] }[] = [];
  for (const keyword of ["dependentRequired", "dependencies"]) {
    const map = keywordOf(node, keyword);
    if (!isJsonObject(map)) continue;
    for (const [when, needs] of Object.entries(map))
      if (Array.isArray(needs)) rules.push({ when, needs: needs as readonly string[] });
  }
  if (rules.length === 0) return undefined;
  return (object, trace) => {
    let isValid = true;
    meter.spendOn(rules.length);
    for (const { when, needs } of rules) {
      if (readOwn(object, when) === undefined) continue;
      meter.spendOn(needs.length);
      for (const name of needs) {
        if (readOwn(object, name) !== undefined) continue;
        const what = `is required when "${boundedLine(when, 64)}" is given`;
        trace?.at(name).report("dependentRequired", what);
        isValid = false;
      }
    }
    return isValid;
  };
}
