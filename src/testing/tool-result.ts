import type { CallToolResult } from "@modelcontextprotocol/server";

export function textResult(text: string): CallToolResult {
  return { content: [{ type: "text", text }] };
}

/** What a tool answers when it ran and failed; a protocol error would say that it never ran. */
export function errorResult(text: string): CallToolResult {
  return { ...textResult(text), isError: true };
}
