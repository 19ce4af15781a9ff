import { boundedLine } from "../../text/untrusted/bounded-text.ts";
import {
  invalid,
  Trace,
  type ValidationFailure,
  type ValidationProblem,
} from "../compile/validation-failure.ts";

/**
 * A schema of another library that can be had as JSON Schema: the interface of standardschema.dev/json-schema,
 * which zod, ArkType, Valibot and others implement. `Output` is the type of a value that was accepted.
 */
export interface StandardJsonSchema<Output = unknown> {
  readonly "~standard": {
    readonly version: 1;
    readonly vendor: string;
    /** Never there at run time. */
    readonly types?: { readonly input: unknown; readonly output: Output } | undefined;
    readonly jsonSchema: {
      readonly input: ConvertSchema;
      readonly output: ConvertSchema;
    };
    /** The library's own check, of the same standard; gives the value, or issues. */
    readonly validate?: ((value: unknown) => unknown) | undefined;
  };
}

/** Throws for a target or a schema that cannot be converted. */
type ConvertSchema = (options: { readonly target: string }) => Readonly<Record<string, unknown>>;

interface Issue {
  readonly message: string;
  readonly path?: readonly (PropertyKey | { readonly key: PropertyKey })[] | undefined;
}

const maxMessage = 200;

/** Whether the value belongs to a library of the standard; that it carries JSON Schema is not said by that. */
export function isStandardSchema(value: unknown): value is StandardJsonSchema {
  return isHolder(value) && "~standard" in value && isHolder(value["~standard"]);
}

/** Some libraries make schemas that are functions. */
function isHolder(value: unknown): value is object {
  return (typeof value === "object" && value !== null) || typeof value === "function";
}

export type CarriedSchema =
  | { readonly schema: Readonly<Record<string, unknown>>; readonly flaw?: undefined }
  | { readonly flaw: string; readonly hint?: string };

/** The JSON Schema of what the schema takes or gives, of draft 2020-12 or, from libraries that have only that, draft-07. */
export function toJsonSchema(schema: StandardJsonSchema, side: "input" | "output"): CarriedSchema {
  const { vendor, jsonSchema } = schema["~standard"] as Partial<StandardJsonSchema["~standard"]>;
  const convert = jsonSchema?.[side];
  if (typeof convert !== "function")
    return {
      flaw: `it is a schema of ${boundedLine(String(vendor), 64)} that carries no JSON Schema`,
      hint: "use a version that does (zod 4.2, ArkType 2.1.28), or its JSON Schema, such as z.toJSONSchema(schema)",
    };
  try {
    return { schema: convert({ target: "draft-2020-12" }) };
  } catch (error) {
    const $schema = "http://json-schema.org/draft-07/schema#";
    try {
      return { schema: { $schema, ...convert({ target: "draft-07" }) } };
    } catch {
      const reason = error instanceof Error ? error.message : String(error);
      return { flaw: boundedLine(reason, maxMessage) };
    }
  }
}

export type LibraryVerdict =
  | { readonly value: unknown; readonly failure?: undefined }
  | { readonly failure: ValidationFailure };

/** Runs the library's own check. Rejects with what that throws. */
export async function checkByLibrary(
  schema: StandardJsonSchema,
  value: unknown,
): Promise<LibraryVerdict> {
  const result = (await schema["~standard"].validate?.(value)) as
    | { readonly value?: unknown; readonly issues?: readonly Issue[] | undefined }
    | undefined;
  if (result?.issues === undefined) return { value: result?.value };
  const problems: ValidationProblem[] = [];
  for (const { message, path = [] } of result.issues) {
    let trace = Trace.into(problems);
    for (const part of path) trace = trace.at(keyOf(part));
    trace.report("validate", `is not accepted: ${boundedLine(message, maxMessage)}`);
  }
  return { failure: invalid(problems) };
}

function keyOf(part: PropertyKey | { readonly key: PropertyKey }): string | number {
  const key = typeof part === "object" ? part.key : part;
  return typeof key === "number" ? key : String(key);
}
