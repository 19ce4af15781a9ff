import { describe, expect, it } from "vitest";

import { ManualClock, settled } from "../../tests/fixtures/protocol/manual-clock.ts";
import { addressRoom, processRoom, StartGate } from "./start-gate.ts";

/** Starts that end when the test says so, by number. */
function manyStarts(count: number, signal?: AbortSignal, room = processRoom) {
  const clock = new ManualClock();
  const gate = new StartGate(clock, room);
  const begun: number[] = [];
  const ends: (() => void)[] = [];
  const runs = Array.from({ length: count }, (_, index) =>
    gate.run(
      () =>
        new Promise<number>((resolve) => {
          begun.push(index);
          ends[index] = () => resolve(index);
        }),
      signal,
    ),
  );
  return { clock, gate, begun, ends, runs };
}

describe("StartGate", () => {
  it("B17: eight start at once, the others in their order as those are done", async () => {
    const { begun, ends, runs, clock } = manyStarts(11);
    expect(begun).toEqual([0, 1, 2, 3, 4, 5, 6, 7]);
    ends[5]?.();
    ends[2]?.();
    await settled();
    expect(begun.slice(8)).toEqual([8, 9]);
    for (const index of [0, 1, 3, 4, 6, 7, 8, 9]) ends[index]?.();
    await settled();
    ends[10]?.();
    expect(await Promise.all(runs)).toEqual([0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10]);
    expect(clock.pending).toBe(0);
  });

  it("B17: a start that fails makes room, and its error is its own", async () => {
    const { gate, begun, runs } = manyStarts(7);
    await expect(gate.run(() => Promise.reject(new Error("no")))).rejects.toThrow("no");
    void gate.run(() => Promise.resolve(begun.push(7)));
    expect(begun).toHaveLength(8);
    expect(runs).toHaveLength(7);
  });

  it("B17: slow starts hold up the others for five seconds, once", async () => {
    const { begun, clock, ends } = manyStarts(20);
    await clock.advance(4_999);
    expect(begun).toHaveLength(8);
    await clock.advance(1);
    expect(begun).toHaveLength(16);
    // Their room is taken already.
    for (const index of [0, 1, 2, 3]) ends[index]?.();
    await settled();
    expect(begun).toHaveLength(16);
  });

  it("addresses that are silent for a quarter of a second hold up nobody", async () => {
    const { begun, clock } = manyStarts(100, undefined, addressRoom);
    await clock.advance(249);
    expect(begun).toHaveLength(32);
    await clock.advance(1);
    expect(begun).toHaveLength(64);
  });

  it("who stops waiting gets an error and takes nobody's turn", async () => {
    const abort = new AbortController();
    const { begun, ends, gate, runs } = manyStarts(9, abort.signal);
    const after = gate.run(() => Promise.resolve("after"));
    abort.abort();
    await expect(runs[8]).rejects.toMatchObject({ code: "cancelled" });
    ends[0]?.();
    expect(await after).toBe("after");
    expect(begun).toHaveLength(8);
    await expect(gate.run(() => Promise.resolve(), AbortSignal.abort())).resolves.toBeUndefined();
  });
});
