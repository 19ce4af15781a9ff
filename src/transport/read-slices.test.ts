import { Readable } from "node:stream";

import { describe, expect, it } from "vitest";

import { type Clock, systemClock } from "../ports/clock.ts";
import { ReadSlices } from "./read-slices.ts";

const chunks = 100;

/** Reads a stream that has all its chunks ready, each of which takes `msPerChunk`; says how many fit in a turn. */
async function readAll(chunkBytes: number, msPerChunk: number) {
  let left = chunks;
  const stream = new Readable({
    read() {
      left -= 1;
      this.push(left < 0 ? null : Buffer.alloc(chunkBytes));
    },
  });
  let nowMs = 0;
  const clock: Clock = { ...systemClock, monotonic: () => nowMs };
  const slices = new ReadSlices(stream, clock);
  const perTurn: number[] = [];
  let inTurn = 0;
  stream.on("data", (chunk: Buffer) => {
    if (inTurn === 0)
      setImmediate(() => {
        perTurn.push(inTurn);
        inTurn = 0;
      });
    inTurn += 1;
    nowMs += msPerChunk;
    slices.took(chunk);
  });
  await new Promise((resolve) => stream.once("end", resolve));
  await new Promise(setImmediate);
  return perTurn;
}

describe("slices of reading", () => {
  it("A14: a stream that never runs dry is read for some milliseconds at a time, and to its end", async () => {
    const perTurn = await readAll(64 * 1_024, 2);
    expect(Math.max(...perTurn)).toBeLessThan(10);
    expect(perTurn.reduce((sum, count) => sum + count, 0)).toBe(chunks);
  });

  it("what is dealt with quickly is read without a pause", async () => {
    expect(await readAll(64 * 1_024, 0.01)).toStrictEqual([chunks]);
  });

  it("a read that did not fill its buffer was the last of its turn and begins a new slice", async () => {
    expect(await readAll(1_024, 2)).toStrictEqual([chunks]);
  });
});
