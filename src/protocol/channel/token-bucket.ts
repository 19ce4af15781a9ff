import type { Clock } from "../../ports/clock.ts";

/** Allows `perSecond` on average and `burst` at once. */
export class TokenBucket {
  readonly #perSecond: number;
  readonly #burst: number;
  readonly #clock: Clock;
  #tokens: number;
  #filledAt: number;

  constructor(options: {
    readonly perSecond: number;
    readonly burst: number;
    readonly clock: Clock;
  }) {
    this.#perSecond = options.perSecond;
    this.#burst = options.burst;
    this.#clock = options.clock;
    this.#tokens = options.burst;
    this.#filledAt = options.clock.monotonic();
  }

  take(): boolean {
    this.#refill();
    if (this.#tokens < 1) return false;
    this.#tokens -= 1;
    return true;
  }

  /** How many could be taken now. */
  get available(): number {
    this.#refill();
    return Math.floor(this.#tokens);
  }

  /** Takes `count` that were available. */
  spend(count: number): void {
    this.#tokens -= count;
  }

  #refill(): void {
    const now = this.#clock.monotonic();
    const earned = ((now - this.#filledAt) / 1_000) * this.#perSecond;
    this.#tokens = Math.min(this.#burst, this.#tokens + earned);
    this.#filledAt = now;
  }
}
