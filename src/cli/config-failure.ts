import { problemError } from "../config/config-problem.ts";
import type { McpError } from "../errors/mcp-error.ts";
import type { McpHost } from "../host/host.ts";

/** For commands that answer for every server: one that is missing because of its entry or file counts, too. */
export function configFailure({ configProblems }: McpHost): McpError | undefined {
  const errors = configProblems.filter(({ severity }) => severity === "error");
  return errors.length === 0 ? undefined : problemError(errors);
}
