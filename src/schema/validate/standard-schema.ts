import { boundedLine } from "../../text/untrusted/bounded-text.ts";
import {
  invalid,
  Trace,
  type ValidationFailure,
  type ValidationProblem,
} from "../compile/validation-failure.ts";

/**
 * A schema of another library that converts itself to JSON Schema: the interface of
 * standardschema.dev/json-schema, which zod, ArkType, Valibot and others implement. `Output` is the type of
 * an accepted value.
 */
export interface StandardJsonSchema<Output = unknown> {
  readonly "~standard": {
    readonly version: 1;
    readonly vendor: string;
    /** Carries types for the compiler; absent at run time. */
    readonly types?: { readonly input: unknown; readonly output: Output } | undefined;
    readonly jsonSchema: {
      readonly input: ConvertSchema;
      readonly output: ConvertSchema;
    };
    /** The library's own check. It returns the value, or issues. */
    readonly validate?: ((value: unknown) => unknown) | undefined;
  };
}

/** Converts the schema. It throws for a target or a schema that cannot be converted. */
type ConvertSchema = (options: { readonly target: string }) => Readonly<Record<string, unknown>>;

interface Issue {
  readonly message: string;
  readonly path?: readonly (PropertyKey | { readonly key: PropertyKey })[] | undefined;
}

const maxMessage = 200;

/** Whether the value is a schema of a library that follows the standard. It need not carry JSON Schema. */
export function isStandardSchema(value: unknown): value is StandardJsonSchema {
  return isHolder(value) && "~standard" in value && isHolder(value["~standard"]);
}

/** Whether the value can have members. Some libraries make schemas that are functions. */
function isHolder(value: unknown): value is object {
  return (typeof value === "object" && value !== null) || typeof value === "function";
}

export type CarriedSchema =
  | { readonly schema: Readonly<Record<string, unknown>>; readonly flaw?: undefined }
  | { readonly flaw: string; readonly hint?: string };

/** Converts a schema to JSON Schema 2020-12, or to draft-07 where the library has nothing newer. */
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

/** Runs the library's own check. Rejects with the error that it throws. */
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
