import type { ToolArguments } from "../../call/call-contract.ts";
import { schemaError } from "../../call/tool-schemas.ts";
import { createError } from "../../errors/families.ts";
import type { McpError } from "../../errors/mcp-error.ts";
import { checkPlainJson, frozenCopy } from "../../schema/validate/plain-json.ts";
import {
  checkByLibrary,
  isStandardSchema,
  type StandardJsonSchema,
  toJsonSchema,
} from "../../schema/validate/standard-schema.ts";
import { isJsonObject } from "../../text/json-object.ts";
import { boundedLine } from "../../text/untrusted/bounded-text.ts";
import type { ToolContext } from "./tool-context.ts";

/** A tool that the program brings itself. Its calls take the same path as those of servers' tools. */
export interface NativeTool<Params = ToolArguments> {
  /** 1 to 64 letters, digits, `_` and `-`: what every model provider accepts. */
  readonly name: string;
  readonly title?: string | undefined;
  readonly description: string;
  /**
   * JSON Schema, or a schema of a library that carries it as Standard JSON Schema does: zod 4.2 and newer,
   * ArkType, Valibot and others. Such a schema also gives the type of `params`.
   */
  readonly inputSchema: Readonly<Record<string, unknown>> | StandardJsonSchema<Params>;
  readonly outputSchema?: Readonly<Record<string, unknown>> | StandardJsonSchema | undefined;
  readonly annotations?: Readonly<Record<string, unknown>> | undefined;
  /** The host's limit for calls by default; `0` means none. */
  readonly timeoutMs?: number | undefined;
  /** A person is asked first, unless the session's level is `yolo`. */
  readonly needsConsent?: boolean | undefined;
  /**
   * `params` have passed the schema and are frozen; where the schema of a library can check by itself, they
   * are what its check made of them, with defaults and transforms. Returns text, JSON, `{ content, structuredContent }`
   * or `{ message, value, success }`; what it throws fails the call.
   */
  handler(params: Params, call: { readonly context: ToolContext }): unknown;
}

/** A handler's input: the arguments, and the check of a schema library that turns them into its params. */
export interface HandlerInput {
  readonly params: ToolArguments;
  readonly accept: ((params: ToolArguments) => Promise<ToolArguments>) | undefined;
}

interface ReadSchema extends Pick<HandlerInput, "accept"> {
  readonly inputSchema: Readonly<Record<string, unknown>>;
}

export function readInputSchema({ name, inputSchema: given }: NativeTool): ReadSchema {
  const member = "inputSchema";
  if (!isStandardSchema(given))
    return { inputSchema: plainObject(given, name, member), accept: undefined };
  const isChecked = given["~standard"].validate !== undefined;
  // Without a check of the library nothing transforms arguments, so callers have to give the output form.
  const schema = carriedSchema(given, isChecked ? "input" : "output", { name, member });
  return {
    inputSchema: plainObject(schema, name, member),
    accept: isChecked ? (params) => accept(given, params, name) : undefined,
  };
}

export function readOutputSchema({
  name,
  outputSchema: given,
}: NativeTool): Readonly<Record<string, unknown>> | undefined {
  const member = "outputSchema";
  if (given === undefined) return undefined;
  if (!isStandardSchema(given)) return plainObject(given, name, member);
  return plainObject(carriedSchema(given, "output", { name, member }), name, member);
}

function carriedSchema(
  schema: StandardJsonSchema,
  side: "input" | "output",
  { name, member }: { readonly name: string; readonly member: string },
): Readonly<Record<string, unknown>> {
  const carried = toJsonSchema(schema, side);
  if (carried.flaw === undefined) return carried.schema;
  const { flaw, hint } = carried;
  throw nativeToolError(name, `has an unusable ${member}: ${flaw}`, { hint });
}

async function accept(
  schema: StandardJsonSchema,
  params: ToolArguments,
  toolName: string,
): Promise<ToolArguments> {
  const checked = await checkByLibrary(schema, params);
  if (checked.failure === undefined) return checked.value as ToolArguments;
  const tool = { originalName: toolName, serverName: undefined };
  throw schemaError(tool, "invalid_arguments", checked.failure);
}

/** A frozen copy of what has to be an object of JSON. Throws `config_invalid` for anything else. */
export function plainObject(
  value: Readonly<Record<string, unknown>>,
  toolName: string,
  member: string,
): Readonly<Record<string, unknown>> {
  const flaw = isJsonObject(value) ? checkPlainJson(value)?.message : "is not an object";
  if (flaw !== undefined) throw nativeToolError(toolName, `has an unusable ${member}: ${flaw}`);
  return frozenCopy(value);
}

/** The error for a definition of a native tool that could not be called. */
export function nativeToolError(
  name: unknown,
  what: string,
  options: { readonly hint?: string | undefined } = {},
): McpError {
  const toolName = boundedLine(String(name), 128);
  return createError("config_invalid", `the native tool "${toolName}" ${what}`, {
    details: { toolName },
    ...options,
  });
}
