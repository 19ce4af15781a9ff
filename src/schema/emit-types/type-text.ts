import { isJsonObject } from "../../text/json-object.ts";
import type { JsonSchema } from "../guard/json-schema.ts";
import { allKinds, kindBits, type Kinds } from "./accepted-kinds.ts";
import {
  commentText,
  descriptionText,
  docComment,
  fieldName,
  indent,
  stringLiteral,
} from "./source-text.ts";

/** How strongly the outermost operator of a type binds; weaker ones need parentheses inside stronger ones. */
type Binding = "union" | "intersection" | "operator" | "atom";
const strength: Readonly<Record<Binding, number>> = {
  union: 0,
  intersection: 1,
  operator: 2,
  atom: 3,
};

/** A TypeScript type as text, with what is needed to put it inside of others. */
export interface TypeText {
  readonly text: string;
  readonly binding: Binding;
  /** Keywords of the schema that the type cannot express. */
  readonly wider: readonly string[];
}

export function atom(text: string, wider: readonly string[] = []): TypeText {
  return { text, binding: "atom", wider };
}

export const unknownType: TypeText = atom("unknown");
export const neverType: TypeText = atom("never");
export const anyObjectType: TypeText = atom("Readonly<Record<string, unknown>>");
/** `{}` would accept everything. */
export const emptyObjectType: TypeText = atom("Readonly<Record<string, never>>");

export function widened(type: TypeText, keywords: readonly string[]): TypeText {
  if (keywords.length === 0) return type;
  return { ...type, wider: [...new Set([...type.wider, ...keywords])] };
}

const maxReasons = 200;

/** The comment on a type that accepts more than its schema. */
function widerText(reasons: readonly string[]): string | undefined {
  if (reasons.length === 0) return undefined;
  return `wider than the schema: ${commentText(reasons.join(", "), maxReasons)}`;
}

/** The type as part of an expression; a comment names the keywords that it leaves out. */
export function render(type: TypeText, inside: Binding = "union"): string {
  const comment = widerText(type.wider);
  const text = comment === undefined ? type.text : `/* ${comment} */ ${type.text}`;
  return strength[type.binding] < strength[inside] ? `(${text})` : text;
}

export function unionOf(types: readonly TypeText[]): TypeText {
  const open = types.filter(({ text }) => text === unknownType.text);
  if (open.length > 0) return mergeSame(open);
  const members = distinct(types.filter(({ text }) => text !== neverType.text));
  if (members.length <= 1) return members[0] ?? neverType;
  return { text: joined(members, "|", "intersection"), binding: "union", wider: [] };
}

export function intersectionOf(types: readonly TypeText[]): TypeText {
  if (types.some(({ text }) => text === neverType.text)) return neverType;
  // `unknown` adds nothing to an intersection, but its reasons for being so wide are kept.
  const silent = types.filter(({ text }) => text === unknownType.text);
  const reasons = silent.flatMap(({ wider }) => wider);
  const members = distinct(types.filter(({ text }) => text !== unknownType.text));
  const [only = unknownType] = members;
  if (members.length <= 1) return widened(only, reasons);
  return { text: joined(members, "&", "operator"), binding: "intersection", wider: reasons };
}

function joined(members: readonly TypeText[], operator: "|" | "&", inside: Binding): string {
  const texts = members.map((member) => render(member, inside));
  const line = texts.join(` ${operator} `);
  if (line.length <= 80 && !line.includes("\n")) return line;
  return texts.map((text) => `\n  ${operator} ${indent(text)}`).join("");
}

function distinct(types: readonly TypeText[]): readonly TypeText[] {
  const byText = new Map<string, TypeText>();
  for (const type of types) {
    const known = byText.get(type.text);
    byText.set(type.text, known === undefined ? type : mergeSame([known, type]));
  }
  return [...byText.values()];
}

function mergeSame(types: readonly TypeText[]): TypeText {
  const [first = unknownType] = types;
  return widened(
    first,
    types.flatMap(({ wider }) => wider),
  );
}

export function arrayOf(item: TypeText): TypeText {
  return { text: `readonly ${render(item, "atom")}[]`, binding: "operator", wider: [] };
}

export interface TupleParts {
  readonly prefix: readonly TypeText[];
  /** How many of the first items are always there. */
  readonly required: number;
  /** The type of all further items; undefined when there are none. */
  readonly rest: TypeText | undefined;
}

export function tupleOf({ prefix, required, rest }: TupleParts): TypeText {
  const open = [...prefix.slice(required), ...(rest === undefined ? [] : [rest])];
  // In an element that may be absent, a list that refers back to the whole needs a label to compile.
  const isLabelled = open.some(({ text }) => text.includes("readonly "));
  const parts = prefix.map((type, index) => {
    const mark = index < required ? "" : "?";
    if (isLabelled) return `item${index}${mark}: ${render(type)}`;
    return mark === "" ? render(type) : `${render(type, "atom")}${mark}`;
  });
  if (rest !== undefined) parts.push(`...${isLabelled ? "items: " : ""}${render(rest, "atom")}[]`);
  return { text: `readonly [${parts.join(", ")}]`, binding: "operator", wider: [] };
}

export interface Field {
  readonly name: string;
  readonly type: TypeText;
  readonly isRequired: boolean;
  readonly description?: string | undefined;
}

/** Optional fields of any type, with the descriptions of their schemas. */
export function optionalFields(names: ReadonlyMap<string, JsonSchema>): readonly Field[] {
  return [...names].map(([name, schema]) => ({
    name,
    type: unknownType,
    isRequired: false,
    description: isJsonObject(schema) ? descriptionText(schema["description"]) : undefined,
  }));
}

/** An object type; `index` is the type of every field that is not among `fields`. */
export function objectOf(fields: readonly Field[], index?: TypeText): TypeText {
  const members = fields.map(({ name, type, isRequired, description }) => {
    const mark = isRequired ? "" : "?";
    return `${docComment([description])}readonly ${fieldName(name)}${mark}: ${render(type)}`;
  });
  if (index !== undefined) members.push(`readonly [name: string]: ${render(index)}`);
  const [only = ""] = members;
  if (members.length === 1 && only.length <= 60 && !only.includes("\n")) return atom(`{ ${only} }`);
  return atom(`{\n${members.map((member) => `  ${indent(member)};\n`).join("")}}`);
}

/**
 * An object type whose other fields have the type `others`. TypeScript wants the type of every named
 * field to fit the one of the others; where it does not, the others are `unknown`.
 */
export function objectWithOthers(
  fields: readonly Field[],
  others: TypeText,
  reasons: readonly string[],
): TypeText {
  const isUnknown = others.text === unknownType.text;
  const doFit = isUnknown || fields.every(({ type }) => type.text === others.text);
  if (!doFit) return objectOf(fields, atom("unknown", [...reasons, "additionalProperties"]));
  const hasOptional = fields.some(({ isRequired }) => !isRequired);
  const index = hasOptional ? unionOf([others, atom("undefined")]) : others;
  return objectOf(fields, widened(index, reasons));
}

/** All values of these kinds, with the types of their objects and arrays where these are known. */
export function kindsType(kinds: Kinds, object?: TypeText, array?: TypeText): TypeText {
  const isEverything = kinds === allKinds && object === undefined && array === undefined;
  if (isEverything) return unknownType;
  const types: TypeText[] = [];
  if ((kinds & kindBits.object) !== 0) types.push(object ?? anyObjectType);
  if ((kinds & kindBits.array) !== 0) types.push(array ?? arrayOf(unknownType));
  for (const kind of ["string", "number", "boolean", "null"] as const)
    if ((kinds & kindBits[kind]) !== 0) types.push(atom(kind));
  return unionOf(types);
}

/** Replaces `unknown` by the values of `kinds`; any other type says its kinds itself. */
export function restrict(type: TypeText, kinds: Kinds): TypeText {
  return type.text === unknownType.text ? widened(kindsType(kinds), type.wider) : type;
}

/** The type of exactly this JSON value. */
export function literalOf(value: unknown): TypeText {
  if (typeof value === "string") return atom(stringLiteral(value));
  if (Array.isArray(value))
    return tupleOf({
      prefix: value.map((item) => literalOf(item)),
      required: value.length,
      rest: undefined,
    });
  if (typeof value !== "object" || value === null) return atom(JSON.stringify(value) ?? "null");
  const entries = Object.entries(value);
  if (entries.length === 0) return emptyObjectType;
  return objectOf(
    entries.map(([name, entry]) => ({ name, type: literalOf(entry), isRequired: true })),
  );
}

/** The whole statement that gives a type its name. */
export function declaration(name: string, type: TypeText, documentation?: string): string {
  const comment = docComment([documentation, widerText(type.wider)]);
  const { text, binding } = type;
  const [, onOneLine] = /^\{ (.*) \}$/.exec(text) ?? [];
  const body = onOneLine === undefined ? text : `{\n  ${onOneLine};\n}`;
  const isInterface = binding === "atom" && text.startsWith("{");
  const statement = isInterface ? `interface ${name} ${body}\n` : `type ${name} = ${text};\n`;
  // Spaces at the end of a line come from types of several lines: no literal or comment holds a line break.
  return `${comment}export ${statement}`.replaceAll(/ +$/gm, "");
}
