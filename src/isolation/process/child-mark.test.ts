import { describe, expect, it } from "vitest";

import {
  createChildMarker,
  isLimitOfDeadHost,
  isMarkerOfDeadHost,
  LockLimits,
  readStartTicks,
} from "./child-mark.ts";

describe.skipIf(process.platform !== "linux")("marks", () => {
  it("STD-24: every child has a name and a limit of its own, and limits come back", () => {
    const names = Array.from({ length: 1_000 }, () => createChildMarker().id);
    expect(new Set(names).size).toBe(1_000);
    const lockLimits = new LockLimits();
    const limits: bigint[] = [];
    for (let limit = lockLimits.take(); limit !== undefined; limit = lockLimits.take())
      limits.push(limit);
    expect(new Set(limits).size).toBe(512);
    lockLimits.giveBack(limits[7]!);
    expect(lockLimits.take()).toBe(limits[7]);
  });

  it("STD-24: marks of this process are those of a host that lives", () => {
    const limit = new LockLimits().take()!;
    expect(isLimitOfDeadHost(limit)).toBe(false);
    expect(isMarkerOfDeadHost(createChildMarker().id)).toBe(false);
  });

  it("STD-24: marks of a process with the same number, started at another time, are not", () => {
    const limit = new LockLimits().take()!;
    const tick = 2n ** 31n;
    expect(isLimitOfDeadHost(limit - tick)).toBe(true);
    expect(isLimitOfDeadHost(limit + tick)).toBe(true);
    const ticks = readStartTicks(process.pid)!;
    expect(isMarkerOfDeadHost(`${process.pid}-${ticks + 1}-0a1b2c3d.1`)).toBe(true);
  });

  it.each([0n, 1n, 4_711n, 2n ** 32n, 2n ** 62n - 1n, 2n ** 63n, 2n ** 64n - 2n])(
    "STD-24: a limit of %s is none of ours",
    (limit) => {
      expect(isLimitOfDeadHost(limit)).toBe(false);
    },
  );

  it.each(["", "1", "1-1", "1-1-0a1b2c3d", "x-1-0a1b2c3d.1", "f3b5a1f2-6a0e-4d5c.1"])(
    "STD-24: the name %j is none of ours",
    (name) => {
      expect(isMarkerOfDeadHost(name)).toBe(false);
    },
  );
});
