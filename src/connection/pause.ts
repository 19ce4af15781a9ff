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
  let end = (): void => {};
  const over = new Promise<void>((resolve) => {
    const timer = clock.schedule(delayMs, () => end());
    end = () => {
      timer.cancel();
      signal.removeEventListener("abort", end);
      resolve();
    };
    signal.addEventListener("abort", end);
  });
  return { over, end };
}
