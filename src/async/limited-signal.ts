import type { Clock } from "../ports/clock.ts";

export interface LimitedSignal {
  readonly signal: AbortSignal;
  /** Whether the time ran out, and not the parent's patience. */
  readonly isOver: boolean;
  /** Must be called when the work has ended. */
  clear(): void;
}

/**
 * Aborts with `parent`, or after `limitMs`. Not `AbortSignal.any` over `AbortSignal.timeout`: in Node 20
 * such a pair may be collected as garbage before it fires.
 */
export function limitedSignal(
  parent: AbortSignal | undefined,
  limitMs: number,
  clock: Clock,
): LimitedSignal {
  const controller = new AbortController();
  const abort = (): void => controller.abort();
  let isOver = false;
  const timer = clock.schedule(limitMs, () => {
    isOver = !controller.signal.aborted;
    abort();
  });
  if (parent?.aborted === true) abort();
  else parent?.addEventListener("abort", abort, { once: true });
  return {
    signal: controller.signal,
    get isOver() {
      return isOver;
    },
    clear() {
      timer.cancel();
      parent?.removeEventListener("abort", abort);
    },
  };
}
