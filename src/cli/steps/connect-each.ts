import { problemError } from "../../config/keys/config-problem.ts";
import { createError } from "../../errors/families.ts";
import { McpError } from "../../errors/mcp-error.ts";
import type { ConnectOptions, McpHost, ServerStatus } from "../../host/host.ts";

export interface ConnectReport {
  /** The status after the attempt. */
  readonly status: ServerStatus;
  /** The reason why it is not connected; undefined also for servers that were not tried. */
  readonly error: McpError | undefined;
  readonly durationMs: number;
}

/** Connects every server that may start, all at once: one promise each, in the order of the list. */
export function connectEach(
  host: McpHost,
  options: (status: ServerStatus) => ConnectOptions,
): readonly Promise<ConnectReport>[] {
  return host.servers().map(async (before) => {
    const { name, state } = before;
    if (state === "pending" || state === "disabled")
      return { status: before, error: undefined, durationMs: 0 };
    const since = performance.now();
    let error: McpError | undefined;
    try {
      await host.connect(name, options(before));
    } catch (thrown) {
      if (!McpError.is(thrown)) throw thrown;
      error = thrown;
    }
    return { status: host.server(name), error, durationMs: performance.now() - since };
  });
}

/**
 * The error of a command that answers for every server, when one is missing because of a mistake in its
 * entry or its file; undefined when all entries could be read.
 */
export function configFailure({ configProblems }: McpHost): McpError | undefined {
  const errors = configProblems.filter(({ severity }) => severity === "error");
  const [first] = errors;
  if (first === undefined) return undefined;
  // A store that cannot be used is no mistake in a file.
  return errors.every(({ code }) => code === "store_failed")
    ? createError("store_failed", first.message)
    : problemError(errors);
}
