import { describe, expect, it } from "vitest";

import { type Clock, systemClock } from "../../ports/clock.ts";
import { ReadTurns } from "./read-turns.ts";

/** Something that reads until it is paused; every piece it reads takes as long as `work` does. */
class Reader {
  pieces = 0;
  isPaused = false;
  readonly #turns: ReadTurns;
  readonly #total: number;
  readonly #work: () => void;

  constructor(turns: ReadTurns, total: number, work: () => void) {
    this.#turns = turns;
    this.#total = total;
    this.#work = work;
  }

  pause(): void {
    this.isPaused = true;
  }

  resume(): void {
    this.isPaused = false;
    while (!this.isPaused && this.pieces < this.#total) {
      this.#turns.begin();
      this.#work();
      this.pieces += 1;
      this.#turns.end(this);
    }
  }
}

/** Turns by a clock on which nothing takes time but `workLong`. */
function createTurns() {
  let nowMs = 0;
  const clock: Clock = { ...systemClock, monotonic: () => nowMs };
  const workLong = (): void => {
    nowMs += 10;
  };
  return { turns: new ReadTurns(clock), workLong };
}

function nextTurn(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}

describe("ReadTurns", () => {
  it("F7: readers that take long read one piece each per turn, one after another", async () => {
    const { turns, workLong } = createTurns();
    const readers = [1, 2, 3].map(() => new Reader(turns, 2, workLong));
    for (const reader of readers) reader.resume();
    // The first used up the turn; the others began in it and wait as well.
    const pieces = () => readers.map((reader) => reader.pieces);
    expect(pieces()).toEqual([1, 1, 1]);
    await nextTurn();
    expect(pieces()).toEqual([2, 1, 1]);
    await nextTurn();
    expect(pieces()).toEqual([2, 2, 1]);
    await nextTurn();
    expect(pieces()).toEqual([2, 2, 2]);
    for (let turn = 0; turn < 3; turn += 1) await nextTurn();
    expect(readers.some(({ isPaused }) => isPaused)).toBe(false);
  });

  it("F7: what is read quickly is never paused", () => {
    const reader = new Reader(createTurns().turns, 10, () => {});
    reader.resume();
    expect(reader.pieces).toBe(10);
  });
});
