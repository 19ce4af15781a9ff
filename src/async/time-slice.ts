import { setImmediate as nextTurn } from "node:timers/promises";

/** Other work gets its turn after this. */
const sliceMs = 10;

/** For work of many short steps, which must not hold the event loop: ask between two steps whether it is over. */
export class TimeSlice {
  readonly #now: () => number;
  #since: number;

  constructor(now = () => performance.now()) {
    this.#now = now;
    this.#since = now();
  }

  get isOver(): boolean {
    return this.#now() - this.#since >= sliceMs;
  }

  /** Resolves after everything else that waits has had its turn. */
  async next(): Promise<void> {
    await nextTurn();
    this.#since = this.#now();
  }
}
