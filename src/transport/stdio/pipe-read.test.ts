import { Readable } from "node:stream";

import { describe, expect, it } from "vitest";

import { ManualClock } from "../../../tests/fixtures/protocol/manual-clock.ts";
import { type Clock, systemClock } from "../../ports/clock.ts";
import { ReadTurns } from "../reading/read-turns.ts";
import { PipeRead } from "./pipe-read.ts";

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
  const read = new PipeRead(stream, new ReadTurns(clock));
  const perTurn: number[] = [];
  let inTurn = 0;
  stream.on("data", (chunk: Buffer) => {
    if (inTurn === 0)
      setImmediate(() => {
        perTurn.push(inTurn);
        inTurn = 0;
      });
    inTurn += 1;
    read.begin();
    nowMs += msPerChunk;
    read.took(chunk);
  });
  await new Promise((resolve) => stream.once("end", resolve));
  await new Promise(setImmediate);
  return perTurn;
}

describe("PipeRead", () => {
  it("A14: a stream that never runs dry is read for some milliseconds at a time, and to its end", async () => {
    const perTurn = await readAll(64 * 1_024, 2);
    expect(Math.max(...perTurn)).toBeLessThan(10);
    expect(perTurn.reduce((sum, count) => sum + count, 0)).toBe(chunks);
  });

  it("what is dealt with quickly is read without a pause", async () => {
    expect(await readAll(64 * 1_024, 0.01)).toStrictEqual([chunks]);
  });

  it("a read that did not fill its buffer was the last of its turn and needs no pause", async () => {
    expect(await readAll(1_024, 2)).toStrictEqual([chunks]);
  });

  it("A14: streams that never run dry share the turn", async () => {
    let nowMs = 0;
    const clock: Clock = { ...systemClock, monotonic: () => nowMs };
    const turns = new ReadTurns(clock);
    const full = Buffer.alloc(64 * 1_024);
    const streams = Array.from({ length: 5 }, () => new Readable({ read() {} }));
    const reads = streams.map((stream) => new PipeRead(stream, turns));
    const readOn = (read: PipeRead): void => {
      read.begin();
      nowMs += 2;
      read.took(full);
    };
    for (const stream of streams) stream.resume();
    for (const read of [...reads.slice(0, 1), ...reads]) readOn(read);
    expect(streams.map((stream) => stream.isPaused())).toEqual(streams.map(() => true));
    await new Promise(setImmediate);
    expect(streams.map((stream) => stream.isPaused())).toEqual(streams.map(() => false));
  });

  it("A14: a stream whose messages are dropped rests twelve times as long as it is read", async () => {
    const clock = new ManualClock();
    const stream = new Readable({ read() {} });
    const turns = new ReadTurns(clock);
    const read = new PipeRead(stream, turns);
    const small = Buffer.alloc(100);
    const took = async (ms: number, isDropped: boolean): Promise<void> => {
      read.begin();
      await clock.advance(ms);
      if (isDropped) turns.slowDown();
      read.took(small);
    };
    stream.on("data", () => {});
    await took(4, true);
    await clock.advance(47);
    expect(stream.isPaused()).toBe(true);
    await clock.advance(1);
    expect(stream.isPaused()).toBe(false);
    await took(4, false);
    expect(stream.isPaused()).toBe(false);
    await took(1_000, true);
    await clock.advance(200);
    expect([stream.isPaused(), clock.pending]).toEqual([false, 0]);
    await took(4, true);
    expect(stream.isPaused()).toBe(true);
    read.stop();
    expect(stream.isPaused()).toBe(false);
    await took(4, true);
    expect(stream.isPaused()).toBe(false);
  });
});
