import { type AdapterOptions, loadOfferedTools, type ToolSource } from "./offered-tools.ts";
import { checkRun, type ModelResult, runModelCall, type RunOptions } from "./run-model-call.ts";

/** A tool as the Messages API takes it. */
export interface AnthropicTool {
  name: string;
  description: string;
  input_schema: { type: "object"; [key: string]: unknown };
}

/** The block of a message in which the model calls a tool. */
export interface AnthropicToolUse {
  readonly type: "tool_use";
  readonly id: string;
  readonly name: string;
  readonly input: unknown;
}

export interface AnthropicToolResult {
  type: "tool_result";
  tool_use_id: string;
  content: string | AnthropicResultBlock[];
  is_error: boolean;
}

export type AnthropicResultBlock =
  | { type: "text"; text: string }
  | {
      type: "image";
      source: { type: "base64"; media_type: AnthropicImageType; data: string };
    };

export type AnthropicImageType = "image/png" | "image/jpeg" | "image/gif" | "image/webp";

/** The tools of a session or a prompt for `messages.create({ tools })`. Ask anew for each turn. */
export async function anthropicTools(
  source: ToolSource,
  options: AdapterOptions = {},
): Promise<AnthropicTool[]> {
  return (await loadOfferedTools(source, options)).map(({ name, description, schema }) => ({
    name,
    description,
    input_schema: { ...schema, type: "object" },
  }));
}

/**
 * Runs the `tool_use` blocks of a message, all at once, and gives the `tool_result` blocks in their
 * order: the content of the next user message. Whatever becomes of a call is a result, also a tool that
 * the session does not know: take out the calls of tools of your own first. Other blocks are passed over.
 */
export async function runAnthropicCalls(
  source: ToolSource,
  content: readonly { readonly type: string }[],
  options: RunOptions = {},
): Promise<AnthropicToolResult[]> {
  checkRun("runAnthropicCalls", source, content, options);
  return Promise.all(
    content
      .filter((block): block is AnthropicToolUse => block.type === "tool_use")
      .map(async ({ id, name, input }) =>
        toolResult(id, await runModelCall(source, { name, input, callId: id }, options)),
      ),
  );
}

function toolResult(id: string, { text, isError, images }: ModelResult): AnthropicToolResult {
  const blocks = images.map(({ data, mediaType }): AnthropicResultBlock => ({
    type: "image",
    // The only types that images for models have.
    source: { type: "base64", media_type: mediaType as AnthropicImageType, data },
  }));
  return {
    type: "tool_result",
    tool_use_id: id,
    // A text block may not be empty, a plain text may.
    content: blocks.length === 0 ? text : [{ type: "text", text }, ...blocks],
    is_error: isError,
  };
}
