import { isJsonObject } from "../../text/json-object.ts";

/** A schema in the form it travels in: parsed JSON. */
export type JsonSchema = boolean | JsonSchemaObject;

export interface JsonSchemaObject {
  readonly [keyword: string]: unknown;
}

export function isJsonSchema(value: unknown): value is JsonSchema {
  return typeof value === "boolean" || isJsonObject(value);
}

/**
 * The rules a schema is read by. `draft-07` stands for drafts 6 and 7 as well; `draft-04` differs
 * from it only in the keyword that names a schema. Boolean `exclusiveMinimum` is understood in all.
 */
export type Dialect = "2020-12" | "2019-09" | "draft-07" | "draft-04";

const dialects: ReadonlyMap<string, Dialect> = new Map<string, Dialect>([
  ["draft/2020-12/schema", "2020-12"],
  // Stands for the latest published draft.
  ["schema", "2020-12"],
  ["draft/2019-09/schema", "2019-09"],
  ["draft-07/schema", "draft-07"],
  ["draft-06/schema", "draft-07"],
  ["draft-04/schema", "draft-04"],
]);

/**
 * Reads the dialect from `$schema`: 2020-12, the dialect of the protocol, where it is absent or no text;
 * undefined for any other, such as a meta-schema of somebody's own, which may turn keywords off.
 */
export function dialectOf(schema: JsonSchema): Dialect | undefined {
  const declared = typeof schema === "object" ? schema["$schema"] : undefined;
  if (typeof declared !== "string") return "2020-12";
  const path = /^https?:\/\/json-schema\.org\/(.+?)#?$/.exec(declared)?.[1];
  return path === undefined ? undefined : dialects.get(path);
}

/** The keyword that gives a schema its address. */
export function addressKeyword(dialect: Dialect): "id" | "$id" {
  return dialect === "draft-04" ? "id" : "$id";
}

/** Before 2019-09 a `$ref` replaced everything beside it. */
export function refHidesSiblings(dialect: Dialect): boolean {
  return dialect === "draft-07" || dialect === "draft-04";
}

/** The two spellings of "first these, then the rest". */
export interface ArrayForm {
  readonly prefixKeyword: "prefixItems" | "items";
  readonly restKeyword: "items" | "additionalItems";
}

const newForm: ArrayForm = { prefixKeyword: "prefixItems", restKeyword: "items" };
const oldForm: ArrayForm = { prefixKeyword: "items", restKeyword: "additionalItems" };

/** Many servers write the old tuple form without a `$schema`, so 2020-12 understands it too. */
export function arrayForm(schema: JsonSchemaObject): ArrayForm {
  return Array.isArray(schema["items"]) ? oldForm : newForm;
}
