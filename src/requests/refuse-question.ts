import { createError } from "../errors/families.ts";
import type { McpError } from "../errors/mcp-error.ts";

/**
 * For what is no proper question: nobody is asked. A server of the legacy era is told that its
 * parameters are invalid, in the modern era the call fails. `reason` must be safe to show.
 */
export function refuseQuestion(method: string, reason: string): McpError {
  return createError("protocol_violation", `${method} of the server was refused: ${reason}`, {
    details: { method, reason },
  });
}
