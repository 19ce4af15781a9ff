import type { Clock } from "../ports/clock.ts";

export interface Pause {
  readonly over: Promise<void>;
  /** Ends it before its time. */
  readonly end: () => void;
}

const none: Pause = { over: Promise.resolve(), end: () => {} };

/** Waits `delayMs`, or until it is ended, or until `signal` aborts. */
export function startPause(clock: Clock, delayMs: number, signal: AbortSignal): Pause {
  if (delayMs === 0) return none;
  const ended = new AbortController();
  const over = new Promise<void>((resolve) => {
    const finish = (): void => {
      timer.cancel();
      signal.removeEventListener("abort", finish);
      resolve();
    };
    const timer = clock.schedule(delayMs, finish);
    signal.addEventListener("abort", finish);
    ended.signal.addEventListener("abort", finish);
  });
  return { over, end: () => ended.abort() };
}
