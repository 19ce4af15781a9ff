import { createError } from "../../errors/families.ts";
import { McpError } from "../../errors/mcp-error.ts";
import { checkToolResult } from "../../protocol/client/checked-results.ts";
import { jsonText } from "../../protocol/client/result-text.ts";
import type { RawToolResult } from "../../protocol/protocol-client.ts";
import { checkPlainJson, frozenCopy } from "../../schema/validate/plain-json.ts";
import { isJsonObject, type JsonObject } from "../../text/json-object.ts";
import { redact } from "../../text/secrets/redact.ts";
import { truncate } from "../../text/truncate.ts";
import { boundedText } from "../../text/untrusted/bounded-text.ts";

const maxErrorText = 2_000;

/**
 * Turns what a handler returned into a tool result: text, `{ content, structuredContent }` as servers answer,
 * `{ message, value, success }`, or any other JSON as structured content. Nothing gives an empty result.
 */
export function nativeResult(returned: unknown, toolName: string): RawToolResult {
  if (returned === undefined) return { content: [], isError: false };
  if (typeof returned === "string") return textResult(returned);
  const flaw = checkPlainJson(returned);
  if (flaw !== undefined) throw unusable(toolName, flaw.message);
  const value = frozenCopy(returned);
  if (!isJsonObject(value)) return structuredResult(value);
  if (isServerResult(value)) return serverResult(value, toolName);
  return isToolResult(value) ? outcomeResult(value, toolName) : structuredResult(value);
}

/** Turns what a handler threw into an error. Typed errors stay what they are; of any other only its text is passed on. */
export function nativeFailure(thrown: unknown, toolName: string): McpError {
  if (McpError.is(thrown)) return thrown;
  const text = thrown instanceof Error ? thrown.message : jsonText(thrown);
  const shown = truncate(redact(boundedText(text, maxErrorText * 4)), maxErrorText);
  return createError("tool_error", shown === "" ? `${toolName} failed` : shown, {
    details: { toolName },
    cause: thrown,
  });
}

/** A member that is merely called content makes no tool result. */
function isServerResult({ content, structuredContent }: JsonObject): boolean {
  return Array.isArray(content) || (content === undefined && structuredContent !== undefined);
}

interface ToolResultLike extends JsonObject {
  readonly message: string;
  readonly value: unknown;
  readonly success: boolean;
}

function isToolResult(value: JsonObject): value is ToolResultLike {
  return (
    typeof value["message"] === "string" &&
    typeof value["success"] === "boolean" &&
    "value" in value
  );
}

function outcomeResult({ message, value, success }: ToolResultLike, toolName: string) {
  const result =
    isJsonObject(value) && isServerResult(value)
      ? serverResult(value, toolName)
      : { ...textResult(message), ...(value === null ? {} : { structuredContent: value }) };
  return { ...result, isError: !success };
}

function serverResult(value: JsonObject, toolName: string): RawToolResult {
  return checkToolResult(value, toolName, { serverName: undefined, method: toolName });
}

function textResult(text: string): RawToolResult {
  return { content: [{ type: "text", text }], isError: false };
}

function structuredResult(value: unknown): RawToolResult {
  return { ...textResult(JSON.stringify(value)), structuredContent: value };
}

function unusable(toolName: string, reason: string): McpError {
  return createError("invalid_result", `${toolName} returned what is no JSON: ${reason}`, {
    details: { toolName, reason },
  });
}
