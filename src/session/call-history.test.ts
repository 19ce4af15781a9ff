import { describe, expect, it } from "vitest";

import type { ToolInvoked } from "../events/host-event.ts";
import { CallHistory } from "./call-history.ts";

function call(callId: string, fields: Partial<ToolInvoked> = {}): ToolInvoked {
  return {
    type: "tool-invoked",
    sessionId: "s",
    callId,
    at: 0,
    toolName: "t",
    publicName: "mcp__m__t",
    params: {},
    result: { message: "Success", value: { content: [] }, success: true },
    source: "mcp",
    mcpServer: "m",
    durationMs: 1,
    ...fields,
  };
}

describe("the history of a session", () => {
  it("SES-12: keeps the last thousand calls, the oldest first", () => {
    const history = new CallHistory(() => []);
    for (let index = 0; index < 1_500; index += 1) history.add(call(String(index)));
    const ids = history.list().map(({ callId }) => callId);
    expect([ids.length, ids[0], ids.at(-1)]).toEqual([1_000, "500", "1499"]);
  });

  it("B-W10: results are kept as text of at most a thousand characters, arguments without secrets", () => {
    const history = new CallHistory(() => []);
    const content = [{ type: "text", text: "x".repeat(5_000) }];
    history.add(
      call("1", {
        params: { token: "abc", title: "Bug" },
        result: { message: "m".repeat(5_000), value: { content }, success: false },
      }),
    );
    const [kept] = history.list();
    expect(kept?.params).toEqual({ token: "[redacted]", title: "Bug" });
    expect(kept?.result.message).toHaveLength(1_000);
    expect(kept?.result.value).toHaveLength(1_000);
  });

  it("an answer that repeats a secret of the arguments or of the server's entry is kept without it", () => {
    const history = new CallHistory((name) => (name === "m" ? ["configured"] : []));
    const content = [{ type: "text", text: "hunter2 and configured" }];
    history.add(
      call("1", {
        params: { login: { password: "hunter2" }, note: "my hunter2" },
        result: { message: "no hunter2, no configured", value: { content }, success: false },
      }),
    );
    expect(JSON.stringify(history.list())).not.toMatch(/hunter2|configured/);
    expect(history.list()[0]?.result.message).toBe("no [redacted], no [redacted]");
  });

  it("B-W10: a record is small, whatever the call was", () => {
    const history = new CallHistory(() => []);
    const nest = (depth: number): unknown =>
      depth === 0 ? "text" : Array.from({ length: 10 }, () => nest(depth - 1));
    const content = [{ type: "text", text: "x".repeat(4_000_000) }];
    const result = { message: "m", value: { content }, success: true };
    history.add(call("1", { params: { nested: nest(5), text: "y".repeat(4_000_000) }, result }));
    const [kept] = history.list();
    expect(JSON.stringify(kept).length).toBeLessThan(20_000);
    expect(kept?.result.value).toBe(`${"x".repeat(999)}…`);
  });

  it("no part of a secret is kept where a long answer was cut", () => {
    const secret = "s3cr3t-".repeat(1_000);
    const history = new CallHistory(() => [secret]);
    const content = [{ type: "text", text: secret.repeat(100) }];
    history.add(call("1", { result: { message: "m", value: { content }, success: true } }));
    expect(JSON.stringify(history.list())).not.toContain("s3cr3t");
  });
});
