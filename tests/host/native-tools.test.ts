import { execFile } from "node:child_process";
import path from "node:path";
import { promisify } from "node:util";

import { describe, expect, it } from "vitest";

import {
  type ConfirmQuestion,
  createHost,
  defineSlice,
  type HostEvent,
  type Human,
  McpConnectionPool,
  McpError,
  type NativeTool,
  type Outcome,
  type Session,
  type ToolContext,
  type ToolInvoked,
} from "../../src/index.ts";
import { ManualClock } from "../fixtures/protocol/manual-clock.ts";
import { hangsAfterMs } from "../setup/hang-limit.ts";
import { deferred } from "./deferred.ts";
import { anyTool, recordedHost } from "./recorded-host.ts";

const projectRoot = path.resolve(import.meta.dirname, "../..");

const noteSchema = {
  type: "object",
  properties: { text: { type: "string" } },
  required: ["text"],
} as const;

const notes = defineSlice<readonly string[]>("notes", []);

function noteTool(handler: NativeTool<{ text: string }>["handler"]): NativeTool<{ text: string }> {
  return { name: "note", description: "Keeps a note", inputSchema: noteSchema, handler };
}

/** A handler that says when it began and goes on until it is told otherwise. */
function stubborn() {
  const begun = deferred<ToolContext>();
  const end = deferred<string>();
  const handler: NativeTool["handler"] = (_, { context }) => {
    begun.resolve(context);
    return end.promise;
  };
  return { handler, begun: begun.promise, end: end.resolve };
}

function invocations(session: Session): ToolInvoked[] {
  const events: ToolInvoked[] = [];
  session.on("tool-invoked", (event) => events.push(event));
  return events;
}

describe("defining a native tool", () => {
  it("DSC-06: it is listed before the tools of servers, with description and schema", async () => {
    await using context = await recordedHost({ tools: [anyTool] });
    const session = context.host.session({ level: "yolo" });
    await session.ready();
    const defined = session.defineTool(noteTool(() => "ok"));
    expect(
      session.tools().map(({ name, source, serverName }) => [name, source, serverName]),
    ).toEqual([
      ["note", "native", undefined],
      ["mcp__fake__any", "mcp", "fake"],
    ]);
    expect(session.find("note")).toMatchObject({
      description: "Keeps a note",
      inputSchema: noteSchema,
      needsConsent: false,
      unusable: undefined,
    });
    expect((await defined.execute({ text: "x" })).text).toBe("ok");
  });

  it("belongs to its session alone", async () => {
    await using context = await recordedHost({ tools: [] });
    context.host.session({ level: "yolo" }).defineTool(noteTool(() => "ok"));
    const other = context.host.session({ level: "yolo" });
    expect(other.tools()).toEqual([]);
    expect(await other.call("note", { text: "x" })).toMatchObject({
      ok: false,
      error: { code: "tool_unknown" },
    });
  });

  it.each([
    ["a name that providers refuse", { name: "a.b" }],
    ["an empty name", { name: "" }],
    ["a name of 65 characters", { name: "x".repeat(65) }],
    ["a schema that cannot be used", { inputSchema: { $ref: "https://example.com/schema" } }],
    ["a schema that is no object", { inputSchema: [] as never }],
    ["annotations that are no JSON", { annotations: { at: new Date(0) } }],
    ["a name that is none", { name: undefined as never }],
    ["a definition without a handler", { handler: undefined as never }],
    ["a definition without a description", { description: undefined as never }],
  ])("%s is refused", async (_, fields) => {
    await using context = await recordedHost({ tools: [] });
    const session = context.host.session({ level: "yolo" });
    expect(() => session.defineTool({ ...noteTool(() => "ok"), ...fields })).toThrow(
      expect.objectContaining({ code: "config_invalid" }),
    );
    expect(session.tools()).toEqual([]);
  });

  it("a name is given once, and not to two owners", async () => {
    await using context = await recordedHost({ tools: [anyTool] });
    const session = context.host.session({ level: "yolo" });
    await session.ready();
    session.defineTool(noteTool(() => "first"));
    const refused = expect.objectContaining({ code: "config_invalid" });
    expect(() => session.defineTool(noteTool(() => "second"))).toThrow(refused);
    expect(() => session.defineTool({ ...noteTool(() => "mine"), name: "mcp__fake__any" })).toThrow(
      refused,
    );
  });

  it("a tool of a server that comes later gets another name, and the native one keeps its own", async () => {
    await using context = await recordedHost({ tools: [anyTool] });
    const session = context.host.session({ level: "yolo" });
    session.defineTool({ ...noteTool(() => "native"), name: "mcp__fake__any" });
    await session.ready();
    const [native, served] = session.tools();
    expect([native?.name, native?.source]).toEqual(["mcp__fake__any", "native"]);
    expect(served?.name).toMatch(/^mcp__fake__any_[0-9a-f]+$/);
    expect((await session.call("mcp__fake__any", { text: "x" })).text).toBe("native");
    expect((await session.call(served?.name ?? "", { a: 1 })).text).toBe('{"a":1}');
    expect(context.calls).toHaveLength(1);
  });
});

describe("calling a native tool", () => {
  it("SES-09 BRG-08: the handler gets frozen params and its context", async () => {
    await using context = await recordedHost({ tools: [] });
    const session = context.host.session({ level: "yolo", agent: "writer" });
    const seen: { params: unknown; context: ToolContext }[] = [];
    session.defineTool({
      ...noteTool((params, call) => {
        seen.push({ params, context: call.context });
      }),
      timeoutMs: 5_000,
    });
    const args = { text: "x", tags: ["a"] };
    const outcome = await session.call("note", args, { callId: "call-1" });
    expect(outcome).toMatchObject({ ok: true, text: "", content: [], serverName: undefined });
    expect(seen).toMatchObject([
      {
        params: args,
        context: { agent: "writer", callId: "call-1", signal: { aborted: false } },
      },
    ]);
    const [{ params, context: given }] = seen as [(typeof seen)[0]];
    expect([params === args, Object.isFrozen((params as typeof args).tags)]).toEqual([false, true]);
    expect(given.deadline).toBeGreaterThan(0);
  });

  it("SES-03 SES-02: publishes the same event as a call of a server's tool", async () => {
    await using context = await recordedHost({ tools: [anyTool] });
    const session = context.host.session({ level: "yolo" });
    const events = invocations(session);
    session.defineTool(noteTool(({ text }) => `kept ${text}`));
    await session.call("note", { text: "x" }, { callId: "1" });
    await session.call("mcp__fake__any", { a: 1 }, { callId: "2" });
    const common = {
      type: "tool-invoked",
      sessionId: expect.any(String),
      durationMs: expect.any(Number),
      at: expect.any(Number),
    };
    expect(events).toEqual([
      {
        ...common,
        callId: "1",
        toolName: "note",
        publicName: "note",
        params: { text: "x" },
        result: {
          message: "Success",
          value: { content: [{ type: "text", text: "kept x" }] },
          success: true,
        },
        source: "native",
        mcpServer: null,
      },
      {
        ...common,
        callId: "2",
        toolName: "any",
        publicName: "mcp__fake__any",
        params: { a: 1 },
        result: {
          message: "Success",
          value: { content: [{ type: "text", text: '{"a":1}' }], _meta: expect.any(Object) },
          success: true,
        },
        source: "mcp",
        mcpServer: "fake",
      },
    ]);
  });

  it("SES-07: wrong arguments never reach the handler", async () => {
    await using context = await recordedHost({ tools: [] });
    const session = context.host.session({ level: "yolo" });
    const events = invocations(session);
    session.defineTool(noteTool(() => expect.unreachable("must not run")));
    const outcome = await session.call("note", { text: 5 });
    expect(outcome).toMatchObject({
      ok: false,
      error: { code: "invalid_arguments" },
      sideEffects: "none",
    });
    expect(events).toMatchObject([{ source: "native", result: { success: false } }]);
  });

  it("BRG-23: a result that breaks the promised schema fails the call and undoes its writes", async () => {
    await using context = await recordedHost({ tools: [] });
    const session = context.host.session({ level: "yolo" });
    session.defineTool({
      ...noteTool((_, call) => {
        call.context.state.set("a", 1);
        return { structuredContent: { id: "not a number" } };
      }),
      outputSchema: {
        type: "object",
        properties: { id: { type: "number" } },
        required: ["id"],
      },
    });
    expect(await session.call("note", { text: "x" })).toMatchObject({
      ok: false,
      error: { code: "invalid_result" },
      structured: { id: "not a number" },
      rolledBack: true,
      sideEffects: "possible",
    });
    expect(session.state.snapshot()).toEqual({});
  });

  it("what the handler throws is an outcome, a typed error with its own code", async () => {
    await using context = await recordedHost({ tools: [anyTool] });
    const session = context.host.session({ level: "yolo" });
    session.defineTool(
      noteTool(({ text }) => {
        if (text === "plain") throw new Error("disk\u001B[31m full");
        throw new McpError("not_connected", "no database", { retryable: true });
      }),
    );
    expect(await session.call("note", { text: "plain" })).toMatchObject({
      ok: false,
      error: { code: "tool_error", message: "disk full" },
      serverName: undefined,
    });
    expect(await session.call("note", { text: "typed" })).toMatchObject({
      ok: false,
      error: { code: "not_connected", retryable: true },
    });
    expect(await session.execute("note", { text: "plain" })).toBe("disk full");
  });

  it("SES-04 RES-12: a handler that does not end in time is given up, with an event", async () => {
    await using context = await recordedHost({ tools: [] });
    const session = context.host.session({ level: "yolo" });
    const events = invocations(session);
    const { handler, begun, end } = stubborn();
    session.defineTool({ ...noteTool(handler as never), timeoutMs: 20 });
    const outcome = await session.call("note", { text: "x" });
    expect(outcome).toMatchObject({
      ok: false,
      error: { code: "timeout", message: "note did not finish within 20 ms", retryable: true },
      sideEffects: "possible",
    });
    expect(events).toMatchObject([
      { source: "native", result: { success: false, message: "note did not finish within 20 ms" } },
    ]);
    const { signal, state } = await begun;
    expect(signal.aborted).toBe(true);
    state.set("late", 1);
    end("too late");
    await Promise.resolve();
    expect(session.state.snapshot()).toEqual({});
  });

  it("a call's own limit wins over the tool's, and no limit is possible", async () => {
    await using context = await recordedHost({
      tools: [],
      host: { limits: { callTimeoutMs: 10 } },
    });
    const session = context.host.session({ level: "yolo" });
    const { handler, begun, end } = stubborn();
    session.defineTool({ ...noteTool(handler as never), timeoutMs: 10 });
    const calling = session.call("note", { text: "x" }, { timeoutMs: 0 });
    expect((await begun).deadline).toBeUndefined();
    end("in the end");
    expect((await calling).text).toBe("in the end");
  });

  it("a caller that gives up does not wait for the handler", async () => {
    await using context = await recordedHost({ tools: [] });
    const session = context.host.session({ level: "yolo" });
    const { handler, begun } = stubborn();
    session.defineTool(noteTool(handler as never));
    const stop = new AbortController();
    const calling = session.call("note", { text: "x" }, { signal: stop.signal });
    const { signal } = await begun;
    stop.abort();
    expect(await calling).toMatchObject({ ok: false, error: { code: "cancelled" } });
    expect(signal.aborted).toBe(true);
  });

  it("when the host closes, no server is ready any more", async () => {
    await using context = await recordedHost({ tools: [anyTool] });
    const session = context.host.session({ level: "yolo" });
    expect(await session.ready()).toMatchObject({ fake: { ready: true } });
    const closing = context.host.close();
    expect(await session.ready()).toMatchObject({ fake: { ready: false } });
    await closing;
    expect(await session.ready()).toMatchObject({ fake: { ready: false } });
  });

  it("a host that closes gives up what runs, and begins nothing more", async () => {
    await using context = await recordedHost({ tools: [] });
    const session = context.host.session({ level: "yolo" });
    const { handler, begun } = stubborn();
    session.defineTool(noteTool(handler as never));
    const calling = session.call("note", { text: "x" });
    const { signal } = await begun;
    await context.host.close();
    const closed = { ok: false, error: { code: "closed" } };
    expect(await calling).toMatchObject(closed);
    expect(signal.aborted).toBe(true);
    expect(await session.call("note", { text: "x" })).toMatchObject(closed);
  });

  it.each([
    ["is given up", `limits: { callTimeoutMs: 50 }`, `() => new Promise(() => {})`, "timeout"],
    ["ends", `limits: { callTimeoutMs: 0 }`, `() => "ok"`, "ok"],
  ])(
    "holds the process until the handler %s, and no longer",
    async (_, limits, handler, expected) => {
      const program = `
        import { createHost } from "./src/index.ts";
        const host = await createHost({ config: false, ${limits} });
        const session = host.session({ level: "yolo" });
        const inputSchema = { type: "object" };
        session.defineTool({ name: "it", description: "", inputSchema, handler: ${handler} });
        const outcome = await session.call("it");
        console.log(outcome.ok ? "ok" : outcome.error.code);
      `;
      const args = ["--import", "tsx", "--input-type=module", "--eval", program];
      const options = { cwd: projectRoot, timeout: hangsAfterMs, killSignal: "SIGKILL" } as const;
      const { stdout } = await promisify(execFile)(process.execPath, args, options);
      expect(stdout.trim()).toBe(expected);
    },
  );

  it("says why it may be called", async () => {
    await using context = await recordedHost({ tools: [] });
    const session = context.host.session({ agent: "main", level: "trusted" });
    session.defineTool({ ...noteTool(() => "ok"), needsConsent: true });
    expect(session.why("note")).toEqual({
      agent: "main",
      server: undefined,
      tool: "note",
      verdict: "ask",
      steps: [],
      consent: "ask",
    });
  });

  it("reports progress while it runs", async () => {
    await using context = await recordedHost({ tools: [] });
    const session = context.host.session({ level: "yolo" });
    session.defineTool(
      noteTool((_, call) => {
        call.context.progress({ progress: 1, total: 2 });
        return "ok";
      }),
    );
    const items = [];
    for await (const item of session.stream("note", { text: "x" })) items.push(item);
    expect(items).toMatchObject([
      { type: "progress", progress: 1, total: 2 },
      { type: "outcome", outcome: { ok: true } },
    ]);
  });

  it("text past the cap is cut", async () => {
    await using context = await recordedHost({
      tools: [],
      host: { limits: { maxResultBytes: 10 } },
    });
    const session = context.host.session({ level: "yolo" });
    session.defineTool(noteTool(() => "x".repeat(50)));
    expect(await session.call("note", { text: "x" })).toMatchObject({
      text: "x".repeat(10),
      truncated: true,
    });
  });
});

describe("consent to a native tool", () => {
  const confirming = (answer: "no" | "once" | "tool-session") => {
    const questions: ConfirmQuestion[] = [];
    const human: Human = {
      confirm: (question) => {
        questions.push(question);
        return Promise.resolve(answer);
      },
    };
    return { human, questions };
  };
  const careful = { ...noteTool(() => "ok"), needsConsent: true };

  it("is asked for when the tool says so, and an answer for the session is remembered", async () => {
    await using context = await recordedHost({ tools: [] });
    const { human, questions } = confirming("tool-session");
    const session = context.host.session({ level: "trusted", human });
    session.defineTool(careful);
    // Of the server nothing is offered yet, which is a warning of its own.
    expect(session.tools()).toMatchObject([{ name: "note", needsConsent: true }]);
    const events: HostEvent[] = [];
    session.on("*", (event) => events.push(event));
    expect((await session.call("note", { text: "x" })).ok).toBe(true);
    expect((await session.call("note", { text: "y" })).ok).toBe(true);
    expect(questions).toMatchObject([{ toolName: "note", arguments: { text: "x" } }]);
    expect(questions[0]).not.toHaveProperty("serverName");
    expect(events).toMatchObject([
      { type: "consent-asked", serverName: null, toolName: "note" },
      { type: "consent-granted", serverName: null },
      { type: "call-start", serverName: null },
      { type: "call-end", serverName: null, toolName: "note" },
      { type: "tool-invoked" },
      { type: "call-start" },
      { type: "call-end" },
      { type: "tool-invoked" },
    ]);
  });

  it("a yes to one call is no yes to the next", async () => {
    await using context = await recordedHost({ tools: [] });
    const { human, questions } = confirming("once");
    const session = context.host.session({ level: "trusted", human });
    session.defineTool(careful);
    for (const text of ["x", "y"]) expect((await session.call("note", { text })).ok).toBe(true);
    expect(questions.map((question) => question.arguments)).toEqual([{ text: "x" }, { text: "y" }]);
  });

  it("a no, and nobody to ask, fail the call before the handler runs", async () => {
    await using context = await recordedHost({ tools: [] });
    const { human } = confirming("no");
    for (const session of [
      context.host.session({ level: "trusted", human }),
      context.host.session({ level: "trusted" }),
    ]) {
      session.defineTool({ ...careful, handler: () => expect.unreachable("must not run") });
      expect(await session.call("note", { text: "x" })).toMatchObject({
        ok: false,
        error: { code: "consent_denied" },
        sideEffects: "none",
      });
    }
  });

  it("yolo is not asked", async () => {
    await using context = await recordedHost({ tools: [] });
    const { human, questions } = confirming("no");
    const session = context.host.session({ level: "yolo", human });
    session.defineTool(careful);
    expect((await session.call("note", { text: "x" })).ok).toBe(true);
    expect(questions).toEqual([]);
  });
});

describe("state in a native tool", () => {
  it("SES-06: what a call writes is seen in it at once, by others when it has succeeded", async () => {
    await using context = await recordedHost({ tools: [] });
    const session = context.host.session({ level: "yolo" });
    session.defineTool(
      noteTool(({ text }, call) => {
        const { state } = call.context;
        state.update(notes, (list) => [...list, text]);
        expect(session.state.get(notes)).toEqual([]);
        return state.get(notes).join();
      }),
    );
    expect((await session.call("note", { text: "x" })).text).toBe("x");
    expect(session.state.get(notes)).toEqual(["x"]);
  });

  it.each([
    ["throws", () => Promise.reject(new Error("no"))],
    ["says that it failed", () => ({ message: "no", value: null, success: false })],
    ["returns what is no JSON", () => () => 1],
  ])("SES-06: a handler that %s leaves the state as it was", async (_, ending) => {
    await using context = await recordedHost({ tools: [] });
    const session = context.host.session({ level: "yolo" });
    session.state.set(notes, ["before"]);
    session.defineTool(
      noteTool(({ text }, call) => {
        call.context.state.update(notes, (list) => [...list, text]);
        call.context.state.set("other", 1);
        return ending();
      }),
    );
    expect(await session.call("note", { text: "x" })).toMatchObject({
      ok: false,
      rolledBack: true,
    });
    expect(session.state.snapshot()).toEqual({ notes: ["before"] });
  });

  it("SES-14: calls at the same time keep each other's writes, whichever of them fail", async () => {
    await using context = await recordedHost({ tools: [] });
    const session = context.host.session({ level: "yolo" });
    const gates = ["a", "b", "c"].map(() => deferred());
    session.defineTool(
      noteTool(async ({ text }, call) => {
        call.context.state.update(notes, (list) => [...list, text]);
        await gates["abc".indexOf(text)]?.promise;
        if (text === "b") throw new Error("no");
        return text;
      }),
    );
    const calls = ["a", "b", "c"].map((text) => session.call("note", { text }));
    for (const index of [2, 1, 0]) {
      gates[index]?.resolve();
      await calls[index];
    }
    expect(session.state.get(notes)).toEqual(["c", "a"]);
  });

  it("a call that writes nothing says nothing about a rollback", async () => {
    await using context = await recordedHost({ tools: [] });
    const session = context.host.session({ level: "yolo" });
    session.defineTool(noteTool((_, { context: { state } }) => Promise.reject(state.get("x"))));
    expect(await session.call("note", { text: "x" })).not.toHaveProperty("rolledBack");
  });

  it("SES-14: a change of the state is an event of the session, with keys and without values", async () => {
    await using context = await recordedHost({ tools: [] });
    const session = context.host.session({ level: "yolo" });
    const events: HostEvent[] = [];
    session.on("state-changed", (event) => events.push(event));
    session.state.set("plan", "secret");
    context.host.session().state.set("other", 1);
    expect(events).toEqual([
      {
        type: "state-changed",
        sessionId: expect.any(String),
        keys: ["plan"],
        at: expect.any(Number),
      },
    ]);
  });
});

describe("calls inside a native tool", () => {
  it("take the guarded path, and their writes belong to the call around them", async () => {
    await using context = await recordedHost({ tools: [anyTool] });
    const session = context.host.session({ level: "yolo" });
    session.defineTool(
      noteTool(({ text }, call) => {
        call.context.state.update(notes, (list) => [...list, text]);
        return "inner";
      }),
    );
    session.defineTool({
      ...noteTool(async ({ text }, call) => {
        const inner = await call.context.call("note", { text: `inner ${text}` });
        const served = await call.context.call("mcp__fake__any", { text });
        expect(call.context.state.get(notes)).toEqual([`inner ${text}`]);
        expect(session.state.get(notes)).not.toContain(`inner ${text}`);
        if (text === "bad") throw new Error("no");
        return `${inner.text} ${served.text}`;
      }),
      name: "outer",
    });
    expect((await session.call("outer", { text: "bad" })).ok).toBe(false);
    expect(session.state.get(notes)).toEqual([]);
    expect((await session.call("outer", { text: "good" })).text).toBe('inner {"text":"good"}');
    expect(session.state.get(notes)).toEqual(["inner good"]);
  });

  it("B-W5: may take no longer than what is left of it", async () => {
    const clock = new ManualClock();
    await using context = await recordedHost({ tools: [], host: { clock } });
    const session = context.host.session({ level: "yolo" });
    const deadlines: (number | undefined)[] = [];
    session.defineTool(noteTool((_, call) => void deadlines.push(call.context.deadline)));
    session.defineTool({
      ...noteTool(async (_, call) => {
        await clock.advance(5_000);
        for (const timeoutMs of [undefined, 0, 60_000, 1_000])
          await call.context.call("note", { text: "x" }, { timeoutMs });
      }),
      name: "outer",
      timeoutMs: 20_000,
    });
    await session.call("outer", { text: "x" });
    expect(deadlines).toEqual([20_000, 20_000, 20_000, 6_000]);
  });

  it("B-W5: end when it ends", async () => {
    const reached = deferred();
    await using context = await recordedHost({
      tools: [anyTool],
      answers: () => {
        reached.resolve();
        return new Promise(() => {});
      },
    });
    const session = context.host.session({ level: "yolo" });
    const inner = deferred<Outcome>();
    session.defineTool({
      ...noteTool((_, call) => {
        const calling = call.context.call("mcp__fake__any");
        void calling.then(inner.resolve);
        return calling;
      }),
    });
    const stop = new AbortController();
    const calling = session.call("note", { text: "x" }, { signal: stop.signal, timeoutMs: 0 });
    await reached.promise;
    stop.abort();
    expect(await calling).toMatchObject({ ok: false, error: { code: "cancelled" } });
    expect(await inner.promise).toMatchObject({ ok: false, error: { code: "cancelled" } });
  });

  it("BRG-08: a tool that is made to call itself is refused somewhere, with the reason", async () => {
    await using context = await recordedHost({ tools: [] });
    const session = context.host.session({ level: "yolo", history: true });
    session.defineTool<{ tool: string; text: string }>({
      ...noteTool(() => "ok"),
      name: "run",
      inputSchema: noteSchema,
      handler: async (params, call) => {
        const outcome = await call.context.call(params.tool, params);
        return outcome.ok ? outcome.text : outcome.error.message;
      },
    });
    const outcome = await session.call("run", { tool: "run", text: "x" });
    expect(outcome).toMatchObject({
      ok: true,
      text: "tools that call tools may do so 16 deep at most",
    });
    const results = session.history().map(({ result }) => result.success);
    expect(results).toEqual([false, ...Array.from({ length: 17 }, () => true)]);
  });

  it.each(["note", "nobody"])(
    "B-W5: endless calls of %s keep no deadline from coming",
    async (name) => {
      await using context = await recordedHost({ tools: [] });
      const session = context.host.session({ level: "yolo" });
      session.defineTool(noteTool(() => "ok"));
      const ended = deferred();
      session.defineTool({
        ...noteTool(async (_, call) => {
          let isOver = false;
          while (!isOver) {
            const outcome = await call.context.call(name, { text: "x" });
            isOver = !outcome.ok && outcome.error.code === "closed";
          }
          ended.resolve();
        }),
        name: "outer",
        timeoutMs: 20,
      });
      expect(await session.call("outer", { text: "x" })).toMatchObject({
        ok: false,
        error: { code: "timeout" },
      });
      await ended.promise;
    },
  );

  it.each([
    ["succeeded", () => "ok"],
    ["failed", () => Promise.reject(new Error("no"))],
  ])("SES-06: are refused when it has %s, for what they wrote would be lost", async (_, ending) => {
    await using context = await recordedHost({ tools: [anyTool] });
    const session = context.host.session({ level: "yolo" });
    const given = deferred<ToolContext>();
    session.defineTool(noteTool((_params, call) => call.context.state.set(notes, ["lost"])));
    session.defineTool({
      ...noteTool((_params, call) => {
        given.resolve(call.context);
        return ending();
      }),
      name: "outer",
    });
    await session.call("outer", { text: "x" });
    const { call } = await given.promise.then((kept) => ({ call: kept.call.bind(kept) }));
    for (const name of ["note", "mcp__fake__any"])
      expect(await call(name, { text: "x" })).toMatchObject({
        ok: false,
        error: { code: "closed" },
        sideEffects: "none",
      });
    expect([session.state.keys(), context.calls]).toEqual([[], []]);
  });

  it("SES-06: one that ends after the call around it failed is closed, too", async () => {
    await using context = await recordedHost({ tools: [] });
    const session = context.host.session({ level: "yolo" });
    const gate = deferred();
    const begun = deferred();
    const inner = deferred<Outcome>();
    session.defineTool(
      noteTool(async (_, call) => {
        begun.resolve();
        await gate.promise;
        call.context.state.set(notes, ["lost"]);
      }),
    );
    session.defineTool({
      ...noteTool(async (_, call) => {
        void call.context.call("note", { text: "x" }).then(inner.resolve);
        await begun.promise;
        throw new Error("no");
      }),
      name: "outer",
    });
    expect((await session.call("outer", { text: "x" })).ok).toBe(false);
    gate.resolve();
    expect(await inner.promise).toMatchObject({ ok: false, error: { code: "closed" } });
  });

  it("SES-08 REG-15: the connection pool gives the servers this agent may use, on the guarded path", async () => {
    await using context = await recordedHost({ tools: [anyTool] });
    await using host = await createHost({
      config: false,
      servers: { off: { command: "x", enabled: false } },
    });
    const seen: unknown[] = [];
    const define = (session: Session) =>
      session.defineTool(
        noteTool(async (_, call) => {
          const pool = call.context.resources.get(McpConnectionPool);
          seen.push(pool?.names(), pool?.get("nobody"), pool?.get("off"));
          const fake = pool?.get("fake");
          if (fake === undefined) return "none";
          seen.push(fake.state);
          const outcome = await fake.callTool("any", { b: 2 });
          const unknown = await fake.callTool("nothing");
          return `${outcome.text} ${fake.state} ${unknown.ok ? "" : unknown.error.code}`;
        }),
      );
    const session = context.host.session({ level: "yolo" });
    define(session);
    expect((await session.call("note", { text: "x" })).text).toBe('{"b":2} connected tool_unknown');
    expect(seen).toEqual([["fake"], undefined, undefined, "idle"]);

    const sandboxed = context.host.session({ level: "sandboxed" });
    define(sandboxed);
    expect((await sandboxed.call("note", { text: "x" })).text).toBe("none");
    const other = host.session({ level: "yolo" });
    define(other);
    expect((await other.call("note", { text: "x" })).text).toBe("none");
  });

  it("SES-08: a resource that is not there is undefined", async () => {
    class Database {
      readonly name = "db";
    }
    await using context = await recordedHost({ tools: [] });
    const session = context.host.session({ level: "yolo" });
    session.defineTool(
      noteTool((_, call) => call.context.resources.get(Database)?.name ?? "no database"),
    );
    expect((await session.call("note", { text: "x" })).text).toBe("no database");
  });
});

describe("history", () => {
  it("SES-12: keeps what happened, also what was rolled back", async () => {
    await using context = await recordedHost({ tools: [anyTool] });
    const session = context.host.session({ level: "yolo", history: true });
    session.defineTool(noteTool(() => Promise.reject(new Error("no"))));
    await session.transaction(async (transaction) => {
      await transaction.call("mcp__fake__any", { password: "hunter22" });
      await transaction.call("note", { text: "x" });
    });
    expect(session.history()).toMatchObject([
      { toolName: "any", params: { password: "[redacted]" }, result: { success: true } },
      {
        toolName: "note",
        source: "native",
        result: { success: false, message: "no", value: null },
      },
    ]);
    expect(context.host.session({ level: "yolo" }).history()).toEqual([]);
  });

  it("SES-13: an observer that fails changes nothing", async () => {
    await using context = await recordedHost({ tools: [] });
    const session = context.host.session({ level: "yolo" });
    session.defineTool(
      noteTool(({ text }, call) => {
        call.context.state.set("text", text);
        return "ok";
      }),
    );
    session.on("*", () => {
      throw new Error("observer");
    });
    session.on("tool-invoked", () => Promise.reject(new Error("late observer")) as never);
    expect((await session.call("note", { text: "x" })).ok).toBe(true);
    expect(session.state.get("text")).toBe("x");
  });
});
