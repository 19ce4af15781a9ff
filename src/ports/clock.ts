/** Time as the host sees it; tests pass one they move by hand. */
export interface Clock {
  /** Milliseconds since the epoch, for records. */
  now(): number;
  /** Milliseconds that only ever grow, for durations. */
  monotonic(): number;
  /** Calls `task` once after `delayMs`; the timer never keeps the process alive. */
  schedule(delayMs: number, task: () => void): Timer;
}

export interface Timer {
  cancel(): void;
}

export const systemClock: Clock = {
  now: () => Date.now(),
  monotonic: () => performance.now(),
  schedule(delayMs, task) {
    const handle = setTimeout(task, delayMs);
    handle.unref();
    return { cancel: () => clearTimeout(handle) };
  },
};
