import { describe, expect, it } from "vitest";

import { systemClock } from "./clock.ts";

describe("systemClock", () => {
  it("a time longer than a timer of the platform can wait for is waited for, not over at once", async () => {
    const fired: number[] = [];
    const timers = [2 ** 31, Number.POSITIVE_INFINITY].map((delayMs) =>
      systemClock.schedule(delayMs, () => fired.push(delayMs)),
    );
    // The platform makes one millisecond of what it cannot wait for, and timers of one length keep their order.
    await new Promise<void>((resolve) => void systemClock.schedule(1, resolve));
    expect(fired).toEqual([]);
    for (const timer of timers) timer.cancel();
  });
});
