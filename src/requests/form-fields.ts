import type { FieldOption, FormField, TextFormat } from "../human/human.ts";
import { isJsonObject, type JsonObject } from "../protocol/json-object.ts";
import { boundedLine } from "../text/bounded-text.ts";
import { refuseQuestion } from "./refuse-question.ts";

/** More than any form that a person fills in between two steps of a call. */
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

/**
 * The fields of a form as the protocol allows them: one level, and values that a person can type or
 * choose. Texts come out safe to show; names and option values stay as they are, since the answer has
 * to hold them. Throws for anything else.
 */
export function parseFormFields(schema: unknown): readonly FormField[] {
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
    title: line(typeof title === "string" ? title : name, maxTitleChars),
    ...(typeof description === "string" && {
      description: line(description, maxDescriptionChars),
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

/** Plain values, values with names beside them, or values that carry their titles. */
function optionsOf(list: unknown, names?: unknown): readonly FieldOption[] | undefined {
  if (list === undefined) return undefined;
  if (!Array.isArray(list) || list.length === 0 || list.length > maxOptions)
    throw refuseForm(`a choice in its form does not offer 1 to ${maxOptions} options`);
  return list.map((option: unknown, index) => {
    const { const: value, title } = isJsonObject(option)
      ? option
      : { const: option, title: Array.isArray(names) ? (names[index] as unknown) : undefined };
    if (typeof value !== "string") throw refuseForm("a choice in its form offers more than text");
    return { value, title: line(typeof title === "string" ? title : value, maxTitleChars) };
  });
}

/** The members of `schema` that are there and of the right type; a wrong one only guided the person. */
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

function line(text: string, limit: number): string {
  // Cut twice: neutralizing a megabyte for two hundred characters would be work for nothing.
  return boundedLine(text, limit);
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
