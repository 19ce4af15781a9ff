import type { Clock } from "../ports/clock.ts";

const firstDelayMs = 500;
const maxDelayMs = 30_000;
const firstCooldownMs = 10_000;
const maxCooldownMs = 300_000;
/** To ask an address again costs next to nothing. */
const maxContactCooldownMs = 1_000;
/** A connection that held this long was a good one, even if nobody used it. */
const stableLifeMs = 60_000;

export interface RestartPolicyOptions {
  readonly isEnabled: boolean;
  /** Restarts in a row that may come to nothing. */
  readonly maxAttempts: number;
  /** A start is a process of its own, not just a request. */
  readonly isProcess: boolean;
  /** Goes on with a slow probe after that. */
  readonly halfOpen: boolean;
  readonly clock: Clock;
  /** Spreads restarts, so that servers that failed together do not come back together. */
  readonly random?: () => number;
}

/**
 * When a server is started again. What counts against it is a start that failed, or a connection
 * lost before it answered anything; a crash after useful work is no reason to wait. Nobody's demand
 * starts a server that keeps failing more often than the cooldown allows.
 */
export class RestartPolicy {
  readonly #options: RestartPolicyOptions;
  readonly #random: () => number;
  #failures = 0;
  #failedStarts = 0;
  #connectedAt: number | undefined;
  #wasUseful = false;
  /** No demand before this, by the monotonic clock. */
  #coolUntil = 0;

  constructor(options: RestartPolicyOptions) {
    this.#options = options;
    this.#random = options.random ?? Math.random;
  }

  connected(): void {
    this.#connectedAt = this.#options.clock.monotonic();
    this.#failedStarts = 0;
    this.#wasUseful = false;
  }

  /** The server answered something it was asked for. */
  answered(): void {
    this.#wasUseful = true;
  }

  /** The connection was lost. How long to wait before the restart; undefined means: none by itself. */
  lost(): number | undefined {
    const livedMs = this.#options.clock.monotonic() - (this.#connectedAt ?? 0);
    if (this.#wasUseful || livedMs >= stableLifeMs) this.#failures = 0;
    else this.#failures += 1;
    return this.#delay();
  }

  /** A start failed. As `lost`, and a cause that no restart mends is not tried again. */
  startFailed(isMendable: boolean): number | undefined {
    const { clock, maxAttempts, isProcess } = this.#options;
    this.#failures += 1;
    this.#failedStarts += 1;
    const excess = this.#failedStarts - maxAttempts;
    const longestMs = isProcess ? maxCooldownMs : maxContactCooldownMs;
    if (excess > 0)
      this.#coolUntil =
        clock.monotonic() + Math.min(firstCooldownMs * 2 ** (excess - 1), longestMs);
    return isMendable ? this.#delay() : undefined;
  }

  /** Whether someone who needs the server now may have it started at once. */
  allowsDemand(): boolean {
    return this.#options.clock.monotonic() >= this.#coolUntil;
  }

  /** Whether a restart that is already planned should be waited for. */
  get isFailingToStart(): boolean {
    return this.#failedStarts > 0;
  }

  /** A person, or a changed definition, wants a new beginning. */
  reset(): void {
    this.#failures = 0;
    this.#failedStarts = 0;
    this.#coolUntil = 0;
  }

  #delay(): number | undefined {
    const { isEnabled, maxAttempts, halfOpen } = this.#options;
    if (!isEnabled) return undefined;
    if (this.#failures === 0) return 0;
    if (this.#failures > maxAttempts) return halfOpen ? this.#spread(maxDelayMs) : undefined;
    return this.#spread(Math.min(firstDelayMs * 2 ** (this.#failures - 1), maxDelayMs));
  }

  /** Between half of it and all of it. */
  #spread(delayMs: number): number {
    return delayMs * (0.5 + this.#random() / 2);
  }
}
