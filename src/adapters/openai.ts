import type { ModelImage } from "./model-images.ts";
import { type AdapterOptions, loadOfferedTools, type ToolSource } from "./offered-tools.ts";
import { checkRun, readableText, runJsonCall, type RunOptions } from "./run-model-call.ts";

/** A function as the Chat Completions API takes it. */
export interface OpenAiChatTool {
  type: "function";
  function: { name: string; description: string; parameters: Record<string, unknown> };
}

/** A function as the Responses API takes it. */
export interface OpenAiResponsesTool {
  type: "function";
  name: string;
  description: string;
  parameters: Record<string, unknown>;
  strict: false;
}

/** An item of `message.tool_calls`. */
export interface OpenAiChatCall {
  readonly type: "function";
  readonly id: string;
  readonly function: { readonly name: string; readonly arguments: string };
}

/** An item of `response.output`. */
export interface OpenAiResponsesCall {
  readonly type: "function_call";
  readonly call_id: string;
  readonly name: string;
  readonly arguments: string;
}

export interface OpenAiToolMessage {
  role: "tool";
  tool_call_id: string;
  content: string;
}

export interface OpenAiCallOutput {
  type: "function_call_output";
  call_id: string;
  output: string | OpenAiOutputPart[];
}

export type OpenAiOutputPart =
  | { type: "input_text"; text: string }
  | { type: "input_image"; image_url: string; detail: "auto" };

/** The answer to an item: none to those of other kinds. */
export type OpenAiAnswer<Item> = Item extends { readonly type: "function" }
  ? OpenAiToolMessage
  : Item extends { readonly type: "function_call" }
    ? OpenAiCallOutput
    : never;

/** The tools of a session or a prompt for `chat.completions.create({ tools })`. Ask anew for each turn. */
export async function openAiTools(
  source: ToolSource,
  options: AdapterOptions = {},
): Promise<OpenAiChatTool[]> {
  return (await loadOfferedTools(source, options)).map(({ name, description, schema }) => ({
    type: "function",
    function: { name, description, parameters: { ...schema } },
  }));
}

/**
 * The tools of a session or a prompt for `responses.create({ tools })`. Not strict: that mode refuses most schemas,
 * and arguments are checked here anyway.
 */
export async function openAiResponsesTools(
  source: ToolSource,
  options: AdapterOptions = {},
): Promise<OpenAiResponsesTool[]> {
  return (await loadOfferedTools(source, options)).map(({ name, description, schema }) => ({
    type: "function",
    name,
    description,
    parameters: { ...schema },
    strict: false,
  }));
}

/**
 * Runs what the model asked for, all at once, and gives the answers in its order: tool messages for
 * `message.tool_calls`, outputs for `response.output`. Whatever becomes of a call is an answer, also a
 * function that the session does not know: take out the calls of functions of your own first. Items of
 * other kinds (messages, reasoning) are passed over.
 */
export async function runOpenAiCalls<Item extends { readonly type: string }>(
  source: ToolSource,
  items: readonly Item[] | null | undefined,
  options: RunOptions = {},
): Promise<OpenAiAnswer<Item>[]> {
  checkRun("runOpenAiCalls", source, items ?? [], options);
  const answers = (items ?? []).flatMap((item): Promise<OpenAiToolMessage | OpenAiCallOutput>[] => {
    if (isChatCall(item)) return [runChatCall(source, item, options)];
    return isResponsesCall(item) ? [runResponsesCall(source, item, options)] : [];
  });
  return (await Promise.all(answers)) as OpenAiAnswer<Item>[];
}

function isChatCall(item: { readonly type: string }): item is OpenAiChatCall {
  return item.type === "function";
}

function isResponsesCall(item: { readonly type: string }): item is OpenAiResponsesCall {
  return item.type === "function_call";
}

/** Tool messages hold text only: of an image the model sees the placeholder in the text. */
async function runChatCall(
  source: ToolSource,
  call: OpenAiChatCall,
  options: RunOptions,
): Promise<OpenAiToolMessage> {
  const { name, arguments: json } = call.function;
  const result = await runJsonCall(source, { name, json, callId: call.id }, options);
  return { role: "tool", tool_call_id: call.id, content: readableText(result) };
}

async function runResponsesCall(
  source: ToolSource,
  call: OpenAiResponsesCall,
  options: RunOptions,
): Promise<OpenAiCallOutput> {
  const { name, arguments: json, call_id: callId } = call;
  const result = await runJsonCall(source, { name, json, callId }, options);
  const text = readableText(result);
  const output: OpenAiCallOutput["output"] =
    result.images.length === 0
      ? text
      : [{ type: "input_text", text }, ...result.images.map((image) => imagePart(image))];
  return { type: "function_call_output", call_id: callId, output };
}

function imagePart({ data, mediaType }: ModelImage): OpenAiOutputPart {
  return { type: "input_image", image_url: `data:${mediaType};base64,${data}`, detail: "auto" };
}
