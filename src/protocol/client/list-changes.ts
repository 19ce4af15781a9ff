import type { Clock, Timer } from "../../ports/clock.ts";
import type { ListKind } from "../wire/list-kind.ts";

/** A list is not reported as changed more often than this, however often the server says so. */
const intervalMs = 1_000;

interface Reported {
  readonly at: number;
  /** Reports what has come since, at the end of the interval. */
  readonly next: Timer | undefined;
}

/**
 * Reports that a list changed: the first time at once, then at most once in an interval and never later
 * than its end, so that a flood neither causes one report for each message nor holds them all back.
 */
export class ListChanges {
  readonly #clock: Clock;
  readonly #report: (kind: ListKind) => void;
  readonly #reported = new Map<ListKind, Reported>();

  constructor(clock: Clock, report: (kind: ListKind) => void) {
    this.#clock = clock;
    this.#report = report;
  }

  changed(kind: ListKind): void {
    const last = this.#reported.get(kind);
    if (last?.next !== undefined) return;
    const now = this.#clock.monotonic();
    const waitMs = last === undefined ? 0 : last.at + intervalMs - now;
    if (last === undefined || waitMs <= 0) return this.#tell(kind, now);
    const next = this.#clock.schedule(waitMs, () => this.#tell(kind, this.#clock.monotonic()));
    this.#reported.set(kind, { at: last.at, next });
  }

  /** Ends all reports, the delayed ones included. */
  stop(): void {
    for (const { next } of this.#reported.values()) next?.cancel();
    this.#reported.clear();
  }

  #tell(kind: ListKind, now: number): void {
    this.#reported.set(kind, { at: now, next: undefined });
    this.#report(kind);
  }
}
