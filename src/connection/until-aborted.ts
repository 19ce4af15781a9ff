import { createError } from "../errors/families.ts";

/** `promise`, or `cancelled` as soon as `signal` aborts; the work behind the promise goes on. */
export function untilAborted<T>(
  promise: Promise<T>,
  signal: AbortSignal | undefined,
  serverName?: string,
): Promise<T> {
  if (signal === undefined) return promise;
  const cancelled = () => createError("cancelled", "cancelled by the caller", { serverName });
  if (signal.aborted) return Promise.reject(cancelled());
  return new Promise<T>((resolve, reject) => {
    const abort = () => reject(cancelled());
    signal.addEventListener("abort", abort, { once: true });
    promise.then(resolve, reject).finally(() => signal.removeEventListener("abort", abort));
  });
}
