export interface LimitedSignal {
  readonly signal: AbortSignal;
  /** Must be called when the work has ended. */
  clear(): void;
}

/**
 * Aborts with `parent`, or after `limitMs`. Not `AbortSignal.any` over `AbortSignal.timeout`: in Node 20
 * such a pair may be collected as garbage before it fires.
 */
export function limitedSignal(parent: AbortSignal, limitMs: number): LimitedSignal {
  const controller = new AbortController();
  const abort = (): void => controller.abort();
  const timer = setTimeout(abort, limitMs);
  if (parent.aborted) abort();
  else parent.addEventListener("abort", abort, { once: true });
  return {
    signal: controller.signal,
    clear() {
      clearTimeout(timer);
      parent.removeEventListener("abort", abort);
    },
  };
}
