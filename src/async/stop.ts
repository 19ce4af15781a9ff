import { type Clock, longestTimerMs, type Timer } from "../ports/clock.ts";
import { untilAborted } from "./until-aborted.ts";

export interface StopCauses {
  /** Signals of others: the first of them to abort stops the work. */
  readonly signals?: readonly (AbortSignal | undefined)[];
  /** Makes the reason when one of `signals` aborted; without it the reason is theirs. */
  readonly cancelled?: () => unknown;
  readonly clock?: Clock;
  /** The time after which the work is stopped; without it the work may take as long as it likes. */
  readonly afterMs?: number | undefined;
  /** Makes the reason when the time ran out. */
  readonly tooLate?: () => unknown;
}

/**
 * One signal for work that ends with the first of several causes: a signal of somebody else, a time, or `abort`.
 * `clear` must be called when the work is over. `AbortSignal.any` over `AbortSignal.timeout` will not do: in
 * Node 20 such a pair may be collected as garbage before it fires.
 */
export class Stop {
  readonly #controller = new AbortController();
  readonly #causes: StopCauses;
  readonly #timer: Timer | undefined;
  #isOutOfTime = false;

  constructor(causes: StopCauses) {
    this.#causes = causes;
    const { signals = [], clock, afterMs = Number.POSITIVE_INFINITY } = causes;
    if (clock !== undefined && afterMs <= longestTimerMs)
      this.#timer = clock.schedule(afterMs, this.#expire);
    for (const signal of signals) signal?.addEventListener("abort", this.#cancel);
    if (signals.some((signal) => signal?.aborted === true)) this.#cancel();
  }

  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  /** Whether the time ran out before anything else stopped the work. */
  get isOutOfTime(): boolean {
    return this.#isOutOfTime;
  }

  /** Stops the work for a reason of its own. */
  abort(reason?: unknown): void {
    this.#controller.abort(reason);
  }

  /** Ends the timer and the listening. The signal stays as it is. */
  clear(): void {
    this.#timer?.cancel();
    for (const signal of this.#causes.signals ?? [])
      signal?.removeEventListener("abort", this.#cancel);
  }

  readonly #cancel = (): void => {
    const { signals = [], cancelled } = this.#causes;
    const aborted = signals.find((signal) => signal?.aborted === true);
    this.abort(cancelled === undefined ? aborted?.reason : cancelled());
  };

  readonly #expire = (): void => {
    this.#isOutOfTime = !this.signal.aborted;
    this.abort(this.#causes.tooLate?.());
  };
}

/**
 * Runs `work` until it settles or one of the causes stops it, whose reason is thrown then. Work that does not heed
 * its signal goes on, but nobody waits for it any more.
 */
export async function until<T>(
  work: (signal: AbortSignal) => Promise<T>,
  causes: StopCauses,
): Promise<T> {
  const stop = new Stop(causes);
  try {
    return await untilAborted(work(stop.signal), stop.signal);
  } finally {
    stop.clear();
  }
}

export interface Pause {
  readonly over: Promise<void>;
  /** Ends it before its time. */
  readonly end: () => void;
}

/** Waits `delayMs`, or until it is ended, or until `signal` aborts. It never rejects. */
export function startPause(clock: Clock, delayMs: number, signal: AbortSignal): Pause {
  if (delayMs === 0) return { over: Promise.resolve(), end: () => {} };
  const stop = new Stop({ signals: [signal], clock, afterMs: delayMs });
  const over = new Promise<void>((resolve) => {
    const finish = (): void => {
      stop.clear();
      resolve();
    };
    if (stop.signal.aborted) finish();
    else stop.signal.addEventListener("abort", finish);
  });
  return { over, end: () => stop.abort() };
}

/** Aborted with the first of both. Only for signals that live as short as a call: sources remember what is joined. */
export function joinSignals(one: AbortSignal, other: AbortSignal | undefined): AbortSignal {
  return other === undefined ? one : AbortSignal.any([one, other]);
}
