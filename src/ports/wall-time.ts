import type { Clock } from "./clock.ts";

/** A clock that was set otherwise is noticed so late at most. */
const maxAgeMs = 1_000;

/**
 * The time of day of a moment that was measured for a duration: whoever needs both reads one clock, not
 * two, which on the path of a call is worth it.
 */
export class WallTime {
  readonly #clock: Clock;
  #comparedAt = Number.NEGATIVE_INFINITY;
  #difference = 0;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Milliseconds since the epoch; `monotonic` is a recent reading of the clock. */
  at(monotonic: number): number {
    if (monotonic - this.#comparedAt >= maxAgeMs) {
      this.#comparedAt = monotonic;
      this.#difference = this.#clock.now() - this.#clock.monotonic();
    }
    return Math.round(monotonic + this.#difference);
  }
}
