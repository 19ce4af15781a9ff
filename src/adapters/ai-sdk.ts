import type { ErrorCode } from "../errors/error-codes.ts";
import type { ModelImage } from "./model-images.ts";
import {
  type AdapterOptions,
  type OfferedTool,
  loadOfferedTools,
  type ToolSource,
} from "./offered-tools.ts";
import { type ModelResult, runModelCall } from "./run-model-call.ts";

/** The result of a call as the AI SDK keeps and streams it: plain JSON. */
export interface AiSdkOutput {
  readonly text: string;
  readonly isError: boolean;
  /** Why the call failed. */
  readonly code?: ErrorCode;
  readonly images?: readonly ModelImage[];
  readonly structured?: unknown;
}

export interface AiSdkCallOptions {
  readonly toolCallId: string;
  readonly abortSignal?: AbortSignal | undefined;
}

/** What the AI SDK puts into the message to the model. Version 7 has another word for images, and takes this one. */
export type AiSdkModelOutput =
  | { type: "text"; value: string }
  | { type: "error-text"; value: string }
  | {
      type: "content";
      value: (
        | { type: "text"; text: string }
        | { type: "image-data"; data: string; mediaType: string }
      )[];
    };

/**
 * A schema the SDK takes as one of its own. Its `validate` accepts everything, because the call path
 * checks arguments better: bounded, and with an answer from which a model learns.
 */
export interface AiSdkSchema {
  readonly "~standard": {
    readonly version: 1;
    readonly vendor: "plugboard";
    readonly validate: (value: unknown) => { readonly value: unknown };
  };
}

/** A tool of type `dynamic`, as the SDK's `dynamicTool` makes it. */
export interface AiSdkTool {
  readonly type: "dynamic";
  readonly description: string;
  readonly title?: string;
  readonly inputSchema: AiSdkSchema;
  readonly execute: (input: unknown, options: AiSdkCallOptions) => Promise<AiSdkOutput>;
  readonly toModelOutput: (result: { readonly output: unknown }) => AiSdkModelOutput;
}

/**
 * The tools of a session or a prompt as a `ToolSet` of Vercel's AI SDK, version 6 or 7, by public name. A snapshot: make
 * it anew for each turn to follow servers that come, go and change.
 */
export async function aiSdkTools(
  source: ToolSource,
  options: AdapterOptions = {},
): Promise<Record<string, AiSdkTool>> {
  const entries = (await loadOfferedTools(source, options)).map(
    (offered) => [offered.name, aiSdkTool(source, offered, options)] as const,
  );
  // Without a prototype: a model that calls `constructor` must not find one.
  return Object.assign(
    Object.create(null) as Record<string, AiSdkTool>,
    Object.fromEntries(entries),
  );
}

function aiSdkTool(source: ToolSource, offered: OfferedTool, options: AdapterOptions): AiSdkTool {
  const { name, description, schema, tool } = offered;
  return {
    type: "dynamic",
    description,
    ...(tool.title === undefined ? {} : { title: tool.title }),
    inputSchema: aiSdkSchema(schema),
    async execute(input, { toolCallId: callId, abortSignal: signal }) {
      const { timeoutMs } = options;
      return aiSdkOutput(
        await runModelCall(source, { name, input, callId }, { signal, timeoutMs }),
      );
    },
    toModelOutput: (result) => modelOutput(outputIn(result)),
  };
}

/** The mark by which the SDK knows its own schemas, registered so that its copies agree on it. */
const schemaMark = Symbol.for("vercel.ai.schema");

/** With the mark the SDK sends a schema as it is; by the standard alone it would close each object. */
function aiSdkSchema(jsonSchema: Readonly<Record<string, unknown>>): AiSdkSchema {
  const marked = { [schemaMark]: true, jsonSchema, validate: undefined };
  return { ...marked, "~standard": { version: 1, vendor: "plugboard", validate: acceptAll } };
}

function acceptAll(value: unknown): { readonly value: unknown } {
  return { value };
}

function aiSdkOutput({ text, isError, images, outcome }: ModelResult): AiSdkOutput {
  return {
    text,
    isError,
    ...(outcome?.ok === false ? { code: outcome.error.code } : {}),
    ...(images.length === 0 ? {} : { images }),
    ...(outcome?.structured === undefined ? {} : { structured: outcome.structured }),
  };
}

/** Mastra hands over the output itself, and what a message store gave back may be anything. */
function outputIn(result: unknown): AiSdkOutput {
  const output: unknown = isObject(result) && "output" in result ? result["output"] : result;
  if (isObject(output) && typeof output["text"] === "string")
    return output as Readonly<Record<string, unknown>> & AiSdkOutput;
  return { text: JSON.stringify(output) ?? "", isError: false };
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null;
}

function modelOutput({ text, isError, images = [] }: AiSdkOutput): AiSdkModelOutput {
  if (isError) return { type: "error-text", value: text };
  if (!Array.isArray(images) || images.length === 0) return { type: "text", value: text };
  const parts = (images as readonly ModelImage[]).map(({ data, mediaType }) => ({
    type: "image-data" as const,
    data,
    mediaType,
  }));
  return { type: "content", value: [{ type: "text", text }, ...parts] };
}
