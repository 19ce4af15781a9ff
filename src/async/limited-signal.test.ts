import { describe, expect, it } from "vitest";

import { ManualClock } from "../../tests/fixtures/protocol/manual-clock.ts";
import { limitedSignal } from "./limited-signal.ts";

describe("a signal with a limit", () => {
  it("aborts when the time is over, and not when its work has ended before", async () => {
    const clock = new ManualClock();
    const late = limitedSignal(undefined, 1_000, clock);
    const early = limitedSignal(new AbortController().signal, 1_000, clock);
    early.clear();
    await clock.advance(999);
    expect([late.signal.aborted, late.isOver]).toEqual([false, false]);
    await clock.advance(1);
    expect([late.signal.aborted, late.isOver, early.signal.aborted]).toEqual([true, true, false]);
    expect(clock.pending).toBe(0);
  });

  it("aborts with its parent, also with one that is aborted already", () => {
    const clock = new ManualClock();
    const parent = new AbortController();
    const first = limitedSignal(parent.signal, 1_000, clock);
    parent.abort();
    first.clear();
    expect([first.signal.aborted, first.isOver]).toEqual([true, false]);
    const second = limitedSignal(parent.signal, 1_000, clock);
    second.clear();
    expect([second.signal.aborted, second.isOver]).toEqual([true, false]);
  });
});
