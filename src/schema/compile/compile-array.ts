import { arrayForm } from "../guard/json-schema.ts";
import type { SchemaNode } from "../guard/schema-graph.ts";
import { countOf } from "./compile-scalar.ts";
import { hasDuplicates } from "./json-values.ts";
import { type Check, edgeOf, edgesOf, keywordOf, type SchemaCompiler } from "./schema-check.ts";
import type { Trace } from "./validation-failure.ts";

type ArrayCheck = (items: readonly unknown[], trace: Trace | undefined) => boolean;

export function compileArray(node: SchemaNode, compiler: SchemaCompiler): readonly Check[] {
  const checks = [
    compileItemCount(node),
    compileItems(node, compiler),
    compileContains(node, compiler),
    compileUnique(node, compiler),
  ].filter((check) => check !== undefined);
  return checks.map(
    (check): Check =>
      (value, trace) =>
        !Array.isArray(value) || check(value, trace),
  );
}

function compileItemCount(node: SchemaNode): ArrayCheck | undefined {
  const min = keywordOf(node, "minItems");
  const max = keywordOf(node, "maxItems");
  const least = typeof min === "number" ? min : 0;
  const most = typeof max === "number" ? max : Number.POSITIVE_INFINITY;
  if (least === 0 && most === Number.POSITIVE_INFINITY) return undefined;
  return ({ length }, trace) => {
    if (length < least) trace?.report("minItems", `must have at least ${countOf(least, "item")}`);
    if (length > most) trace?.report("maxItems", `must have at most ${countOf(most, "item")}`);
    return length >= least && length <= most;
  };
}

function compileItems(node: SchemaNode, compiler: SchemaCompiler): ArrayCheck | undefined {
  const form = arrayForm(node.schema);
  // Checks are stored by position: an entry that is no schema leaves a gap.
  const prefixChecks: Check[] = [];
  for (const { key, schema } of edgesOf(node, form.prefixKeyword))
    if (typeof key === "number") prefixChecks[key] = compiler.compile(schema);
  const rest = edgeOf(node, form.restKeyword);
  const restCheck = rest === undefined || rest === true ? undefined : compiler.compile(rest);
  if (prefixChecks.length === 0 && restCheck === undefined) return undefined;
  return (items, trace) => {
    const end =
      restCheck === undefined ? Math.min(items.length, prefixChecks.length) : items.length;
    let isValid = true;
    for (let index = 0; index < end; index += 1) {
      const check = prefixChecks[index] ?? restCheck;
      if (check === undefined || check(items[index], trace?.at(index))) continue;
      if (trace === undefined || trace.isFull) return false;
      isValid = false;
    }
    return isValid;
  };
}

function compileContains(node: SchemaNode, compiler: SchemaCompiler): ArrayCheck | undefined {
  const contains = edgeOf(node, "contains");
  if (contains === undefined) return undefined;
  const check = compiler.compile(contains);
  const { dialect } = compiler.graph;
  const hasCounts = dialect === "2020-12" || dialect === "2019-09";
  const min = hasCounts ? keywordOf(node, "minContains") : undefined;
  const max = hasCounts ? keywordOf(node, "maxContains") : undefined;
  const least = typeof min === "number" ? min : 1;
  // An uncertain schema may count items that do not match, which proves no excess.
  const isCertain = compiler.nodeOf(contains)?.isUncertain !== true;
  const most = typeof max === "number" && isCertain ? max : Number.POSITIVE_INFINITY;
  return (items, trace) => {
    let count = 0;
    for (const item of items) {
      if (check(item, undefined)) count += 1;
      if (count > most || (count >= least && most === Number.POSITIVE_INFINITY)) break;
    }
    if (count < least)
      trace?.report("contains", `must have at least ${countOf(least, "matching item")}`);
    if (count > most)
      trace?.report("maxContains", `must have at most ${countOf(most, "matching item")}`);
    return count >= least && count <= most;
  };
}

function compileUnique(node: SchemaNode, { meter }: SchemaCompiler): ArrayCheck | undefined {
  if (keywordOf(node, "uniqueItems") !== true) return undefined;
  return (items, trace) => {
    if (!hasDuplicates(items, meter)) return true;
    trace?.report("uniqueItems", "must not have the same item twice");
    return false;
  };
}
