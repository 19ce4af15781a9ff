import { describe, expect, it } from "vitest";

import { createHost, type HostEvent, type Human, type Outcome } from "../../src/index.ts";
import { demoServerEntry } from "../../src/testing/index.ts";
import { scriptedHuman } from "../fixtures/agent/scripted-human.ts";
import { ManualClock } from "../fixtures/protocol/manual-clock.ts";
import { anyTool, recordedHost } from "./recorded-host.ts";

const addTool = {
  name: "add",
  inputSchema: {
    type: "object",
    properties: { a: { type: "number" }, b: { type: "number" } },
    required: ["a", "b"],
  },
};

describe("levels", () => {
  it.each([[undefined], ["sandboxed"]] as const)(
    "PRO-10: an agent of level %s sees nothing, calls nothing and starts nothing",
    async (level) => {
      await using context = await recordedHost({ tools: [anyTool] });
      const session = context.host.session({ level });
      const outcome = await session.call("mcp__fake__any", {});
      expect(outcome).toMatchObject({ ok: false, error: { code: "denied" }, sideEffects: "none" });
      expect(session.tools()).toEqual([]);
      const denied = { fake: { ready: false, state: "idle", error: { code: "denied" } } };
      expect(await session.ready()).toMatchObject(denied);
      expect(await session.ready({ servers: ["fake"] })).toMatchObject(denied);
      expect(await session.loadTools()).toEqual([]);
      expect(context.host.server("fake").state).toBe("idle");
      expect(context.calls).toEqual([]);
    },
  );

  it("PRO-10 ERR-16: a level that does not exist is an error that names the three", async () => {
    await using context = await recordedHost({ tools: [anyTool] });
    const { host } = context;
    const level = "trustd" as "trusted";
    const words = 'must be "yolo" or "trusted" or "sandboxed"';
    const misuse = { code: "invalid_arguments", message: expect.stringContaining(words) };
    expect(() => host.session({ level })).toThrow(expect.objectContaining(misuse));
    const parent = host.session({ level: "yolo" });
    expect(() => parent.child({ level })).toThrow(expect.objectContaining(misuse));
  });

  it("yolo is not asked", async () => {
    await using context = await recordedHost({ tools: [anyTool] });
    const { human, questions } = scriptedHuman();
    const session = context.host.session({ level: "yolo", human });
    expect((await session.call("mcp__fake__any", { x: 1 })).text).toBe('{"x":1}');
    expect(questions).toEqual([]);
  });
});

describe("arguments", () => {
  it.each([
    ["no schema", undefined],
    ["an empty schema", {}],
    [
      "a schema that only names its dialect",
      { $schema: "http://json-schema.org/draft-07/schema#" },
    ],
    ["a schema without a type", { properties: { x: { type: "number" } } }],
  ])("BRG-20: a tool with %s takes any arguments", async (_, inputSchema) => {
    await using context = await recordedHost({ tools: [{ name: "open", inputSchema }] });
    const session = context.host.session({ level: "yolo" });
    expect(await session.call("mcp__fake__open", { x: 1, y: 2 })).toMatchObject({ ok: true });
    expect(context.calls).toMatchObject([{ name: "open", arguments: { x: 1, y: 2 } }]);
  });
});

describe("consent", () => {
  it("a trusted agent without anyone to ask is refused, and its tools are not listed", async () => {
    await using context = await recordedHost({ tools: [anyTool] });
    const session = context.host.session({ level: "trusted" });
    const outcome = await session.call("mcp__fake__any", {});
    expect(outcome).toMatchObject({ ok: false, error: { code: "consent_denied" } });
    expect(session.tools()).toEqual([]);
    expect(context.calls).toEqual([]);
  });

  it("one answer for the server covers its tools, but a destructive one is asked about each time", async () => {
    const destroy = { ...anyTool, name: "destroy", annotations: { destructiveHint: true } };
    await using context = await recordedHost({ tools: [anyTool, destroy] });
    const { human, questions } = scriptedHuman("server-session", "server-session", "no");
    const session = context.host.session({ level: "trusted", human, agent: "a" });
    expect((await session.call("mcp__fake__any", {})).ok).toBe(true);
    expect((await session.call("mcp__fake__any", {})).ok).toBe(true);
    expect((await session.call("mcp__fake__destroy", { id: 1 })).ok).toBe(true);
    expect((await session.call("mcp__fake__destroy", { id: 2 })).ok).toBe(false);
    expect(questions.map(({ toolName, isDestructive }) => [toolName, isDestructive])).toEqual([
      ["any", false],
      ["destroy", true],
      ["destroy", true],
    ]);
    expect(questions[1]).toMatchObject({ serverName: "fake", agent: "a", arguments: { id: 1 } });
  });

  it("an answer given in one session does not serve another", async () => {
    await using context = await recordedHost({ tools: [anyTool] });
    const first = scriptedHuman("server-session");
    await context.host.session({ level: "trusted", human: first.human }).call("mcp__fake__any", {});
    const second = scriptedHuman("no");
    const outcome = await context.host
      .session({ level: "trusted", human: second.human })
      .call("mcp__fake__any", {});
    expect(outcome.ok).toBe(false);
    expect(second.questions).toHaveLength(1);
  });

  it("a question that fails means no", async () => {
    await using context = await recordedHost({ tools: [anyTool] });
    const human: Human = { confirm: () => Promise.reject(new Error("terminal gone")) };
    const outcome = await context.host
      .session({ level: "trusted", human })
      .call("mcp__fake__any", {});
    expect(outcome).toMatchObject({ ok: false, error: { code: "consent_denied" } });
  });

  it("what was approved is what is sent, whatever the agent does to its object meanwhile", async () => {
    await using context = await recordedHost({ tools: [anyTool] });
    const args: Record<string, unknown> = { path: "/tmp/a" };
    const human: Human = {
      confirm: () => {
        args["path"] = "/etc/passwd";
        return Promise.resolve("once");
      },
    };
    await context.host.session({ level: "trusted", human }).call("mcp__fake__any", args);
    expect(context.calls[0]?.arguments).toEqual({ path: "/tmp/a" });
  });

  it("arguments are judged before anyone is asked", async () => {
    await using context = await recordedHost({ tools: [addTool] });
    const { human, questions } = scriptedHuman("once");
    const outcome = await context.host
      .session({ level: "trusted", human })
      .call("mcp__fake__add", { a: 2 });
    expect(outcome).toMatchObject({ ok: false, error: { code: "invalid_arguments" } });
    expect(questions).toEqual([]);
  });

  it("a host that is closed while the person thinks sends nothing", async () => {
    await using context = await recordedHost({ tools: [anyTool] });
    await context.host.connect("fake");
    const human: Human = {
      confirm: async () => {
        await context.host.close();
        return "once";
      },
    };
    const outcome = await context.host
      .session({ level: "trusted", human })
      .call("mcp__fake__any", {});
    expect(outcome).toMatchObject({ ok: false, error: { code: "closed" }, sideEffects: "none" });
    expect(context.calls).toEqual([]);
  });

  it("tools that would ask are listed as such, or left out on request", async () => {
    await using context = await recordedHost({ tools: [anyTool] });
    const { human } = scriptedHuman();
    const listing = context.host.session({ level: "trusted", human });
    await listing.ready();
    expect(listing.tools()).toMatchObject([{ name: "mcp__fake__any", needsConsent: true }]);
    const omitting = context.host.session({ level: "trusted", human, pending: "omit" });
    expect(omitting.tools()).toEqual([]);
  });
});

describe("arguments", () => {
  it("BRG-03 BRG-04 BRG-10: a missing field is named and nothing is sent", async () => {
    await using context = await recordedHost({ tools: [addTool] });
    const outcome = await context.host.session({ level: "yolo" }).call("mcp__fake__add", { a: 2 });
    expect(outcome.ok ? "" : outcome.error.message).toBe('add: "b" is required (number)');
    expect(context.calls).toEqual([]);
  });

  it("arguments that are no JSON are refused with a typed error", async () => {
    await using context = await recordedHost({ tools: [anyTool] });
    const cyclic: Record<string, unknown> = {};
    cyclic["self"] = cyclic;
    const session = context.host.session({ level: "yolo" });
    for (const args of [cyclic, { big: 1n }]) {
      const outcome = await session.call("mcp__fake__any", args);
      expect(outcome).toMatchObject({ ok: false, error: { code: "invalid_arguments" } });
    }
    expect(context.calls).toEqual([]);
  });
});

describe("results", () => {
  it("BRG-23 RES-20: output that breaks the tool's own schema fails the call and keeps the content", async () => {
    const lying = {
      ...anyTool,
      outputSchema: { type: "object", properties: { sum: { type: "number" } }, required: ["sum"] },
    };
    await using context = await recordedHost({
      tools: [lying],
      answers: () => ({
        content: [{ type: "text", text: "five" }],
        structuredContent: { sum: "5" },
      }),
    });
    const outcome = await context.host.session({ level: "yolo" }).call("mcp__fake__any", {});
    expect(outcome).toMatchObject({
      ok: false,
      text: "five",
      structured: { sum: "5" },
      sideEffects: "possible",
      error: { code: "invalid_result" },
    });
  });

  it("RES-17: text past the cap is cut and said to be, content is whole", async () => {
    const text = "é".repeat(100);
    await using context = await recordedHost({
      tools: [anyTool],
      answers: () => ({ content: [{ type: "text", text }] }),
      host: { limits: { maxResultBytes: 21 } },
    });
    const outcome = await context.host.session({ level: "yolo" }).call("mcp__fake__any", {});
    expect(outcome).toMatchObject({ ok: true, text: "é".repeat(10), truncated: true });
    expect(outcome.content).toEqual([{ type: "text", text }]);
  });

  it("RES-11 ERR-03: a JSON-RPC error is an outcome with the server's code", async () => {
    await using context = await recordedHost({
      tools: [anyTool],
      answers: () => {
        throw Object.assign(new Error("no such table"), { code: -32050 });
      },
    });
    const outcome = await context.host.session({ level: "yolo" }).call("mcp__fake__any", {});
    expect(outcome).toMatchObject({
      ok: false,
      error: { code: "rpc_error", rpc: { code: -32050, message: "no such table" } },
    });
  });

  it("RES-12 ERR-15: no answer in time is a timeout outcome with an event, and the server is told", async () => {
    const events: HostEvent[] = [];
    await using context = await recordedHost({
      tools: [anyTool],
      answers: () => new Promise(() => {}),
    });
    const session = context.host.session({ level: "yolo" });
    session.on("call-end", (event) => events.push(event));
    const outcome = await session.call("mcp__fake__any", {}, { timeoutMs: 20 });
    expect(outcome).toMatchObject({ ok: false, error: { code: "timeout", retryable: true } });
    expect(events).toMatchObject([{ type: "call-end", ok: false, code: "timeout" }]);
    await new Promise<void>((resolve) => {
      const { signal } = context.calls[0] ?? {};
      if (signal?.aborted !== false) resolve();
      else signal.addEventListener("abort", () => resolve());
    });
  });
});

describe("how long a call may take", () => {
  it.each([
    ["the caller's limit", 3_000, { callTimeout: 5 }, 3_000],
    ["the caller's limit, also a longer one", 7_000, { callTimeout: 5 }, 7_000],
    ["without one the entry's", undefined, { callTimeout: 5 }, 5_000],
    ["without both the host's", undefined, {}, 9_000],
  ])("RES-12: is %s", async (_name, timeoutMs, entry, expectedMs) => {
    const clock = new ManualClock();
    await using host = await createHost({
      config: false,
      servers: { demo: { ...demoServerEntry(), ...entry } },
      limits: { callTimeoutMs: 9_000 },
      clock,
    });
    const session = host.session({ level: "yolo" });
    await session.ready();
    let outcome: Outcome | undefined;
    const slow = { steps: 1, delayMs: 60_000 };
    void session.call("mcp__demo__slow", slow, { timeoutMs }).then((it) => (outcome = it));
    await clock.advance(expectedMs - 1);
    expect(outcome).toBeUndefined();
    // Deadlines are looked at together, at most this much later.
    await clock.advance(100);
    expect(outcome).toMatchObject({ error: { code: "timeout" } });
  });
});

describe("names", () => {
  it("RES-13: an unknown tool is an outcome with suggestions, and runs nothing", async () => {
    await using context = await recordedHost({ tools: [addTool] });
    const outcome = await context.host.session({ level: "yolo" }).call("mcp__fake__ad", {});
    expect(outcome).toMatchObject({
      ok: false,
      error: { code: "tool_unknown", details: { suggestions: ["mcp__fake__add"] } },
    });
    expect(context.calls).toEqual([]);
  });

  it("a call by name starts the server it belongs to, and only that one", async () => {
    let otherStarts = 0;
    await using context = await recordedHost({ tools: [anyTool] });
    const { createMemoryServer, createTestServer } = await import("../../src/testing/index.ts");
    await using host = await createHost({
      config: false,
      servers: {
        wanted: () => createMemoryServer(createTestServer()).transport,
        other: () => {
          otherStarts += 1;
          return createMemoryServer(createTestServer()).transport;
        },
      },
    });
    const outcome = await host.session({ level: "yolo" }).call("mcp__wanted__add", { a: 2, b: 3 });
    expect(outcome.text).toBe("5");
    expect(otherStarts).toBe(0);
    expect(host.server("other").state).toBe("idle");
    expect(context.calls).toEqual([]);
  });

  it("BRG-25: the envelope of agent frameworks is dispatched, input standing for arguments", async () => {
    await using context = await recordedHost({
      tools: [{ ...anyTool, name: "create_issue" }],
      host: { naming: "mcp_server_tool" },
    });
    const session = context.host.session({ level: "yolo" });
    const outcome = await session.dispatch({
      name: "mcp_fake_create_issue",
      input: { title: "Bug" },
      callId: "toolu_1",
    });
    expect(outcome).toMatchObject({ ok: true, callId: "toolu_1", text: '{"title":"Bug"}' });
    expect(context.calls[0]).toMatchObject({ name: "create_issue", arguments: { title: "Bug" } });
  });
});

describe("execute", () => {
  it("SES-10 RES-15: returns text, and a tool's own error as its text", async () => {
    await using context = await recordedHost({
      tools: [anyTool],
      answers: ({ arguments: args }) => ({
        content: [{ type: "text", text: args["fail"] === true ? "it broke" : "done" }],
        isError: args["fail"] === true,
      }),
    });
    const session = context.host.session({ level: "yolo" });
    expect(await session.execute("mcp__fake__any", {})).toBe("done");
    expect(await session.execute("mcp__fake__any", { fail: true })).toBe("it broke");
  });

  it("ERR-10: throws typed errors for what the agent may not or cannot do", async () => {
    await using context = await recordedHost({ tools: [anyTool] });
    await expect(context.host.session().execute("mcp__fake__any")).rejects.toMatchObject({
      name: "McpPermissionError",
    });
    await expect(
      context.host.session({ level: "yolo" }).execute("mcp__fake__nope"),
    ).rejects.toMatchObject({
      name: "McpToolError",
      code: "tool_unknown",
    });
  });
});

describe("events", () => {
  it("SES-02: every call is observable, and only by its own session", async () => {
    await using context = await recordedHost({ tools: [anyTool] });
    const mine = context.host.session({ agent: "mine", level: "yolo" });
    const other = context.host.session({ agent: "other", level: "yolo" });
    const seen: string[] = [];
    const foreign: string[] = [];
    mine.on("*", (event) => seen.push(event.type));
    other.on("call-end", (event) => foreign.push(event.type));
    await mine.call("mcp__fake__any", { x: 1 });
    expect(seen).toEqual([
      "server-state",
      "tools-changed",
      "server-state",
      "call-start",
      "call-end",
      "tool-invoked",
    ]);
    expect(foreign).toEqual([]);
  });

  it("a call's events follow the clock of the day and its jumps, its duration does not", async () => {
    const time = { day: 1_000_000, monotonic: 50 };
    const clock = {
      now: () => time.day,
      monotonic: () => time.monotonic,
      schedule: () => ({ cancel: () => undefined }),
    };
    await using context = await recordedHost({ tools: [anyTool], host: { clock } });
    const session = context.host.session({ level: "yolo" });
    await session.ready();
    const seen: number[] = [];
    session.on("call-start", ({ at }) => {
      seen.push(at);
      time.monotonic += 999;
      time.day += 999;
    });
    session.on("call-end", ({ at, durationMs }) => seen.push(at, durationMs));
    session.on("tool-invoked", ({ at }) => seen.push(at));
    await session.call("mcp__fake__any", {});
    expect(seen.splice(0)).toEqual([1_000_000, 1_000_999, 999, 1_000_999]);
    // Someone sets it an hour ahead.
    time.day += 3_600_000;
    await session.call("mcp__fake__any", {});
    expect(seen).toEqual([4_600_999, 4_601_998, 999, 4_601_998]);
  });
});
