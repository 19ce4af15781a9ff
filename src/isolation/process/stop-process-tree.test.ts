import { describe, expect, it } from "vitest";

import { ManualClock, settled } from "../../../tests/fixtures/protocol/manual-clock.ts";
import { stopProcessTree } from "./stop-process-tree.ts";

/** A tree that does what the test says, and a record of what was done to it, with the time. */
function recordedStop(leftoversEndAtMs = 0) {
  const clock = new ManualClock();
  const record: string[] = [];
  let exit = (): void => {};
  const exited = new Promise<void>((resolve) => {
    exit = resolve;
  });
  const note = (what: string): void => void record.push(`${clock.monotonic()} ${what}`);
  const done = stopProcessTree({
    tree: {
      signal: (signal) => note(`leader ${signal}`),
      signalLeftovers: async (signal) => {
        if (signal !== 0) note(`leftovers ${signal}`);
        return clock.monotonic() < leftoversEndAtMs;
      },
      release: () => note("release"),
    },
    exited,
    endInput: () => note("end of input"),
    termAfterMs: 1_000,
    graceMs: 5_000,
    clock,
  });
  return { clock, record, exit, done };
}

describe("the steps of a stop", () => {
  it("STD-09: a leader that ends with its input sees no signal, and nothing is waited for", async () => {
    const { record, exit, done, clock } = recordedStop();
    exit();
    await done;
    expect(record).toStrictEqual(["0 end of input", "0 leftovers SIGTERM", "0 release"]);
    expect(clock.pending).toBe(0);
  });

  it("STD-09: SIGTERM after a second, SIGKILL in time for all to be over within five", async () => {
    const { clock, record, exit, done } = recordedStop();
    await clock.advance(4_749);
    expect(record).toStrictEqual(["0 end of input", "1000 leader SIGTERM"]);
    await clock.advance(1);
    expect(record.at(-1)).toBe("4750 leader SIGKILL");
    exit();
    await done;
    expect(record.slice(3)).toStrictEqual(["4750 leftovers SIGTERM", "4750 release"]);
    expect(clock.pending).toBe(0);
  });

  it("a leader that even SIGKILL does not end is not waited for for ever", async () => {
    const { clock, record, done } = recordedStop();
    await clock.advance(5_750);
    await done;
    expect(record.at(-1)).toBe("5750 release");
  });

  it("leftovers of a leader that is gone get one SIGTERM and a second to follow it", async () => {
    const { clock, record, exit, done } = recordedStop(1_200);
    exit();
    await clock.advance(1_500);
    await done;
    const firstKill = record.find((entry) => entry.endsWith("leftovers SIGKILL"));
    expect(record.slice(0, 2)).toStrictEqual(["0 end of input", "0 leftovers SIGTERM"]);
    expect(firstKill).toBe("1000 leftovers SIGKILL");
    expect(record.at(-1)).toMatch(/^1[23]\d\d release$/);
  });

  it("leftovers of a leader that used up the grace are killed at once", async () => {
    const { clock, record, exit, done } = recordedStop(4_800);
    await clock.advance(4_750);
    exit();
    await settled();
    expect(record).toContain("4750 leftovers SIGKILL");
    await clock.advance(1_000);
    await done;
  });
});
