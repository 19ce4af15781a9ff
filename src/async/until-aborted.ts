import { createError } from "../errors/families.ts";
import type { McpError } from "../errors/mcp-error.ts";
import { expectManyListeners } from "./shared-signal.ts";

/**
 * What `work` comes to, unless `signal` is aborted before: then its reason is thrown, or what `reasonOf`
 * makes instead. The work goes on, and how it ends is then nobody's concern: even its failure counts as
 * handled.
 */
export function untilAborted<T>(
  work: Promise<T>,
  signal: AbortSignal,
  reasonOf: () => unknown = () => signal.reason,
): Promise<T> {
  return new Promise((resolve, reject) => {
    const onAbort = (): void => reject(reasonOf());
    expectManyListeners(signal);
    signal.addEventListener("abort", onAbort);
    work.then(resolve, reject).finally(() => signal.removeEventListener("abort", onAbort));
    if (signal.aborted) onAbort();
  });
}

/** `promise`, or the error `cancelled` as soon as `signal` aborts; the work behind the promise goes on. */
export function untilCancelled<T>(
  promise: Promise<T>,
  signal: AbortSignal | undefined,
  serverName?: string,
): Promise<T> {
  if (signal === undefined) return promise;
  return untilAborted(promise, signal, () => cancelledByCaller(serverName));
}

export function cancelledByCaller(serverName?: string): McpError {
  return createError("cancelled", "cancelled by the caller", { serverName });
}
