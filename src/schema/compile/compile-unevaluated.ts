import { isJsonObject } from "../../text/json-object.ts";
import { arrayForm, type JsonSchema } from "../guard/json-schema.ts";
import type { SchemaNode } from "../guard/schema-graph.ts";
import { compilePatternProperties } from "./compile-object.ts";
import { readOwn } from "./json-values.ts";
import { type Check, edgeOf, edgesOf, keywordOf, type SchemaCompiler } from "./schema-check.ts";

/** The properties or positions of one value that a schema has evaluated. */
interface Evaluated {
  isAll: boolean;
  readonly keys: Set<string | number>;
}

/** Adds the parts that one schema, known to accept the value, has evaluated. */
type Collect = (value: unknown, evaluated: Evaluated) => void;

/**
 * Compiles `unevaluatedProperties` and `unevaluatedItems`. They depend on which alternatives matched.
 * That is checked a second time instead of being recorded during the check: few schemas use these
 * keywords, and all others stay free of the bookkeeping.
 */
export function compileUnevaluated(node: SchemaNode, compiler: SchemaCompiler): readonly Check[] {
  return [
    ...compileOne(node, "unevaluatedProperties", compiler),
    ...compileOne(node, "unevaluatedItems", compiler),
  ];
}

type Keyword = "unevaluatedProperties" | "unevaluatedItems";

function compileOne(
  node: SchemaNode,
  keyword: Keyword,
  compiler: SchemaCompiler,
): readonly Check[] {
  const schema = edgeOf(node, keyword);
  if (schema === undefined || schema === true) return [];
  const collector = new Collector(keyword, compiler);
  const collect = collector.compile(node, true);
  const check = compiler.compile(schema);
  const isFor = keyword === "unevaluatedItems" ? Array.isArray : isJsonObject;
  return [
    (value, trace) => {
      if (!isFor(value)) return true;
      const evaluated: Evaluated = { isAll: false, keys: new Set() };
      collect(value, evaluated);
      if (evaluated.isAll) return true;
      let isValid = true;
      for (const [key, part] of partsOf(value)) {
        compiler.meter.spend(1);
        if (part === undefined || evaluated.keys.has(key)) continue;
        if (schema === false) trace?.at(key).report(keyword, "is not allowed here");
        else if (check(part, trace?.at(key))) continue;
        if (trace === undefined || trace.isFull) return false;
        isValid = false;
      }
      return isValid;
    },
  ];
}

function partsOf(value: readonly unknown[] | Readonly<Record<string, unknown>>) {
  const parts: [string | number, unknown][] = Array.isArray(value)
    ? [...value.entries()]
    : Object.entries(value);
  return parts;
}

class Collector {
  readonly #keyword: Keyword;
  readonly #compiler: SchemaCompiler;
  readonly #compiled = new Map<SchemaNode, Collect>();

  constructor(keyword: Keyword, compiler: SchemaCompiler) {
    this.#keyword = keyword;
    this.#compiler = compiler;
  }

  /** Compiles the collection for `node`. The owner of the keyword skips its own, which evaluates every part. */
  compile(node: SchemaNode, isOwner = false): Collect {
    const known = this.#compiled.get(node);
    if (known !== undefined) return known;
    const steps = [
      ...(this.#keyword === "unevaluatedProperties"
        ? this.#ownProperties(node)
        : this.#ownItems(node)),
      ...(isOwner || edgeOf(node, this.#keyword) === undefined ? [] : [markAll]),
      ...this.#inPlace(node),
    ];
    const { meter } = this.#compiler;
    const collect: Collect = (value, evaluated) => {
      for (const step of steps) {
        if (evaluated.isAll) return;
        meter.spend(1);
        step(value, evaluated);
      }
    };
    this.#compiled.set(node, collect);
    return collect;
  }

  #ownProperties(node: SchemaNode): readonly Collect[] {
    const { meter } = this.#compiler;
    const isUnknown = node.skipped.has("patternProperties") || node.skipped.has("properties");
    if (isUnknown || node.skipped.has("additionalProperties")) return [markAll];
    if (edgeOf(node, "additionalProperties") !== undefined) return [markAll];
    const properties = keywordOf(node, "properties");
    const names = isJsonObject(properties) ? Object.keys(properties) : [];
    const patterns = compilePatternProperties(node, this.#compiler);
    if (names.length === 0 && patterns.length === 0) return [];
    return [
      (value, { keys }) => {
        meter.spendOn(names.length);
        for (const name of names) keys.add(name);
        for (const key of patterns.length === 0 ? [] : Object.keys(value as object))
          if (patterns.some(({ matches }) => matches(key))) keys.add(key);
      },
    ];
  }

  #ownItems(node: SchemaNode): readonly Collect[] {
    const { dialect } = this.#compiler.graph;
    const { prefixKeyword, restKeyword } = arrayForm(node.schema);
    const isUnknown = node.skipped.has(prefixKeyword) || node.skipped.has(restKeyword);
    if (isUnknown || edgeOf(node, restKeyword) !== undefined) return [markAll];
    const prefix = edgesOf(node, prefixKeyword).map(({ key }) => Number(key));
    const steps: Collect[] = [
      (_value, { keys }) => {
        for (const index of prefix) keys.add(index);
      },
    ];
    const contains = edgeOf(node, "contains");
    // An item that `contains` accepts counts as evaluated only since 2020-12.
    if (contains !== undefined && dialect === "2020-12") {
      const check = this.#compiler.compile(contains);
      steps.push((value, { keys }) => {
        for (const [index, item] of (value as readonly unknown[]).entries())
          if (check(item, undefined)) keys.add(index);
      });
    }
    return steps;
  }

  #inPlace(node: SchemaNode): readonly Collect[] {
    return [
      ...[...node.references, ...edgesOf(node, "allOf").map(({ schema }) => schema)].map((schema) =>
        this.#always(schema),
      ),
      ...[...edgesOf(node, "anyOf"), ...edgesOf(node, "oneOf")].map(({ schema }) =>
        this.#whenAccepted(schema),
      ),
      ...[...edgesOf(node, "dependentSchemas"), ...edgesOf(node, "dependencies")].map(
        ({ key, schema }) => this.#whenPresent(String(key), schema),
      ),
      ...this.#conditional(node),
    ];
  }

  #always(schema: JsonSchema): Collect {
    const node = this.#compiler.nodeOf(schema);
    return node === undefined ? markNothing : this.compile(node);
  }

  #whenAccepted(schema: JsonSchema): Collect {
    const check = this.#compiler.compile(schema);
    const collect = this.#always(schema);
    return (value, evaluated) => {
      if (check(value, undefined)) collect(value, evaluated);
    };
  }

  #whenPresent(name: string, schema: JsonSchema): Collect {
    const collect = this.#always(schema);
    return (value, evaluated) => {
      if (isJsonObject(value) && readOwn(value, name) !== undefined) collect(value, evaluated);
    };
  }

  #conditional(node: SchemaNode): readonly Collect[] {
    const condition = edgeOf(node, "if");
    if (condition === undefined) return [];
    if (this.#compiler.nodeOf(condition)?.isUncertain) return [markAll];
    const check = this.#compiler.compile(condition);
    const collectIf = this.#always(condition);
    const collectThen = this.#always(edgeOf(node, "then") ?? true);
    const collectElse = this.#always(edgeOf(node, "else") ?? true);
    return [
      (value, evaluated) => {
        if (!check(value, undefined)) return collectElse(value, evaluated);
        collectIf(value, evaluated);
        collectThen(value, evaluated);
      },
    ];
  }
}

const markAll: Collect = (_value, evaluated) => {
  evaluated.isAll = true;
};
const markNothing: Collect = () => undefined;
