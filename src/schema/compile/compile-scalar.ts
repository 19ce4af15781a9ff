import { isJsonObject } from "../../text/json-object.ts";
import { describeLiteral, describeLiterals, joinAlternatives } from "../guard/describe-schema.ts";
import type { SchemaNode } from "../guard/schema-graph.ts";
import { isEqualJson } from "./json-values.ts";
import type { Meter } from "./meter.ts";
import { type Check, keywordOf, type SchemaCompiler } from "./schema-check.ts";

const typeTests: Readonly<Record<string, (value: unknown) => boolean>> = {
  null: (value) => value === null,
  boolean: (value) => typeof value === "boolean",
  string: (value) => typeof value === "string",
  number: (value) => typeof value === "number",
  integer: (value) => Number.isInteger(value),
  array: (value) => Array.isArray(value),
  object: isJsonObject,
};

const articles: Readonly<Record<string, string>> = {
  null: "null",
  boolean: "true or false",
  string: "a string",
  number: "a number",
  integer: "a whole number",
  array: "a list",
  object: "an object",
};

export function compileType(node: SchemaNode): Check | undefined {
  const type = keywordOf(node, "type");
  if (type === undefined) return undefined;
  const names = [...new Set((Array.isArray(type) ? type : [type]) as readonly string[])];
  const tests = names.map((name) => typeTests[name]).filter((test) => test !== undefined);
  const expected = joinAlternatives(names);
  const what = `must be ${names.map((name) => articles[name]).join(" or ")}`;
  const [test] = tests;
  const accepts =
    tests.length === 1 && test !== undefined
      ? test
      : (value: unknown) => tests.some((test) => test(value));
  return (value, trace) => {
    if (accepts(value)) return true;
    trace?.report("type", what, expected);
    return false;
  };
}

/**
 * Some servers list an empty `enum` until they have loaded the choices, so the message says why nothing
 * fits.
 */
const noChoice = 'can have no value at all: the schema lists none (its "enum" is empty)';

/** Compiles `const`, `enum` and the keywords for numbers and strings. */
export function compileScalar(node: SchemaNode, compiler: SchemaCompiler): readonly Check[] {
  return [
    ...compileConstant(node, compiler),
    ...compileNumber(node, compiler),
    ...compileLength(node, compiler),
    ...compilePattern(node, compiler),
  ];
}

function compileConstant(node: SchemaNode, { meter }: SchemaCompiler): readonly Check[] {
  const checks: Check[] = [];
  if (Object.hasOwn(node.schema, "const")) {
    const constant = node.schema["const"];
    checks.push((value, trace) => {
      if (isEqualJson(value, constant, meter)) return true;
      const expected = describeLiteral(constant);
      trace?.report("const", `must be ${expected}`, expected);
      return false;
    });
  }
  const values = keywordOf(node, "enum");
  if (Array.isArray(values)) {
    const scalars = new Set(values.filter((entry) => typeof entry !== "object" || entry === null));
    const compounds = values.filter((entry) => typeof entry === "object" && entry !== null);
    checks.push((value, trace) => {
      if (scalars.has(value)) return true;
      if (compounds.length > 0 && typeof value === "object" && value !== null) {
        meter.spend(compounds.length);
        if (compounds.some((entry) => isEqualJson(value, entry, meter))) return true;
      }
      if (trace !== undefined) {
        const expected = describeLiterals(values);
        const choices = expected.replaceAll(" | ", ", ");
        trace.report("enum", values.length > 0 ? `must be one of ${choices}` : noChoice, expected);
      }
      return false;
    });
  }
  return checks;
}

interface NumberLimit {
  readonly keyword: string;
  readonly bound: number;
  readonly words: string;
  readonly accepts: (value: number, bound: number) => boolean;
}

function* numberLimits(node: SchemaNode): Generator<NumberLimit> {
  const sides = [
    {
      inclusive: "minimum",
      exclusive: "exclusiveMinimum",
      words: ["at least", "greater than"],
      accepts: [(a: number, b: number) => a >= b, (a: number, b: number) => a > b],
    },
    {
      inclusive: "maximum",
      exclusive: "exclusiveMaximum",
      words: ["at most", "less than"],
      accepts: [(a: number, b: number) => a <= b, (a: number, b: number) => a < b],
    },
  ] as const;
  for (const { inclusive, exclusive, words, accepts } of sides) {
    const bound = keywordOf(node, inclusive);
    const strict = keywordOf(node, exclusive);
    // Draft 4 writes `exclusiveMinimum: true` beside `minimum`; later drafts write the number.
    const index = strict === true ? 1 : 0;
    if (typeof bound === "number")
      yield { keyword: inclusive, bound, words: words[index], accepts: accepts[index] };
    if (typeof strict === "number")
      yield { keyword: exclusive, bound: strict, words: words[1], accepts: accepts[1] };
  }
  const divisor = keywordOf(node, "multipleOf");
  if (typeof divisor === "number")
    yield { keyword: "multipleOf", bound: divisor, words: "a multiple of", accepts: isMultipleOf };
}

/** The cost of an exact decimal division, in steps of a check. */
const stepsPerDivision = 20;

function compileNumber(node: SchemaNode, { meter }: SchemaCompiler): readonly Check[] {
  return [...numberLimits(node)].map(
    ({ keyword, bound, words, accepts }): Check =>
      (value, trace) => {
        if (typeof value !== "number") return true;
        if (keyword === "multipleOf") meter.spend(stepsPerDivision);
        if (accepts(value, bound)) return true;
        trace?.report(keyword, `must be ${words} ${bound}`, `${words} ${bound}`);
        return false;
      },
  );
}

/** Divides in decimal, as people write numbers: 0.3 is a multiple of 0.1 although 0.3 / 0.1 is not whole. */
function isMultipleOf(value: number, divisor: number): boolean {
  if (Number.isInteger(value) && Number.isInteger(divisor)) return value % divisor === 0;
  if (!Number.isFinite(value)) return false;
  const [a, aExponent] = decimal(value);
  const [b, bExponent] = decimal(divisor);
  const shift = aExponent - bExponent;
  if (shift >= 0) return (a * 10n ** BigInt(shift)) % b === 0n;
  return a % (b * 10n ** BigInt(-shift)) === 0n;
}

/** Splits a number into the digits and the power of ten of its shortest decimal form. */
function decimal(value: number): readonly [digits: bigint, exponent: number] {
  const [mantissa = "0", exponent = "0"] = value.toString().split("e");
  const [whole = "0", fraction = ""] = mantissa.split(".");
  return [BigInt(whole + fraction), Number(exponent) - fraction.length];
}

function compileLength(node: SchemaNode, { meter }: SchemaCompiler): readonly Check[] {
  const checks: Check[] = [];
  const min = keywordOf(node, "minLength");
  const max = keywordOf(node, "maxLength");
  if (typeof min === "number")
    checks.push((value, trace) => {
      if (typeof value !== "string" || hasAtLeast(value, min, meter)) return true;
      trace?.report("minLength", `must have at least ${countOf(min, "character")}`);
      return false;
    });
  if (typeof max === "number")
    checks.push((value, trace) => {
      if (typeof value !== "string" || !hasAtLeast(value, max + 1, meter)) return true;
      trace?.report("maxLength", `must have at most ${countOf(max, "character")}`);
      return false;
    });
  return checks;
}

export function countOf(count: number, noun: string): string {
  return `${count} ${noun}${count === 1 ? "" : "s"}`;
}

/**
 * Whether the text has `count` characters or more. Counts code points, but only where UTF-16 units cannot
 * decide.
 */
function hasAtLeast(text: string, count: number, meter: Meter): boolean {
  if (text.length < count) return false;
  if (text.length >= count * 2) return true;
  meter.spendOn(text.length);
  let characters = 0;
  for (const _character of text) {
    characters += 1;
    if (characters >= count) return true;
  }
  return characters >= count;
}

function compilePattern(node: SchemaNode, compiler: SchemaCompiler): readonly Check[] {
  const source = keywordOf(node, "pattern");
  const test = typeof source === "string" ? compiler.compilePattern(source) : undefined;
  if (test === undefined) return [];
  return [
    (value, trace) => {
      if (typeof value !== "string" || test(value)) return true;
      trace?.report("pattern", `must match the pattern ${describeLiteral(source)}`);
      return false;
    },
  ];
}
