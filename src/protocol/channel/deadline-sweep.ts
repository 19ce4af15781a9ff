import { type Clock, longestTimerMs, type Timer } from "../../ports/clock.ts";

/** Deadlines this close together are found in one sweep, so the last of them is late by as much. */
const minIntervalMs = 50;

/**
 * One timer for the deadlines of all requests of a connection. Setting one costs a comparison as long
 * as a sweep is due before it, and nothing has to be taken back: a sweep that finds nothing over
 * only looks for the next deadline.
 */
export class DeadlineSweep {
  readonly #clock: Clock;
  /** Ends what is over at `now`; returns the next deadline, infinity when there is none. */
  readonly #sweep: (now: number) => number;
  #timer: Timer | undefined;
  #dueAt = Number.POSITIVE_INFINITY;

  constructor(clock: Clock, sweep: (now: number) => number) {
    this.#clock = clock;
    this.#sweep = sweep;
  }

  /** A sweep happens at `deadlineAt` or before. */
  expect(deadlineAt: number, now: number): void {
    if (deadlineAt >= this.#dueAt) return;
    this.#timer?.cancel();
    this.#dueAt = deadlineAt;
    // A later deadline takes several.
    this.#timer = this.#clock.schedule(Math.min(deadlineAt - now, longestTimerMs), this.#run);
  }

  stop(): void {
    this.#timer?.cancel();
    this.#dueAt = Number.POSITIVE_INFINITY;
  }

  readonly #run = (): void => {
    this.#dueAt = Number.POSITIVE_INFINITY;
    const now = this.#clock.monotonic();
    const next = this.#sweep(now);
    this.expect(Math.max(next, now + minIntervalMs), now);
  };
}
