import type { Clock, Timer } from "../ports/clock.ts";

export interface RequestDeadlineOptions {
  /** Longest silence; `0` means none. */
  readonly timeoutMs: number;
  /** Longest time with progress. A longer `timeoutMs` was asked for explicitly and stands. */
  readonly totalMs: number;
  readonly clock: Clock;
  readonly onExpire: (expired: { readonly limitMs: number; readonly isTotal: boolean }) => void;
}

/** A deadline that progress pushes back, up to a total. `extend` is cheap: it moves no timer. */
export class RequestDeadline {
  readonly #options: RequestDeadlineOptions;
  readonly #startedAt: number;
  #extendedAt: number;
  #timer: Timer | undefined;

  constructor(options: RequestDeadlineOptions) {
    this.#options = options;
    this.#startedAt = options.clock.monotonic();
    this.#extendedAt = this.#startedAt;
    if (options.timeoutMs > 0 && Number.isFinite(options.timeoutMs)) this.#arm(options.timeoutMs);
  }

  extend(): void {
    this.#extendedAt = this.#options.clock.monotonic();
  }

  clear(): void {
    this.#timer?.cancel();
  }

  #arm(delayMs: number): void {
    this.#timer = this.#options.clock.schedule(delayMs, () => this.#check());
  }

  #check(): void {
    const { timeoutMs, clock, onExpire } = this.#options;
    const totalMs = Math.max(timeoutMs, this.#options.totalMs);
    const now = clock.monotonic();
    const silentAt = this.#extendedAt + timeoutMs;
    const overAt = this.#startedAt + totalMs;
    const isTotal = overAt < silentAt;
    const leftMs = Math.min(silentAt, overAt) - now;
    // Timers may fire a fraction early; a wait of under a millisecond is over.
    if (leftMs >= 1) this.#arm(leftMs);
    else onExpire({ limitMs: isTotal ? totalMs : timeoutMs, isTotal });
  }
}
