import { describe, expect, it } from "vitest";

import {
  createPath,
  failureOf,
  fakeClient,
  fakeConnection,
  readTool,
  targetOf,
  textResult,
} from "../../tests/fixtures/call/scripted-call-path.ts";
import { settled } from "../../tests/fixtures/protocol/manual-clock.ts";
import { deferred } from "../../tests/host/deferred.ts";
import { defaultLimits, type Limits } from "../config/keys/limits.ts";
import { createError } from "../errors/families.ts";
import type { Denial } from "../policy/decide-access.ts";
import type { RawToolResult } from "../protocol/protocol-client.ts";
import type { RegisteredServer } from "../registry/server-registry.ts";
import type {
  CallableTool,
  CallDraft,
  CallOptions,
  CallTarget,
  NativeCallable,
  PerformCall,
  ServerTool,
} from "./call-contract.ts";

const denial: Denial = { rule: "level", code: "denied", reason: "no", hint: "ask" };

describe("a call that nothing holds up", () => {
  it("BRG-12, BRG-14: is sent as it was given, and its outcome says all there is to say", async () => {
    const { client, sent } = fakeClient(() =>
      Promise.resolve({ ...textResult("ok"), structuredContent: { n: 1 }, _meta: { m: 1 } }),
    );
    const { connection, noted } = fakeConnection(client);
    const { call, recorded, resolvedTimes, schemas } = createPath({
      targets: [targetOf({ connection })],
    });
    // As every connection does before it counts as open.
    await schemas.load();
    const outcome = await call({ path: "/a" });
    expect(outcome).toStrictEqual({
      ok: true,
      text: "ok",
      content: [{ type: "text", text: "ok" }],
      structured: { n: 1 },
      meta: { m: 1 },
      durationMs: 0,
      callId: "made-up",
      toolName: "read",
      publicName: "mcp__files__read",
      serverName: "files",
      truncated: false,
      sideEffects: "possible",
    });
    expect(sent).toMatchObject([
      {
        name: "read",
        args: { path: "/a" },
        options: {
          argumentsText: '{"path":"/a"}',
          signal: undefined,
          timeoutMs: defaultLimits.callTimeoutMs,
          onProgress: undefined,
          owner: { callId: "made-up" },
        },
      },
    ]);
    // Whatever the server may still ask about the call is withdrawn.
    expect(sent[0]?.options.owner?.end?.signal.aborted).toBe(true);
    expect(noted).toEqual(["answer"]);
    expect(recorded).toEqual([["made-up", outcome, 0]]);
    expect(resolvedTimes()).toBe(1);
  });

  it("takes the caller's id, signal and time, which wins over that of the server and the host", async () => {
    const { client, sent } = fakeClient();
    const { connection } = fakeConnection(client);
    const server = { config: { callTimeoutMs: 7 } } as RegisteredServer;
    const { call } = createPath({ targets: [targetOf({ connection, server })] });
    const { signal } = new AbortController();
    expect(await call({}, { callId: "mine", signal, timeoutMs: 5 })).toMatchObject({
      callId: "mine",
    });
    await call({});
    expect(sent.map(({ options }) => options.timeoutMs)).toEqual([5, 7]);
    expect(sent[0]?.options.signal).toBe(signal);
  });

  it("takes as long as the clock says", async () => {
    const answer = deferred<RawToolResult>();
    const { connection } = fakeConnection(fakeClient(() => answer.promise).client);
    const { call, clock } = createPath({ targets: [targetOf({ connection })] });
    await clock.advance(100);
    const calling = call();
    await clock.advance(25);
    answer.resolve(textResult("late"));
    expect(await calling).toMatchObject({ durationMs: 25 });
  });

  it("has no side effects where the server calls the tool read-only", async () => {
    const { connection } = fakeConnection(fakeClient().client);
    const tool = { ...readTool, annotations: { readOnlyHint: true } };
    const { call } = createPath({ targets: [targetOf({ connection, tool })] });
    expect(await call()).toMatchObject({ ok: true, sideEffects: "none" });
  });

  it("cuts the text at the limit and keeps the content whole", async () => {
    const { connection } = fakeConnection(
      fakeClient(() => Promise.resolve(textResult("0123456789"))).client,
    );
    const { call } = createPath({
      targets: [targetOf({ connection })],
      limits: { maxResultBytes: 4 },
    });
    expect(await call()).toMatchObject({
      text: "0123",
      truncated: true,
      content: [{ text: "0123456789" }],
    });
  });
});

describe("a call that cannot be made", () => {
  it.each<[string, unknown, unknown, string]>([
    ["name", 7, {}, "must be a string or { server, tool }"],
    ["name", { server: "files" }, {}, "must be a string or { server, tool }"],
    ["options", "x", 7, "must be an object"],
    ["options", "x", null, "must be an object"],
    ["options.signal", "x", { signal: null }, "must be an AbortSignal"],
    ["options.signal", "x", { signal: {} }, "must be an AbortSignal"],
    ["options.timeoutMs", "x", { timeoutMs: "5" }, "must be a number"],
    ["options.timeoutMs", "x", { timeoutMs: Number.NaN }, "must be a number"],
    ["options.onProgress", "x", { onProgress: 1 }, "must be a function"],
    ["options.callId", "x", { callId: 1 }, "must be a string"],
  ])(
    "ERR-16: misuse of %s (%j, %j) is an outcome that says it %s",
    async (parameter, name, options, words) => {
      const { path, caller, resolvedTimes } = createPath({ targets: [targetOf()] });
      const outcome = await path.call(caller, name as string, {}, options as CallOptions);
      expect(failureOf(outcome)).toMatchObject({
        code: "invalid_arguments",
        message: `"${parameter}" of a call ${words}`,
        details: { parameter },
      });
      expect(outcome).toMatchObject({ sideEffects: "none", callId: "made-up" });
      expect(resolvedTimes()).toBe(0);
    },
  );

  it.each<[unknown, string]>([
    ["mcp__files__read", "mcp__files__read"],
    [{ server: "files", tool: "read" }, "files.read"],
    [7, ""],
  ])("is named as it was called where no tool was found: %j", async (reference, publicName) => {
    const resolve = () => {
      throw createError("tool_unknown", "no such tool");
    };
    const { path, caller } = createPath({ targets: [], caller: { resolve } });
    const outcome = await path.call(caller, reference as string, {});
    expect(outcome).toMatchObject({ ok: false, publicName, sideEffects: "none" });
    expect(outcome.toolName).toBeUndefined();
    expect(outcome.serverName).toBeUndefined();
  });

  it("names the server of its error where no tool was found, and is recorded where that is wanted", async () => {
    const resolve = () => {
      throw createError("server_disabled", "off", { serverName: "files" });
    };
    const { call } = createPath({ targets: [], caller: { resolve }, record: undefined });
    expect(await call()).toMatchObject({ ok: false, serverName: "files" });
  });

  it("is not looked up when its caller has given up before", async () => {
    const { call, resolvedTimes, recorded } = createPath({ targets: [targetOf()] });
    const outcome = await call({}, { signal: AbortSignal.abort() });
    expect(failureOf(outcome)).toMatchObject({ code: "cancelled" });
    expect(resolvedTimes()).toBe(0);
    expect(recorded).toHaveLength(1);
  });

  it("waits until it may be recorded, and is refused where it cannot be", async () => {
    const { connection } = fakeConnection(fakeClient().client);
    const targets = [targetOf({ connection })];
    const admission = deferred();
    const waiting = createPath({ targets, admit: () => admission.promise });
    const calling = waiting.call();
    await settled();
    expect(waiting.resolvedTimes()).toBe(0);
    admission.resolve();
    expect(await calling).toMatchObject({ ok: true });
    const refused = createPath({
      targets,
      admit: () => Promise.reject(createError("store_failed", "no trail")),
    });
    expect(failureOf(await refused.call())).toMatchObject({ code: "store_failed" });
    expect(refused.resolvedTimes()).toBe(0);
    expect(await createPath({ targets, admit: () => undefined }).call()).toMatchObject({
      ok: true,
    });
  });

  it("BRG-03, PRM-03: is denied before its arguments are looked at, and those before anybody is asked", async () => {
    const { client, sent } = fakeClient();
    const { connection } = fakeConnection(client);
    const denied = createPath({ targets: [targetOf({ connection, denial })] });
    expect(await denied.call({ path: 10n })).toMatchObject({
      ok: false,
      serverName: "files",
      toolName: "read",
      error: { code: "denied", message: expect.stringContaining("no"), details: { rule: "level" } },
    });
    for (const consent of ["yolo", "ask"] as const) {
      const { call } = createPath({ targets: [targetOf({ connection, consent })] });
      const problem = failureOf(await call({ path: 10n }));
      expect(problem).toMatchObject({ code: "invalid_arguments", details: { toolName: "read" } });
      expect(failureOf(await call({ path: 1 }))).toMatchObject({ code: "invalid_arguments" });
    }
    expect(sent).toEqual([]);
  });

  it("is not connected where there is no server behind the tool", async () => {
    const { call } = createPath({ targets: [targetOf()] });
    expect(await call()).toMatchObject({
      error: {
        code: "not_connected",
        message: expect.stringContaining(
          "files is not connected: its tools were registered from schemas only",
        ),
        hint: "configure the server to call its tools",
      },
      serverName: "files",
      sideEffects: "none",
    });
  });
});

describe("a call that a person is asked about", () => {
  const open = () => fakeConnection(fakeClient().client).connection;

  it("BRG-08: shows the person exactly what is sent", async () => {
    const { client, sent } = fakeClient();
    const { connection } = fakeConnection(client);
    const asked: unknown[] = [];
    const target = targetOf({ connection, consent: "ask" });
    const { call } = createPath({
      targets: [target],
      caller: {
        askConsent: (about, args, consentCall) => {
          asked.push({ isTarget: about === target, args, ...consentCall });
          expect(Object.isFrozen(args)).toBe(true);
          return Promise.resolve(true);
        },
      },
    });
    const { signal } = new AbortController();
    expect(await call({ path: "/a" }, { callId: "c", signal })).toMatchObject({ ok: true });
    const argumentsText = '{"path":"/a"}';
    expect(asked).toEqual([
      { isTarget: true, args: { path: "/a" }, callId: "c", argumentsText, signal },
    ]);
    expect(sent).toMatchObject([{ args: { path: "/a" }, options: { argumentsText } }]);
  });

  it("PRM-17: is not sent after a no", async () => {
    const { client, sent } = fakeClient();
    const { connection, noted } = fakeConnection(client);
    const { call } = createPath({ targets: [targetOf({ connection, consent: "ask" })] });
    expect(await call()).toMatchObject({
      error: { code: "consent_denied" },
      sideEffects: "none",
    });
    expect([sent, noted]).toEqual([[], []]);
  });

  it("is not sent after a yes that came when the caller had given up", async () => {
    const { client, sent } = fakeClient();
    const { connection } = fakeConnection(client);
    const giveUp = new AbortController();
    const { call } = createPath({
      targets: [targetOf({ connection, consent: "ask" })],
      caller: {
        askConsent: () => {
          giveUp.abort();
          return Promise.resolve(true);
        },
      },
    });
    const outcome = await call({}, { signal: giveUp.signal });
    expect(failureOf(outcome)).toMatchObject({ code: "cancelled" });
    expect(sent).toEqual([]);
  });

  it("PRM-21: begins anew when the name stands for something else after the yes", async () => {
    const { client, sent } = fakeClient();
    const { connection } = fakeConnection(client);
    const before = targetOf({ connection, consent: "ask" });
    const asking = async (now: CallTarget, isStillThere = true) => {
      const asked: CallTarget[] = [];
      const { call } = createPath({
        targets: [before, now],
        caller: {
          askConsent: (target) => {
            asked.push(target);
            return Promise.resolve(asked.length > 1 || isStillThere);
          },
        },
      });
      const outcome = await call();
      return { outcome, askedTimes: asked.length };
    };
    const other = { ...readTool, originalName: "other" };
    expect(await asking(before)).toMatchObject({ askedTimes: 1, outcome: { ok: true } });
    const changed = await asking(targetOf({ connection, consent: "ask", tool: other }));
    expect(changed).toMatchObject({ askedTimes: 2, outcome: { ok: true, toolName: "other" } });
    const moved = await asking(targetOf({ connection: open(), consent: "ask" }));
    expect(moved).toMatchObject({ askedTimes: 2, outcome: { ok: true } });
    expect(await asking(before, false)).toMatchObject({ askedTimes: 2, outcome: { ok: true } });
    expect(await asking(targetOf({ connection, consent: "ask", denial }))).toMatchObject({
      outcome: { ok: false, error: { code: "denied" } },
    });
    expect(sent.map(({ name }) => name)).toEqual(["read", "other", "read"]);
  });
});

describe("a call of a server that is not connected", () => {
  it("starts it, and sends what the name stands for then", async () => {
    const { client, sent } = fakeClient();
    const signals: unknown[] = [];
    const { connection, noted } = fakeConnection(undefined, (...[options]: unknown[]) => {
      signals.push(options);
      return Promise.resolve(client);
    });
    const { call, resolvedTimes } = createPath({ targets: [targetOf({ connection })] });
    const { signal } = new AbortController();
    expect(await call({ path: "/a" }, { signal })).toMatchObject({ ok: true });
    expect(signals).toEqual([{ signal }]);
    expect(sent).toMatchObject([{ name: "read", args: { path: "/a" } }]);
    expect(noted).toEqual(["answer"]);
    expect(resolvedTimes()).toBe(3);
  });

  it("fails with the reason why it cannot be started", async () => {
    const reason = createError("command_not_found", "no such command");
    const { connection, noted } = fakeConnection(undefined, () => Promise.reject(reason));
    const { call } = createPath({ targets: [targetOf({ connection })] });
    expect(await call()).toMatchObject({
      error: { code: "command_not_found" },
      sideEffects: "none",
    });
    expect(noted).toEqual([]);
  });

  it("uses what the name stands for after the start, though the start failed", async () => {
    const { connection } = fakeConnection(undefined, () => Promise.reject(new Error("gone")));
    const { client, sent } = fakeClient();
    const other = targetOf({ connection: fakeConnection(client).connection });
    const first = targetOf({ connection });
    const { call } = createPath({ targets: [first, first, other] });
    expect(await call()).toMatchObject({ ok: true });
    expect(sent).toHaveLength(1);
  });

  it("asks where the start has ended the grant, and obeys where it has ended the right", async () => {
    const { client, sent } = fakeClient();
    const { connection } = fakeConnection(undefined, () => Promise.resolve(client));
    const first = targetOf({ connection });
    const asking = createPath({
      targets: [first, first, targetOf({ connection, consent: "ask" })],
    });
    expect(failureOf(await asking.call())).toMatchObject({ code: "consent_denied" });
    const denied = createPath({ targets: [first, first, targetOf({ connection, denial })] });
    expect(failureOf(await denied.call())).toMatchObject({ code: "denied" });
    expect(sent).toEqual([]);
  });

  it("is not sent when the caller gives up during the start", async () => {
    const { client, sent } = fakeClient();
    const giveUp = new AbortController();
    const { connection } = fakeConnection(undefined, () => {
      giveUp.abort();
      return Promise.resolve(client);
    });
    const { call } = createPath({ targets: [targetOf({ connection })] });
    const outcome = await call({}, { signal: giveUp.signal });
    expect(failureOf(outcome)).toMatchObject({ code: "cancelled" });
    expect(sent).toEqual([]);
  });
});

describe("a result", () => {
  const calling = async (
    result: RawToolResult,
    tool: ServerTool = readTool,
    limits?: Partial<Limits>,
  ) => {
    const { connection, noted } = fakeConnection(fakeClient(() => Promise.resolve(result)).client);
    const { call } = createPath({
      targets: [targetOf({ connection, tool })],
      ...(limits && { limits }),
    });
    return { outcome: await call(), noted };
  };

  it("ERR-03: that is an error fails the call with its text, and keeps the content", async () => {
    const { outcome, noted } = await calling(textResult("disk full", true));
    expect(outcome).toMatchObject({
      ok: false,
      content: [{ text: "disk full" }],
      serverName: "files",
      sideEffects: "possible",
      error: { code: "tool_error", message: "disk full", details: { toolName: "read" } },
    });
    expect(noted).toEqual(["answer"]);
    const silent = await calling({ content: [], isError: true });
    expect(failureOf(silent.outcome).message).toBe("MCP error");
  });

  it("has an error text that is cut at the limit", async () => {
    const { outcome } = await calling(textResult("0123456789", true), readTool, {
      maxResultBytes: 4,
    });
    expect(failureOf(outcome)).toMatchObject({ code: "tool_error", message: "0123" });
  });

  it("BRG-23: that breaks the output schema fails the call and is kept", async () => {
    const tool = {
      ...readTool,
      outputSchema: { type: "object", properties: { n: { type: "number" } }, required: ["n"] },
    };
    const good = { ...textResult("ok"), structuredContent: { n: 1 } };
    expect((await calling(good, tool)).outcome).toMatchObject({ ok: true });
    const { outcome } = await calling({ ...textResult("ok"), structuredContent: { n: "1" } }, tool);
    expect(outcome).toMatchObject({
      ok: false,
      text: "ok",
      structured: { n: "1" },
      error: { code: "invalid_result", details: { toolName: "read" } },
    });
    expect(failureOf((await calling(textResult("ok"), tool)).outcome)).toMatchObject({
      code: "invalid_result",
      message: expect.stringContaining(
        "read: the result lacks the structured content that the tool promises",
      ),
    });
    // A tool that failed promises nothing.
    expect(failureOf((await calling(textResult("no", true), tool)).outcome).code).toBe(
      "tool_error",
    );
  });

  it("ERR-01: that never comes is an outcome, and the connection hears of the failure", async () => {
    const timeout = createError("timeout", "too slow");
    for (const [thrown, code, message] of [
      [timeout, "timeout", "too slow"],
      [new TypeError("bug"), "protocol_violation", "the call failed unexpectedly"],
    ] as const) {
      const { connection, noted } = fakeConnection(fakeClient(() => Promise.reject(thrown)).client);
      const { call, recorded } = createPath({ targets: [targetOf({ connection })] });
      const outcome = await call();
      expect(outcome).toMatchObject({
        ok: false,
        text: "",
        content: [],
        sideEffects: "possible",
        error: { code, message: expect.stringContaining(message) },
      });
      expect(noted).toMatchObject([{ code }]);
      if (thrown !== timeout) expect(noted).toMatchObject([{ cause: thrown }]);
      expect(recorded).toMatchObject([["made-up", { ok: false }, 0]]);
    }
  });
});

describe("a tool that runs in this process", () => {
  const native = (perform: NativeCallable["perform"], change: Partial<NativeCallable> = {}) => {
    const { listed: _, ...rest } = readTool;
    return {
      ...rest,
      serverName: undefined,
      perform,
      timeoutMs: undefined,
      needsConsent: false,
      ...change,
    } satisfies NativeCallable as CallableTool;
  };
  const draftOf = (change: Partial<CallDraft> = {}) => {
    const done: string[] = [];
    const draft: CallDraft = {
      hasChanges: true,
      commit: () => {
        done.push("commit");
        return undefined;
      },
      drop: () => void done.push("drop"),
      ...change,
    };
    return { draft, done };
  };

  it("gets its frozen arguments, and the call it is about", async () => {
    const calls: (PerformCall & { readonly args: unknown })[] = [];
    const tool = native((args, call) => {
      calls.push({ args, ...call });
      expect(Object.isFrozen(args)).toBe(true);
      return Promise.resolve(textResult("ran"));
    });
    const { call, caller, resolvedTimes } = createPath({ targets: [targetOf({ tool })] });
    expect(await call({ path: "/a" }, { callId: "c" })).toMatchObject({
      ok: true,
      text: "ran",
      sideEffects: "none",
      serverName: undefined,
    });
    expect(calls).toMatchObject([
      {
        args: { path: "/a" },
        callId: "c",
        client: undefined,
        onProgress: undefined,
        timeoutMs: defaultLimits.callTimeoutMs,
        owner: { callId: "c" },
      },
    ]);
    expect(calls[0]?.caller).toBe(caller);
    expect(resolvedTimes()).toBe(1);
  });

  it("has the time of the call, its own, that of its server, or that of the host", async () => {
    const times: number[] = [];
    const perform: NativeCallable["perform"] = (_, { timeoutMs }) => {
      times.push(timeoutMs);
      return Promise.resolve(textResult("ran"));
    };
    const own = createPath({ targets: [targetOf({ tool: native(perform, { timeoutMs: 6 }) })] });
    await own.call({}, { timeoutMs: 5 });
    await own.call();
    const server = { config: { callTimeoutMs: 7 } } as RegisteredServer;
    const { client } = fakeClient();
    const { connection } = fakeConnection(client);
    const tool = { ...readTool, perform };
    await createPath({ targets: [targetOf({ tool, server, connection })] }).call();
    expect(times).toEqual([5, 6, 7]);
  });

  it("is given the connection where it is a way to use a server", async () => {
    const { client, sent } = fakeClient();
    const { connection } = fakeConnection(client);
    const clients: unknown[] = [];
    const perform: NativeCallable["perform"] = (args, call) => {
      expect(Object.isFrozen(args)).toBe(true);
      clients.push(call.client);
      return Promise.resolve(textResult("ran"));
    };
    const { call } = createPath({
      targets: [targetOf({ tool: { ...readTool, perform }, connection })],
    });
    expect(await call()).toMatchObject({ ok: true, text: "ran" });
    expect(clients).toEqual([client]);
    expect(sent).toEqual([]);
  });

  it("may have side effects from when it says so", async () => {
    const failing = (begins: boolean) =>
      native((_, call) => {
        if (begins) call.begin();
        return Promise.reject(createError("tool_error", "broken"));
      });
    for (const begins of [true, false]) {
      const { call } = createPath({ targets: [targetOf({ tool: failing(begins) })] });
      expect(await call()).toMatchObject({ sideEffects: begins ? "possible" : "none" });
    }
  });

  it("has its changes made when it succeeds, and dropped when it fails", async () => {
    const holding = (draft: CallDraft, result: RawToolResult) => {
      const tool = native((_, call) => {
        call.hold(draft);
        return Promise.resolve(result);
      });
      return createPath({ targets: [targetOf({ tool })] }).call();
    };
    const good = draftOf();
    const success = await holding(good.draft, textResult("ok"));
    expect([success.ok, good.done, "rolledBack" in success]).toEqual([true, ["commit"], false]);

    const failed = draftOf();
    const failure = await holding(failed.draft, textResult("broken", true));
    expect(failure).toMatchObject({ ok: false, rolledBack: true });
    expect(failed.done).toEqual(["drop"]);

    const unchanged = draftOf({ hasChanges: false });
    expect("rolledBack" in (await holding(unchanged.draft, textResult("no", true)))).toBe(false);
    expect(unchanged.done).toEqual(["drop"]);

    const conflict = createError("tool_error", "changed meanwhile");
    const refused = draftOf({ commit: () => conflict });
    expect(await holding(refused.draft, textResult("ok"))).toMatchObject({
      ok: false,
      rolledBack: true,
      error: { code: "tool_error" },
    });
    expect(refused.done).toEqual(["drop"]);
  });
});
