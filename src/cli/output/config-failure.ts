import { problemError } from "../../config/keys/config-problem.ts";
import { createError } from "../../errors/families.ts";
import type { McpError } from "../../errors/mcp-error.ts";
import type { McpHost } from "../../host/host.ts";

/** For commands that answer for every server: one that is missing because of its entry or file counts, too. */
export function configFailure({ configProblems }: McpHost): McpError | undefined {
  const errors = configProblems.filter(({ severity }) => severity === "error");
  const [first] = errors;
  if (first === undefined) return undefined;
  // A store that cannot be used is no mistake in a file.
  return errors.every(({ code }) => code === "store_failed")
    ? createError("store_failed", first.message)
    : problemError(errors);
}
