import type { FailedOutcome } from "../../call/outcome.ts";
import { createError } from "../../errors/families.ts";
import type { McpError } from "../../errors/mcp-error.ts";

/** The error of a failed call, with whatever the server sent all the same. */
export function outcomeFailure({
  error,
  serverName,
  content,
  structured,
}: FailedOutcome): McpError {
  const { code, message, hint, retryable, details } = error;
  return createError(code, message, {
    serverName,
    hint,
    retryable,
    details: {
      ...details,
      ...(content.length === 0 ? {} : { content }),
      ...(structured === undefined ? {} : { structured }),
    },
  });
}
