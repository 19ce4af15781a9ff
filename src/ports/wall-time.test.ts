import { describe, expect, it } from "vitest";

import type { Clock } from "./clock.ts";
import { WallTime } from "./wall-time.ts";

describe("WallTime", () => {
  it("follows the clock of the day, which is read once a second, and its jumps within that", () => {
    const time = { day: 1_000_000, monotonic: 50 };
    let reads = 0;
    const clock: Pick<Clock, "now" | "monotonic"> = {
      now: () => {
        reads += 1;
        return time.day;
      },
      monotonic: () => time.monotonic,
    };
    const wall = new WallTime(clock as Clock);
    expect(wall.at(time.monotonic)).toBe(1_000_000);
    time.monotonic += 999;
    time.day += 999;
    expect(wall.at(time.monotonic)).toBe(1_000_999);
    expect(wall.at(time.monotonic - 0.4)).toBe(1_000_999);
    expect(reads).toBe(1);
    // Someone sets it an hour ahead.
    time.day += 3_600_000;
    expect(wall.at(time.monotonic)).toBe(1_000_999);
    time.monotonic += 1;
    time.day += 1;
    expect(wall.at(time.monotonic)).toBe(4_601_000);
    expect(reads).toBe(2);
  });
});
