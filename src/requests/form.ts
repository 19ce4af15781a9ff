import type { Limits } from "../config/limits.ts";
import type { FieldValue, FormField, TextFormat } from "../human/human.ts";
import { isJsonObject, type JsonObject } from "../protocol/json-object.ts";
import { checkPlainJson } from "../schema/plain-json.ts";
import { createValidator, type Validator } from "../schema/validator.ts";
import { boundedLine } from "../text/bounded-text.ts";
import { parseFormFields } from "./form-fields.ts";
import { refuseQuestion } from "./refuse-question.ts";

/** A form is for one look of a person; schemas of tools may be larger. */
const formLimits = { maxSchemaBytes: 64 * 1_024, maxSchemaDepth: 8, maxSchemaNodes: 2_000 };

/** A form that a person can fill in, and what an answer to it must look like. */
export interface Form {
  readonly fields: readonly FormField[];
  readonly validator: Validator;
}

export type FormContent = Readonly<Record<string, FieldValue>>;

export type CheckedContent =
  | { readonly ok: true; readonly content: FormContent }
  /** `problem` is for whoever answered; it names fields, never what was answered. */
  | { readonly ok: false; readonly problem: string };

/** Throws when the schema describes no form that the protocol allows, or one that is too large. */
export function parseForm(schema: unknown, limits: Limits): Form {
  const validator = createValidator(schema, { limits: { ...limits, ...formLimits } });
  if (validator.report.kind === "refused")
    throw refuseQuestion(
      "elicitation/create",
      `its form cannot be used: ${validator.report.reason}`,
    );
  return { fields: parseFormFields(schema), validator };
}

/** Fills in the defaults of what was left out and holds the rest to the form. */
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

/** The schema engine takes formats for remarks, as the standard says; here they are what was asked. */
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
