import type { Limits } from "../config/keys/limits.ts";
import type { FieldOption, FieldValue, FormField, TextFormat } from "../human/human.ts";
import { checkPlainJson } from "../schema/validate/plain-json.ts";
import { createValidator, type Validator } from "../schema/validate/validator.ts";
import { isJsonObject, type JsonObject } from "../text/json-object.ts";
import { boundedLine } from "../text/untrusted/bounded-text.ts";
import { refuseQuestion } from "./question.ts";

/** Limits of a form's schema: a person sees it as a whole, so it is smaller than that of a tool. */
const formLimits = { maxSchemaBytes: 64 * 1_024, maxSchemaDepth: 8, maxSchemaNodes: 2_000 };

/** Limits of a form that a person fills in between two steps of a call. */
const maxFields = 64;
const maxOptions = 256;
const maxNameChars = 128;
const maxTitleChars = 200;
const maxDescriptionChars = 1_000;

const textFormats: ReadonlySet<unknown> = new Set<TextFormat>([
  "email",
  "uri",
  "date",
  "date-time",
]);

/** A form that a person can fill in, with the validator of its answers. */
export interface Form {
  readonly fields: readonly FormField[];
  readonly validator: Validator;
}

export type FormContent = Readonly<Record<string, FieldValue>>;

export type CheckedContent =
  | { readonly ok: true; readonly content: FormContent }
  /** `problem` is for the person who answered; it names fields, never their values. */
  | { readonly ok: false; readonly problem: string };

/** Throws when the schema describes no form that the protocol allows, or one that is too large. */
export function parseForm(schema: unknown, limits: Limits): Form {
  const validator = createValidator(schema, { limits: { ...limits, ...formLimits } });
  if (validator.report.kind === "refused")
    throw refuseForm(`its form cannot be used: ${validator.report.reason}`);
  return { fields: parseFormFields(schema), validator };
}

/**
 * The fields of a form as the protocol allows them: one level, and values that a person can type or
 * choose. Texts come out safe to show; names and option values stay as they are, since the answer has
 * to hold them. Throws for anything else.
 */
function parseFormFields(schema: unknown): readonly FormField[] {
  if (!isJsonObject(schema) || schema["type"] !== "object")
    throw refuseForm("its form is not described as an object");
  const { properties = {}, required = [] } = schema;
  if (!isJsonObject(properties)) throw refuseForm("its form has no list of fields");
  const names = Object.keys(properties);
  if (names.length > maxFields) throw refuseForm(`its form has more than ${maxFields} fields`);
  if (!isStringList(required) || required.some((name) => !Object.hasOwn(properties, name)))
    throw refuseForm("its form requires fields that it does not have");
  return names.map((name) => parseField(name, properties[name], required.includes(name)));
}

function parseField(name: string, schema: unknown, isRequired: boolean): FormField {
  if (name === "" || name.length > maxNameChars) throw refuseForm("a field has no usable name");
  if (!isJsonObject(schema)) throw refuseForm("a field is not described");
  const { title, description } = schema;
  const base = {
    name,
    title: boundedLine(typeof title === "string" ? title : name, maxTitleChars),
    ...(typeof description === "string" && {
      description: boundedLine(description, maxDescriptionChars),
    }),
    isRequired,
  };
  switch (schema["type"]) {
    case "string":
      return { ...base, ...(choiceOf(schema) ?? textOf(schema)) };
    case "number":
    case "integer":
      return {
        ...base,
        type: schema["type"],
        ...pick(schema, ["minimum", "maximum"], isFiniteNumber),
        ...pick(schema, ["default"], isFiniteNumber),
      };
    case "boolean":
      return { ...base, type: "boolean", ...pick(schema, ["default"], isBoolean) };
    case "array":
      return { ...base, ...choicesOf(schema) };
    default:
      throw refuseForm("a field is neither text, number, yes or no, nor a choice");
  }
}

function textOf(schema: JsonObject) {
  return {
    type: "text" as const,
    ...pick(schema, ["format"], isTextFormat),
    ...pick(schema, ["minLength", "maxLength"], isFiniteNumber),
    ...pick(schema, ["default"], isString),
  };
}

function choiceOf(schema: JsonObject) {
  const options = optionsOf(schema["enum"] ?? schema["oneOf"], schema["enumNames"]);
  if (options === undefined) return undefined;
  return { type: "choice" as const, options, ...pick(schema, ["default"], isString) };
}

function choicesOf(schema: JsonObject) {
  const { items } = schema;
  const options = isJsonObject(items) ? optionsOf(items["enum"] ?? items["anyOf"]) : undefined;
  if (options === undefined) throw refuseForm("a list in its form offers nothing to choose from");
  return {
    type: "choices" as const,
    options,
    ...pick(schema, ["minItems", "maxItems"], isFiniteNumber),
    ...pick(schema, ["default"], isStringList),
  };
}

/** Reads the options of a choice: plain values, values with names beside them, or values with titles. */
function optionsOf(list: unknown, names?: unknown): readonly FieldOption[] | undefined {
  if (list === undefined) return undefined;
  if (!Array.isArray(list) || list.length === 0 || list.length > maxOptions)
    throw refuseForm(`a choice in its form does not offer 1 to ${maxOptions} options`);
  return list.map((option: unknown, index) => {
    const { const: value, title } = isJsonObject(option)
      ? option
      : { const: option, title: Array.isArray(names) ? (names[index] as unknown) : undefined };
    if (typeof value !== "string") throw refuseForm("a choice in its form offers more than text");
    return { value, title: boundedLine(typeof title === "string" ? title : value, maxTitleChars) };
  });
}

/** Copies the members of the right type. A wrong one is dropped: it would only have guided the person. */
function pick<K extends string, T>(
  schema: JsonObject,
  keys: readonly K[],
  isRight: (value: unknown) => value is T,
): { readonly [Key in K]?: T } {
  const picked: { [Key in K]?: T } = {};
  for (const key of keys) {
    const value = Object.hasOwn(schema, key) ? schema[key] : undefined;
    if (isRight(value)) picked[key] = value;
  }
  return picked;
}

const isString = (value: unknown): value is string => typeof value === "string";
const isBoolean = (value: unknown): value is boolean => typeof value === "boolean";
const isFiniteNumber = (value: unknown): value is number => Number.isFinite(value);
const isTextFormat = (value: unknown): value is TextFormat => textFormats.has(value);
const isStringList = (value: unknown): value is readonly string[] =>
  Array.isArray(value) && value.every((item) => typeof item === "string");

function refuseForm(reason: string) {
  return refuseQuestion("elicitation/create", reason);
}

/** Fills in the defaults and validates the answer against the form. */
export async function checkContent(form: Form, answered: unknown): Promise<CheckedContent> {
  if (!isJsonObject(answered)) return { ok: false, problem: "the answer is not an object" };
  const { fields, validator } = form;
  const extra = Object.keys(answered).find((key) => !fields.some(({ name }) => name === key));
  if (extra !== undefined)
    return { ok: false, problem: `${label(extra)} is not a field of the form` };
  const content = withDefaults(fields, answered);
  const verdict = checkPlainJson(content) ?? (await validator.validate(content));
  if (verdict !== undefined) return { ok: false, problem: verdict.message };
  const misshapen = fields.find((field) => !hasFormat(field, content[field.name]));
  if (misshapen?.type === "text")
    return {
      ok: false,
      problem: `${label(misshapen.name)} must be ${formatNames[misshapen.format ?? "uri"]}`,
    };
  return { ok: true, content: content as FormContent };
}

function withDefaults(fields: readonly FormField[], answered: JsonObject): JsonObject {
  const entries = fields
    .map((field) => [field.name, readOwn(answered, field.name) ?? field.default] as const)
    .filter(([, value]) => value !== undefined);
  // Not assigned one by one: a field may be called `__proto__`.
  return Object.fromEntries(entries);
}

function readOwn(object: JsonObject, key: string): unknown {
  return Object.hasOwn(object, key) ? object[key] : undefined;
}

const formatNames: Readonly<Record<TextFormat, string>> = {
  email: "an e-mail address",
  uri: "an address such as https://example.com/",
  date: "a date such as 2026-07-28",
  "date-time": "a date and time such as 2026-07-28T12:00:00Z",
};

const formatChecks: Readonly<Record<TextFormat, (text: string) => boolean>> = {
  email: (text) => /^[^\s@]{1,64}@[^\s@]{1,255}$/.test(text),
  uri: (text) => URL.canParse(text),
  date: (text) => /^\d{4}-\d\d-\d\d$/.test(text) && isRealDate(text),
  "date-time": (text) =>
    /^\d{4}-\d\d-\d\d[Tt]\d\d:\d\d:\d\d(\.\d{1,9})?([Zz]|[+-]\d\d:\d\d)$/.test(text) &&
    isRealDate(text.slice(0, 10)) &&
    !Number.isNaN(Date.parse(text)),
};

/** Checks a format, which the schema engine ignores, as the standard says. */
function hasFormat(field: FormField, value: unknown): boolean {
  if (field.type !== "text" || field.format === undefined || value === undefined) return true;
  return formatChecks[field.format](value as string);
}

/** `Date.parse` takes the 31st of February for the 3rd of March. */
function isRealDate(text: string): boolean {
  const date = new Date(`${text}T00:00:00Z`);
  return !Number.isNaN(date.getTime()) && date.toISOString().startsWith(text);
}

function label(name: string): string {
  return JSON.stringify(boundedLine(name, 64));
}
