import type { CallOptions, ToolArguments } from "../call/call-contract.ts";
import { modelText } from "../call/model-text.ts";
import type { Outcome } from "../call/outcome.ts";
import {
  callback,
  checkArguments,
  listOf,
  number,
  object,
  options as optionsShape,
  signal as signalShape,
  withMethods,
} from "../errors/check-arguments.ts";
import { McpError } from "../errors/mcp-error.ts";
import type { McpTool } from "../session/mcp-tool.ts";
import { isJsonObject } from "../text/json-object.ts";
import { truncate } from "../text/truncate.ts";
import { originalArguments } from "./argument-names.ts";
import { type ModelImage, modelImages } from "./model-images.ts";
import type { ToolSource } from "./offered-tools.ts";

/** A call as a model made it: nothing about its input is known yet. */
export interface ModelCall {
  readonly name: string;
  readonly input: unknown;
  /** The framework's id of the call, carried through events and outcome. */
  readonly callId?: string | undefined;
}

/** What the model gets to see of a call. Failures are text only: no provider takes images with an error. */
export interface ModelResult {
  readonly text: string;
  readonly isError: boolean;
  readonly images: readonly ModelImage[];
  /** Undefined when the input was no object, or a prompt has no such tool: nothing was called. */
  readonly outcome: Outcome | undefined;
}

export type RunOptions = Pick<CallOptions, "signal" | "timeoutMs" | "onProgress">;

const shapes = {
  source: withMethods("a session or a PromptTemplate", "find"),
  calls: listOf(object),
  options: optionsShape({ signal: signalShape, timeoutMs: number, onProgress: callback }),
} as const;

/** Throws `invalid_arguments` for what the program handed over; what the model wrote is no concern of this. */
export function checkRun(
  where: string,
  ...given: readonly [ToolSource, unknown, RunOptions]
): void {
  checkArguments(where, shapes, given);
}

/** Resolves for everything that can happen to a call, denials and nonsense of the model included. */
export async function runModelCall(
  source: ToolSource,
  call: ModelCall,
  options: RunOptions,
): Promise<ModelResult> {
  const { name, input, callId } = call;
  if (!isJsonObject(input)) return refusal(`${name}: the arguments must be a JSON object`);
  const outcome = await callTool(source, name, input, { ...options, callId });
  if (outcome === undefined) return refusal(`no tool "${truncate(name, 128)}"`);
  return {
    text: modelText(outcome),
    isError: !outcome.ok,
    images: outcome.ok ? modelImages(outcome.content) : [],
    outcome,
  };
}

/** The same with arguments as JSON text, in which models write nothing for no arguments. */
export async function runJsonCall(
  source: ToolSource,
  call: Omit<ModelCall, "input"> & { readonly json: string },
  options: RunOptions,
): Promise<ModelResult> {
  const { json, ...rest } = call;
  let input: unknown;
  try {
    input = json.trim() === "" ? {} : JSON.parse(json);
  } catch {
    return refusal(`${call.name}: the arguments are not valid JSON`);
  }
  return runModelCall(source, { ...rest, input }, options);
}

/** For an API that has no mark for a failed call: the text says it. */
export function readableText({ text, isError }: ModelResult): string {
  return isError ? `Error: ${text}` : text;
}

/** A session says by itself why a name stands for nothing; a prompt knows only what its text speaks of. */
async function callTool(
  source: ToolSource,
  name: string,
  input: ToolArguments,
  { signal, timeoutMs, onProgress, callId }: CallOptions,
): Promise<Outcome | undefined> {
  const options = { signal, timeoutMs, onProgress, callId };
  const tool = findTool(source, name);
  if (tool !== undefined)
    return await tool.execute(originalArguments(tool.inputSchema, input), options);
  return "call" in source ? await source.call(name, input, options) : undefined;
}

/** The sections of a prompt may have been disconnected since it was rendered. */
function findTool(source: ToolSource, name: string): McpTool | undefined {
  try {
    return source.find(name);
  } catch (error) {
    if (!McpError.is(error)) throw error;
    return undefined;
  }
}

function refusal(text: string): ModelResult {
  return { text, isError: true, images: [], outcome: undefined };
}
