import { isJsonObject } from "../text/json-object.ts";
import { shellWord } from "../text/shell-word.ts";
import { boundedLine } from "../text/untrusted/bounded-text.ts";
import { readOwn } from "./compile/json-values.ts";
import { describeLiteral, describeSchema } from "./guard/describe-schema.ts";

const maxShown = 12;

/** `add(a: number, b: number)`, optional ones with a question mark: `search(query: string, limit?: integer)`. */
export function formatSignature(toolName: string, schema: unknown): string {
  const parameters = parametersOf(schema);
  const shown = parameters
    .slice(0, maxShown)
    .map(({ name, isRequired, type }) => `${name}${isRequired ? "" : "?"}: ${type}`);
  if (parameters.length > maxShown) shown.push("…");
  return `${boundedLine(toolName, 128)}(${shown.join(", ")})`;
}

/**
 * What to type after the tool's name: the given arguments as they could be typed again, then a
 * place for each required one that is missing: `a=2 b=<number>`.
 */
export function formatUsage(schema: unknown, args: Readonly<Record<string, unknown>> = {}): string {
  const given = Object.keys(args).filter((name) => args[name] !== undefined);
  const typed = given.map((name) => `${forShell(name)}${assignment(schema, name, args[name])}`);
  const missing = parametersOf(schema)
    .filter(({ name, isRequired }) => isRequired && !given.includes(name))
    .map(
      ({ name, type }) => `${forShell(name)}=<${type.replaceAll(" | ", "|").replaceAll('"', "")}>`,
    );
  return [...typed, ...missing].join(" ");
}

interface Parameter {
  readonly name: string;
  readonly isRequired: boolean;
  readonly type: string;
}

/** Declared properties in the order of the schema, then required ones it forgot to declare. */
function parametersOf(schema: unknown): readonly Parameter[] {
  if (!isJsonObject(schema)) return [];
  const { properties, required } = schema;
  const declared = isJsonObject(properties) ? properties : {};
  const needed = new Set(
    Array.isArray(required) ? required.filter((name) => typeof name === "string") : [],
  );
  const names = new Set([...Object.keys(declared), ...needed]);
  return [...names].map((name) => ({
    name: boundedLine(name, 64),
    isRequired: needed.has(name),
    type: describeSchema(readOwn(declared, name)),
  }));
}

/** `=text` for strings, `:=json` where the text alone would be read as a string. */
function assignment(schema: unknown, name: string, value: unknown): string {
  if (typeof value === "string") return `=${forShell(value)}`;
  const properties = isJsonObject(schema) ? schema["properties"] : undefined;
  const declared = isJsonObject(properties) ? readOwn(properties, name) : undefined;
  const isKnown = describeSchema(declared) !== "any";
  return `${isKnown ? "=" : ":="}${forShell(describeLiteral(value))}`;
}

function forShell(text: string): string {
  return shellWord(boundedLine(text, 200));
}
