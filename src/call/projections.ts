import { jsonText, resultText } from "../protocol/client/result-text.ts";
import type { ContentBlock } from "../protocol/protocol-client.ts";
import { checkOutcome, type Outcome } from "./outcome.ts";

export interface ToolResult {
  readonly message: string;
  readonly value: ToolResultValue | null;
  readonly success: boolean;
}

export interface ToolResultValue {
  readonly content: readonly ContentBlock[];
  readonly structuredContent?: unknown;
  readonly _meta?: Readonly<Record<string, unknown>>;
}

const fallbackMessage = "MCP error";

/** `{ message, value, success }`: the value is the server's result, also of a tool that failed with content. */
export function toToolResult(outcome: Outcome): ToolResult {
  checkOutcome("toToolResult", outcome);
  if (outcome.ok) return { message: "Success", value: resultValue(outcome), success: true };
  const value = outcome.content.length === 0 ? null : resultValue(outcome);
  return { message: failureMessage(outcome), value, success: false };
}

/** `{ output, error }`, exactly one of them set: an error with no text is still an error. */
export function toSkillResult(
  outcome: Outcome,
):
  | { readonly output: string; readonly error: null }
  | { readonly output: null; readonly error: string } {
  checkOutcome("toSkillResult", outcome);
  return outcome.ok
    ? { output: outcome.text, error: null }
    : { output: null, error: failureMessage(outcome) };
}

/** The body of a REST answer: `{ result }` or `{ error }`. */
export function toRest(outcome: Outcome): { readonly result: string } | { readonly error: string } {
  checkOutcome("toRest", outcome);
  return outcome.ok ? { result: outcome.text } : { error: failureMessage(outcome) };
}

function failureMessage(outcome: Outcome & { ok: false }): string {
  // What the server says stands for itself; which request it answers is told by the outcome.
  const { rpc, message } = outcome.error;
  return (outcome.error.code === "rpc_error" ? rpc?.message : message) || fallbackMessage;
}

function resultValue({ content, structured, meta }: Outcome): ToolResultValue {
  // By far the most common result, and every finished call that someone observes comes through here.
  if (structured === undefined && meta === undefined) return { content };
  return {
    content,
    ...(structured === undefined ? {} : { structuredContent: structured }),
    ...(meta === undefined ? {} : { _meta: meta }),
  };
}

/**
 * Any shape in which a tool result is handed around, as text: a content list (also as an attribute
 * of an object), else `text`, else `result`, else the value itself. Absent values give "".
 */
export function mcpResultToString(result: unknown): string {
  if (typeof result !== "object" || result === null) return jsonText(result);
  const {
    content,
    text,
    result: inner,
    structuredContent,
  } = result as Readonly<Record<string, unknown>>;
  if (Array.isArray(content))
    return resultText(
      content.map((part) => asBlock(part)),
      structuredContent,
    );
  if (text !== undefined && text !== null) return jsonText(text);
  if (inner !== undefined) return jsonText(inner);
  return jsonText(result);
}

/** Parts of foreign results may be plain strings or lack a type. */
function asBlock(part: unknown): ContentBlock {
  if (typeof part !== "object" || part === null) return { type: "text", text: jsonText(part) };
  const block = part as Readonly<Record<string, unknown>>;
  if (typeof block["type"] === "string") return block as ContentBlock;
  return { ...block, type: "text", text: block["text"] ?? jsonText(block) };
}
