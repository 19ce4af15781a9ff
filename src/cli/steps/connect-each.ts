import { McpError } from "../../errors/mcp-error.ts";
import type { ConnectOptions, McpHost, ServerStatus } from "../../host/host.ts";

export interface ConnectReport {
  /** As it is after the attempt. */
  readonly status: ServerStatus;
  /** Why it is not connected; undefined also for servers that were not tried. */
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
