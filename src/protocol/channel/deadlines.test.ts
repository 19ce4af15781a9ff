import { describe, expect, it } from "vitest";

import { ManualClock } from "../../../tests/fixtures/protocol/manual-clock.ts";
import { DeadlineSweep } from "./deadlines.ts";

/** A sweep over a set of deadlines that notes when each was found to be over. */
function watched() {
  const clock = new ManualClock();
  const open = new Set<number>();
  const found: (readonly [deadline: number, at: number])[] = [];
  let sweeps = 0;
  const sweep = new DeadlineSweep(clock, (now) => {
    sweeps += 1;
    for (const deadline of open) {
      if (deadline > now) continue;
      open.delete(deadline);
      found.push([deadline, now]);
    }
    return Math.min(...open);
  });
  const expectAt = (deadline: number) => {
    open.add(deadline);
    sweep.schedule(deadline, clock.monotonic());
  };
  return { clock, open, found, sweep, expectAt, sweeps: () => sweeps };
}

describe("DeadlineSweep", () => {
  it("finds a lone deadline when it is due, and then rests", async () => {
    const { clock, found, expectAt } = watched();
    expectAt(2_000);
    await clock.advance(1_999);
    expect(found).toEqual([]);
    await clock.advance(1);
    expect(found).toEqual([[2_000, 2_000]]);
    expect(clock.pending).toBe(0);
  });

  it("keeps one timer for any number of deadlines, in whatever order they are set", async () => {
    const { clock, found, expectAt } = watched();
    for (const deadline of [5_000, 1_000, 3_000, 1_000_000]) {
      expectAt(deadline);
      expect(clock.pending).toBe(1);
    }
    await clock.advance(6_000);
    expect(found.map(([deadline]) => deadline)).toEqual([1_000, 3_000, 5_000]);
    expect(clock.pending).toBe(1);
  });

  it("is never early and at most 50 ms late, however close the deadlines are", async () => {
    const { clock, found, expectAt, sweeps } = watched();
    for (let deadline = 1_000; deadline < 1_500; deadline += 1) expectAt(deadline);
    await clock.advance(2_000);
    expect(found).toHaveLength(500);
    for (const [deadline, at] of found) {
      expect(at).toBeGreaterThanOrEqual(deadline);
      expect(at - deadline).toBeLessThanOrEqual(50);
    }
    expect(sweeps()).toBeLessThan(20);
  });

  it("a deadline that was met costs nothing, one that was moved is found later", async () => {
    const { clock, open, found, expectAt } = watched();
    expectAt(1_000);
    expectAt(1_200);
    open.clear();
    open.add(4_000);
    await clock.advance(3_999);
    expect(found).toEqual([]);
    await clock.advance(1);
    expect(found).toEqual([[4_000, 4_000]]);
  });

  it("deadlines beyond the reach of a timer are not early", async () => {
    const { clock, found, expectAt } = watched();
    const month = 30 * 86_400_000;
    const delays: number[] = [];
    const schedule = clock.schedule.bind(clock);
    clock.schedule = (delayMs, task) => {
      delays.push(delayMs);
      return schedule(delayMs, task);
    };
    expectAt(month);
    await clock.advance(month - 1);
    expect(found).toEqual([]);
    await clock.advance(1);
    expect(found).toHaveLength(1);
    // A real timer that is set to more fires at once.
    expect(Math.max(...delays)).toBeLessThan(2 ** 31);
  });

  it("stops, and starts again with the next deadline", async () => {
    const { clock, found, sweep, expectAt } = watched();
    expectAt(1_000);
    sweep.stop();
    expect(clock.pending).toBe(0);
    expectAt(2_000);
    await clock.advance(2_000);
    expect(found.map(([, at]) => at)).toEqual([2_000, 2_000]);
  });
});
