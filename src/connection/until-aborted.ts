import { createError } from "../errors/families.ts";
import type { McpError } from "../errors/mcp-error.ts";

/**
 * `promise`, or `cancelled` as soon as `signal` aborts; the work behind the promise goes on, and how it
 * ends is then nobody's concern: even its failure counts as handled.
 */
export function untilAborted<T>(
  promise: Promise<T>,
  signal: AbortSignal | undefined,
  serverName?: string,
): Promise<T> {
  if (signal === undefined) return promise;
  return new Promise<T>((resolve, reject) => {
    const abort = () => reject(cancelledByCaller(serverName));
    signal.addEventListener("abort", abort, { once: true });
    if (signal.aborted) abort();
    promise.then(resolve, reject).finally(() => signal.removeEventListener("abort", abort));
  });
}

export function cancelledByCaller(serverName?: string): McpError {
  return createError("cancelled", "cancelled by the caller", { serverName });
}
