import type { CallOptions, ToolArguments } from "../call/call-path.ts";
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
import type { Session } from "../session/session.ts";
import { originalArguments } from "./argument-names.ts";
import { type ModelImage, modelImages } from "./model-images.ts";

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
  /** Undefined when the input was no object, and so nothing was called. */
  readonly outcome: Outcome | undefined;
}

export type RunOptions = Pick<CallOptions, "signal" | "timeoutMs" | "onProgress">;

const shapes = {
  session: withMethods("a session", "find", "call"),
  calls: listOf(object),
  options: optionsShape({ signal: signalShape, timeoutMs: number, onProgress: callback }),
} as const;

/** Throws `invalid_arguments` for what the program handed over; what the model wrote is no concern of this. */
export function checkRun(where: string, ...given: readonly [Session, unknown, RunOptions]): void {
  checkArguments(where, shapes, given);
}

/** Resolves for everything that can happen to a call, denials and nonsense of the model included. */
export async function runModelCall(
  session: Session,
  call: ModelCall,
  options: RunOptions,
): Promise<ModelResult> {
  const { name, input, callId } = call;
  if (!isArguments(input)) return refusal(`${name}: the arguments must be a JSON object`);
  const { signal, timeoutMs, onProgress } = options;
  const tool = session.find(name);
  const args = tool === undefined ? input : originalArguments(tool.inputSchema, input);
  const outcome = await session.call(name, args, { signal, timeoutMs, onProgress, callId });
  return {
    text: modelText(outcome),
    isError: !outcome.ok,
    images: outcome.ok ? modelImages(outcome.content) : [],
    outcome,
  };
}

/** The same with arguments as JSON text, in which models write nothing for no arguments. */
export async function runJsonCall(
  session: Session,
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
  return runModelCall(session, { ...rest, input }, options);
}

/** For an API that has no mark for a failed call: the text says it. */
export function readableText({ text, isError }: ModelResult): string {
  return isError ? `Error: ${text}` : text;
}

function isArguments(input: unknown): input is ToolArguments {
  return typeof input === "object" && input !== null && !Array.isArray(input);
}

function refusal(text: string): ModelResult {
  return { text, isError: true, images: [], outcome: undefined };
}
