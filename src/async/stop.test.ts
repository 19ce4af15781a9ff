import { getEventListeners } from "node:events";

import { describe, expect, it } from "vitest";

import { ManualClock } from "../../tests/fixtures/protocol/manual-clock.ts";
import { startPause, Stop, until } from "./stop.ts";

describe("a stop", () => {
  it("aborts when the time is over, and not when its work has ended before", async () => {
    const clock = new ManualClock();
    const late = new Stop({ clock, afterMs: 1_000 });
    const early = new Stop({ signals: [new AbortController().signal], clock, afterMs: 1_000 });
    early.clear();
    await clock.advance(999);
    expect([late.signal.aborted, late.isOutOfTime]).toEqual([false, false]);
    await clock.advance(1);
    expect([late.signal.aborted, late.isOutOfTime, early.signal.aborted]).toEqual([
      true,
      true,
      false,
    ]);
    expect(clock.pending).toBe(0);
  });

  it("aborts with its parent, also with one that is aborted already", () => {
    const clock = new ManualClock();
    const parent = new AbortController();
    const first = new Stop({ signals: [parent.signal], clock, afterMs: 1_000 });
    parent.abort();
    first.clear();
    expect([first.signal.aborted, first.isOutOfTime]).toEqual([true, false]);
    const second = new Stop({ signals: [parent.signal], clock, afterMs: 1_000 });
    second.clear();
    expect([second.signal.aborted, second.isOutOfTime]).toEqual([true, false]);
  });
});

describe("until", () => {
  const never = (): Promise<never> => new Promise(() => {});

  it("is what the work comes to, and leaves no timer and no listener", async () => {
    const clock = new ManualClock();
    const { signal } = new AbortController();
    const causes = { signals: [signal, undefined], clock, afterMs: 1_000 };
    expect(await until(async () => await Promise.resolve(1), causes)).toBe(1);
    expect([clock.pending, getEventListeners(signal, "abort").length]).toEqual([0, 0]);
  });

  it("throws what the cause that came first says", async () => {
    const clock = new ManualClock();
    const caller = new AbortController();
    const causes = { signals: [caller.signal], clock, afterMs: 1_000 };
    const told = { ...causes, cancelled: () => "called off", tooLate: () => "too late" };
    const late = until(never, told);
    const lateEnd = expect(late).rejects.toBe("too late");
    await clock.advance(1_000);
    await lateEnd;
    const cancelled = until(never, told);
    const plain = until(never, causes);
    caller.abort("enough");
    await expect(cancelled).rejects.toBe("called off");
    await expect(plain).rejects.toBe("enough");
    await expect(until(never, told)).rejects.toBe("called off");
    expect(clock.pending).toBe(0);
  });
});

describe("a pause", () => {
  it.each(["time", "end", "signal"])("is over with its %s, and leaves no timer", async (cause) => {
    const clock = new ManualClock();
    const stop = new AbortController();
    const pause = startPause(clock, 1_000, stop.signal);
    if (cause === "time") await clock.advance(1_000);
    else if (cause === "end") pause.end();
    else stop.abort();
    await pause.over;
    expect([clock.pending, getEventListeners(stop.signal, "abort").length]).toEqual([0, 0]);
  });

  it("does not begin for a signal that is aborted already", async () => {
    const clock = new ManualClock();
    await startPause(clock, 1_000, AbortSignal.abort()).over;
    expect(clock.pending).toBe(0);
  });
});
