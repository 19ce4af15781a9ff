import { describe, expect, it } from "vitest";

import { ManualClock } from "../../../tests/fixtures/protocol/manual-clock.ts";
import { TokenBucket } from "./token-bucket.ts";

function bucket() {
  const clock = new ManualClock();
  const tokens = new TokenBucket({ perSecond: 10, burst: 5, clock });
  /** How many of a hundred are let through at this moment. */
  const flood = () => Array.from({ length: 100 }, () => tokens.take()).filter(Boolean).length;
  return { clock, flood };
}

describe("TokenBucket", () => {
  it("lets a burst through at once, then as many as time has earned", async () => {
    const { clock, flood } = bucket();
    expect(flood()).toBe(5);
    expect(flood()).toBe(0);
    await clock.advance(300);
    expect(flood()).toBe(3);
  });

  it("D3: a long silence earns no more than one burst", async () => {
    const { clock, flood } = bucket();
    await clock.advance(3_600_000);
    expect(flood()).toBe(5);
    await clock.advance(3_600_000);
    expect(flood()).toBe(5);
  });

  it("keeps the part of one that was earned until it is whole", async () => {
    const { clock, flood } = bucket();
    flood();
    for (let step = 0; step < 4; step += 1) {
      await clock.advance(25);
      expect(flood()).toBe(step === 3 ? 1 : 0);
    }
  });
});
