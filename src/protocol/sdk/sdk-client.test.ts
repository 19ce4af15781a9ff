import { afterEach, beforeEach, expect, it, vi } from "vitest";

import { connectScripted, failureOf } from "../../../tests/fixtures/protocol/connect-scripted.ts";
import { settled } from "../../../tests/fixtures/protocol/manual-clock.ts";
import { connectWithSdk } from "./sdk-client.ts";

// For those that the SDK sets; ours are the clock's.
beforeEach(() => {
  vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
});
afterEach(() => {
  vi.useRealTimers();
});

it.each([
  ["legacy", null],
  ["legacy", "text"],
  ["modern", null],
  ["modern", []],
] as const)(
  "MSG-02: in the %s era a result the SDK drops, _meta being %j, fails its call at once",
  async (era, _meta) => {
    const answer = { resultType: "complete", content: [], _meta };
    const { client, clock } = await connectScripted(
      connectWithSdk,
      { "tools/call": () => answer, "tools/list": () => ({ resultType: "complete", tools: [] }) },
      { era },
    );
    const failure = await failureOf(client.callTool("a", {}, { timeoutMs: 0 }));
    expect(failure).toMatchObject({
      code: "protocol_violation",
      message: "tools/call got a malformed answer: the SDK's client does not accept it",
      details: { method: "tools/call" },
    });
    await settled();
    expect(vi.getTimerCount()).toBe(0);
    expect(clock.pending).toBe(0);
    await expect(client.listTools()).resolves.toEqual({ tools: [], rejected: [] });
  },
);
