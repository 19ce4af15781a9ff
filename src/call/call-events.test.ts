import { describe, expect, it } from "vitest";

import {
  createPath,
  fakeClient,
  fakeConnection,
  readTool,
  targetOf,
  textResult,
} from "../../tests/fixtures/call/scripted-call-path.ts";
import { deferred } from "../../tests/host/deferred.ts";
import { createError } from "../errors/families.ts";
import type { RawToolResult } from "../protocol/protocol-client.ts";
import type { NativeCallable } from "./call-contract.ts";

describe("the events of a call", () => {
  it("say when it starts and how it ends, to listeners and to its session", async () => {
    const { connection } = fakeConnection(fakeClient().client);
    const seen: unknown[] = [];
    const { call, events, clock, heard } = createPath({
      targets: [targetOf({ connection })],
      caller: { onInvoked: (event) => void seen.push(event) },
    });
    for (const type of ["call-start", "call-end", "tool-invoked"] as const)
      events.on(type, (event) => void heard.push(event));
    await clock.advance(9);
    await call({ path: "/a" });
    const names = { toolName: "read", publicName: "mcp__files__read" };
    const who = { sessionId: "s", callId: "made-up", agent: "a", serverName: "files" };
    const invoked = {
      type: "tool-invoked",
      sessionId: "s",
      callId: "made-up",
      ...names,
      params: { path: "/a" },
      result: {
        message: "Success",
        value: { content: [{ type: "text", text: "ok" }] },
        success: true,
      },
      source: "mcp",
      mcpServer: "files",
      durationMs: 0,
      at: 9,
    };
    expect(heard).toStrictEqual([
      { type: "call-start", ...who, ...names, at: 9 },
      { type: "call-end", ...who, ...names, ok: true, code: null, durationMs: 0, at: 9 },
      invoked,
    ]);
    expect(seen).toStrictEqual([invoked]);
  });

  it("reach the session also where nobody else listens", async () => {
    const { connection } = fakeConnection(fakeClient().client);
    const seen: unknown[] = [];
    const { call } = createPath({
      targets: [targetOf({ connection })],
      caller: { onInvoked: (event) => void seen.push(event) },
    });
    await call();
    expect(seen).toMatchObject([{ type: "tool-invoked", toolName: "read" }]);
  });

  it("name what failed, and nothing where nothing was found", async () => {
    const resolve = () => {
      throw createError("tool_unknown", "no such tool");
    };
    const { call, events, heard } = createPath({ targets: [], caller: { resolve } });
    events.on("*", (event) => void heard.push(event));
    await call();
    expect(heard).toMatchObject([
      { type: "call-end", serverName: null, toolName: null, ok: false, code: "tool_unknown" },
      { type: "tool-invoked", toolName: null, mcpServer: null, source: "mcp" },
    ]);
  });

  it("say which tools are the program's own", async () => {
    const { listed: _, ...rest } = readTool;
    const tool: NativeCallable = {
      ...rest,
      serverName: undefined,
      perform: () => Promise.resolve(textResult("ran")),
      timeoutMs: undefined,
      needsConsent: false,
    };
    const { call, events, heard } = createPath({ targets: [targetOf({ tool })] });
    events.on("*", (event) => void heard.push(event));
    await call();
    expect(heard).toMatchObject([
      { type: "call-start", serverName: null },
      { type: "call-end", serverName: null },
      { type: "tool-invoked", source: "native", mcpServer: null },
    ]);
  });

  it("report progress to whoever wants it, and a callback that throws changes nothing", async () => {
    const { client, sent } = fakeClient();
    const { connection } = fakeConnection(client);
    const { call, events, heard } = createPath({ targets: [targetOf({ connection })] });
    events.on("*", () => {});
    await call();
    expect(sent[0]?.options.onProgress).toBeUndefined();
    const got: unknown[] = [];
    const onProgress = (progress: unknown) => {
      got.push(progress);
      throw new Error("a broken callback");
    };
    await call({}, { onProgress });
    sent[1]?.options.onProgress?.({ progress: 1, total: 2 });
    expect(got).toEqual([{ progress: 1, total: 2 }]);
    events.on("call-progress", (event) => void heard.push(event));
    await call();
    sent[2]?.options.onProgress?.({ progress: 2 });
    expect(heard).toStrictEqual([
      {
        type: "call-progress",
        sessionId: "s",
        callId: "made-up",
        serverName: "files",
        progress: 2,
        at: 0,
      },
    ]);
  });
});

describe("calls under way", () => {
  it("keep the process alive until the last of them is over", async () => {
    const timers = () =>
      process.getActiveResourcesInfo().filter((resource) => resource === "Timeout").length;
    const answers = [deferred<RawToolResult>(), deferred<RawToolResult>()];
    let begun = 0;
    const { client } = fakeClient(() => answers[begun++]?.promise as Promise<RawToolResult>);
    const { connection } = fakeConnection(client);
    const { call } = createPath({ targets: [targetOf({ connection })] });
    const before = timers();
    const calls = [call(), call()];
    expect(timers()).toBe(before + 1);
    answers[0]?.resolve(textResult("first"));
    await calls[0];
    expect(timers()).toBe(before + 1);
    answers[1]?.resolve(textResult("second"));
    await calls[1];
    expect(timers()).toBe(before);
  });

  it("are waited for, no longer than wanted", async () => {
    const answers = [deferred<RawToolResult>(), deferred<RawToolResult>()];
    let begun = 0;
    const { client } = fakeClient(() => answers[begun++]?.promise as Promise<RawToolResult>);
    const { connection } = fakeConnection(client);
    const { path, call, clock } = createPath({ targets: [targetOf({ connection })] });
    await path.idle(1_000);
    expect(clock.pending).toBe(0);
    const calls = [call(), call()];
    let isIdle = false;
    const waiting = path.idle(1_000).then(() => {
      isIdle = true;
    });
    answers[0]?.resolve(textResult("first"));
    await calls[0];
    await clock.advance(999);
    expect(isIdle).toBe(false);
    answers[1]?.resolve(textResult("second"));
    await Promise.all([...calls, waiting]);
    expect(clock.pending).toBe(0);

    answers.push(deferred<RawToolResult>());
    const last = call();
    const impatient = path.idle(10);
    await clock.advance(10);
    await impatient;
    answers[2]?.resolve(textResult("third"));
    expect(await last).toMatchObject({ text: "third" });
  });
});
