import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";

import { limitedSignal } from "./limited-signal.ts";

describe("a signal with a limit", () => {
  beforeEach(() => {
    vi.useFakeTimers();
  });
  afterEach(() => {
    vi.useRealTimers();
  });

  it("aborts when the time is over, and not when its work has ended before", () => {
    const late = limitedSignal(new AbortController().signal, 1_000);
    const early = limitedSignal(new AbortController().signal, 1_000);
    early.clear();
    vi.advanceTimersByTime(999);
    expect(late.signal.aborted).toBe(false);
    vi.advanceTimersByTime(1);
    expect([late.signal.aborted, early.signal.aborted]).toEqual([true, false]);
  });

  it("aborts with its parent, also with one that is aborted already", () => {
    const parent = new AbortController();
    const first = limitedSignal(parent.signal, 1_000);
    parent.abort();
    first.clear();
    expect(first.signal.aborted).toBe(true);
    const second = limitedSignal(parent.signal, 1_000);
    second.clear();
    expect(second.signal.aborted).toBe(true);
  });
});
