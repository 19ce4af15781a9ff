/** Time as the host sees it; tests pass one they move by hand. */
export interface Clock {
  /** Milliseconds since the epoch, for records. */
  now(): number;
  /** Milliseconds that only ever grow, for durations. */
  monotonic(): number;
  /**
   * Calls `task` once after `delayMs`, or after `longestTimerMs` if that is sooner. The timer never keeps
   * the process alive.
   */
  schedule(delayMs: number, task: () => void): Timer;
}

/** The longest time that a timer of the platform can wait; set to more, it fires at once. */
export const longestTimerMs = 2 ** 31 - 1;

export interface Timer {
  cancel(): void;
}

export const systemClock: Clock = {
  now: () => Date.now(),
  // What `performance` is part of takes Node more than a millisecond to load.
  monotonic: () => {
    const [seconds, nanoseconds] = process.hrtime();
    return seconds * 1_000 + nanoseconds / 1_000_000;
  },
  schedule(delayMs, task) {
    const handle = setTimeout(task, Math.min(delayMs, longestTimerMs));
    handle.unref();
    return { cancel: () => clearTimeout(handle) };
  },
};
