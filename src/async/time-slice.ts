import { setImmediate as nextTurn } from "node:timers/promises";

/** Other work gets its turn after this. */
const sliceMs = 10;

/** For work of many short steps, which must not hold the event loop: ask between two steps whether it is over. */
export class TimeSlice {
  #since = performance.now();

  get isOver(): boolean {
    return performance.now() - this.#since >= sliceMs;
  }

  /** Resolves after everything else that waits has had its turn. */
  async next(): Promise<void> {
    await nextTurn();
    this.#since = performance.now();
  }
}
