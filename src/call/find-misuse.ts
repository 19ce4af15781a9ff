import { isToolReference, toolReference } from "../catalog/tool-origin.ts";
import { createError } from "../errors/families.ts";
import type { McpError } from "../errors/mcp-error.ts";
import type { CallOptions } from "./call-path.ts";

/** What a program without types got wrong about a call besides its arguments. It costs a call next to nothing. */
export function findMisuse(name: unknown, options: unknown): McpError | undefined {
  if (typeof name !== "string" && !isToolReference(name)) return wrong("name", toolReference.words);
  if (typeof options !== "object" || options === null) return wrong("options", "an object");
  const { signal, timeoutMs, onProgress, callId } = options as CallOptions;
  if (signal !== undefined && typeof (signal as AbortSignal | null)?.aborted !== "boolean")
    return wrong("options.signal", "an AbortSignal");
  if (timeoutMs !== undefined && (typeof timeoutMs !== "number" || Number.isNaN(timeoutMs)))
    return wrong("options.timeoutMs", "a number");
  if (onProgress !== undefined && typeof onProgress !== "function")
    return wrong("options.onProgress", "a function");
  return callId === undefined || typeof callId === "string"
    ? undefined
    : wrong("options.callId", "a string");
}

function wrong(parameter: string, words: string): McpError {
  return createError("invalid_arguments", `"${parameter}" of a call must be ${words}`, {
    details: { parameter },
  });
}
