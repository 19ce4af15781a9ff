import { describe, expect, it } from "vitest";

import { ManualClock } from "../../tests/fixtures/protocol/manual-clock.ts";
import { RestartPolicy, type RestartPolicyOptions } from "./restart-policy.ts";

function policy(options: Partial<RestartPolicyOptions> = {}) {
  const clock = new ManualClock();
  const restarts = new RestartPolicy({
    isEnabled: true,
    maxAttempts: 3,
    isProcess: true,
    halfOpen: false,
    clock,
    random: () => 1,
    ...options,
  });
  return { restarts, clock };
}

describe("RestartPolicy", () => {
  it("CON-16: what was useful once is delayed when it crashes without being useful again", () => {
    const { restarts } = policy();
    restarts.connected();
    restarts.answered();
    const delays = [restarts.lost()];
    for (let crash = 0; crash < 4; crash += 1) {
      restarts.connected();
      delays.push(restarts.lost());
    }
    expect(delays).toEqual([0, 500, 1_000, 2_000, undefined]);
  });

  it("CON-16: an answer, or a minute without one, makes up for the crashes before", async () => {
    const { restarts, clock } = policy();
    restarts.connected();
    expect(restarts.lost()).toBe(500);
    restarts.connected();
    await clock.advance(59_999);
    expect(restarts.lost()).toBe(1_000);
    restarts.connected();
    await clock.advance(60_000);
    expect(restarts.lost()).toBe(0);
    restarts.connected();
    expect(restarts.lost()).toBe(500);
    restarts.connected();
    restarts.answered();
    expect(restarts.lost()).toBe(0);
  });

  it("CON-16: a delay is somewhere between half of it and all of it", () => {
    const delays = [0, 0.25, 0.5, 1].map((share) => {
      const { restarts } = policy({ random: () => share });
      restarts.connected();
      return restarts.lost();
    });
    expect(delays).toEqual([250, 312.5, 375, 500]);
  });

  it("CON-16: servers that fail together do not come back together", () => {
    const delays = Array.from({ length: 20 }, () => {
      const { restarts } = policy({ random: undefined as never });
      return restarts.startFailed(true);
    });
    expect(new Set(delays).size).toBeGreaterThan(10);
    for (const delayMs of delays) {
      expect(delayMs).toBeGreaterThanOrEqual(250);
      expect(delayMs).toBeLessThanOrEqual(500);
    }
  });

  it("CON-16: delays double up to half a minute", () => {
    const { restarts } = policy({ maxAttempts: 9 });
    const delays = Array.from({ length: 10 }, () => restarts.startFailed(true));
    expect(delays).toEqual([
      500,
      1_000,
      2_000,
      4_000,
      8_000,
      16_000,
      30_000,
      30_000,
      30_000,
      undefined,
    ]);
  });
});
