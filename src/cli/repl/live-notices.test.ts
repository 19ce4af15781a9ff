import { describe, expect, it } from "vitest";

import { ManualClock } from "../../../tests/fixtures/protocol/manual-clock.ts";
import type { HostEvent } from "../../events/host-event.ts";
import { LiveNotices } from "./live-notices.ts";

const changed = (serverName: string, name: string): HostEvent => ({
  type: "tools-changed",
  serverName,
  toolCount: 5,
  added: [name],
  removed: [],
  changed: [],
  at: 0,
});

describe("what happens beside the commands", () => {
  it("is told at once, and of one server at most once a second", async () => {
    const clock = new ManualClock();
    const told: string[] = [];
    const notices = new LiveNotices({
      write: (text) => void told.push(text),
      isBusy: () => false,
      clock,
    });
    for (const name of ["a", "b", "c"]) notices.tell(changed("one", name));
    notices.tell(changed("two", "x"));
    expect(told).toEqual(["· one: tools changed (new: a)", "· two: tools changed (new: x)"]);
    await clock.advance(1_000);
    expect(told.slice(2)).toEqual(["· one: tools changed (new: c) (and 1 more before)"]);
    await clock.advance(10_000);
    expect(told).toHaveLength(3);
    notices.close();
  });

  it("is safe to look at, and says nothing of what a command tells itself", () => {
    const told: string[] = [];
    let isBusy = true;
    const write = (text: string): void => void told.push(text);
    const notices = new LiveNotices({ write, isBusy: () => isBusy, clock: new ManualClock() });
    const error = { code: "connection_lost", message: "gone\u001B[2J" } as const;
    const state = { type: "server-state", serverName: "s", owner: null, error, at: 0 } as const;
    notices.tell({ ...state, state: "disconnected", previous: "connected" });
    expect(told).toEqual([]);
    isBusy = false;
    notices.tell({ ...state, state: "disconnected", previous: "connected" });
    expect(told).toEqual(["✗ disconnected  s: gone"]);
    notices.close();
  });
});
