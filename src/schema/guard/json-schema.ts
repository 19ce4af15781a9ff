import { isJsonObject } from "../../text/json-object.ts";

/** A JSON Schema as parsed JSON. Nothing about it is checked yet. */
export type JsonSchema = boolean | JsonSchemaObject;

export interface JsonSchemaObject {
  readonly [keyword: string]: unknown;
}

export function isJsonSchema(value: unknown): value is JsonSchema {
  return typeof value === "boolean" || isJsonObject(value);
}

/**
 * The draft whose rules a schema is read by. `draft-07` stands for drafts 6 and 7; `draft-04` differs
 * from it only in the keyword that names a schema. Every dialect accepts a boolean `exclusiveMinimum`.
 */
export type Dialect = "2020-12" | "2019-09" | "draft-07" | "draft-04";

const dialects: ReadonlyMap<string, Dialect> = new Map<string, Dialect>([
  ["draft/2020-12/schema", "2020-12"],
  // This address stands for the latest published draft.
  ["schema", "2020-12"],
  ["draft/2019-09/schema", "2019-09"],
  ["draft-07/schema", "draft-07"],
  ["draft-06/schema", "draft-07"],
  ["draft-04/schema", "draft-04"],
]);

/**
 * Reads the dialect from `$schema`. A missing `$schema` means 2020-12, the default of the protocol.
 * Returns undefined for an unsupported one: a custom meta-schema may turn keywords off.
 */
export function dialectOf(schema: JsonSchema): Dialect | undefined {
  const declared = typeof schema === "object" ? schema["$schema"] : undefined;
  if (typeof declared !== "string") return "2020-12";
  const path = /^https?:\/\/json-schema\.org\/(.+?)#?$/.exec(declared)?.[1];
  return path === undefined ? undefined : dialects.get(path);
}

/** Returns the keyword that gives a schema its address. */
export function addressKeyword(dialect: Dialect): "id" | "$id" {
  return dialect === "draft-04" ? "id" : "$id";
}

/** Whether the dialect ignores the keywords beside a `$ref`, as all did before 2019-09. */
export function refHidesSiblings(dialect: Dialect): boolean {
  return dialect === "draft-07" || dialect === "draft-04";
}

/** The keywords that describe the first items of a list and the items after them; 2020-12 renamed both. */
export interface ArrayForm {
  readonly prefixKeyword: "prefixItems" | "items";
  readonly restKeyword: "items" | "additionalItems";
}

const newForm: ArrayForm = { prefixKeyword: "prefixItems", restKeyword: "items" };
const oldForm: ArrayForm = { prefixKeyword: "items", restKeyword: "additionalItems" };

/**
 * Picks the form by the type of `items`, not by the dialect: many servers write the old form without a
 * `$schema`.
 */
export function arrayForm(schema: JsonSchemaObject): ArrayForm {
  return Array.isArray(schema["items"]) ? oldForm : newForm;
}
