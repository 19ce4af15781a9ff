import { describe, expect, it } from "vitest";

import { type CallStreamItem, createHost } from "../../src/index.ts";
import { createDemoServer, createMemoryServer } from "../../src/testing/index.ts";
import {
  legacyHello,
  legacyScripts,
  type Script,
  ScriptedPeer,
} from "../fixtures/protocol/scripted-peer.ts";
import { deferred } from "./deferred.ts";

interface CallParams {
  readonly _meta: { readonly progressToken: unknown };
}

/** A server with the tool `look` that logs. */
function loggingPeer(look: Script): ScriptedPeer {
  return new ScriptedPeer({
    ...legacyScripts,
    initialize: () => ({ ...legacyHello, capabilities: { tools: {}, logging: {} } }),
    "logging/setLevel": () => ({}),
    "tools/list": () => ({ tools: [{ name: "look", inputSchema: { type: "object" } }] }),
    "tools/call": look,
  });
}

describe("session.stream", () => {
  it("LIM-02: tells progress as it comes and the outcome last", async () => {
    const { transport } = createMemoryServer(createDemoServer());
    await using host = await createHost({ config: false, servers: { demo: transport } });
    const session = host.session({ level: "yolo" });
    const items: CallStreamItem[] = [];
    for await (const item of session.stream("mcp__demo__slow", { steps: 3, delayMs: 1 }))
      items.push(item);
    expect(items.map(({ type }) => type)).toEqual(["progress", "progress", "progress", "outcome"]);
    expect(items.at(-1)).toMatchObject({ outcome: { ok: true, text: "Finished 3 steps." } });
  });

  it("LIM-02: tells what the tool's own server logs meanwhile, in order", async () => {
    const log = (peer: ScriptedPeer, level: string, data: unknown): void =>
      peer.notify("notifications/message", { level, data });
    const other = loggingPeer(() => ({ content: [] }));
    const peer = loggingPeer((message) => {
      const { progressToken } = (message.params as unknown as CallParams)._meta;
      log(other, "info", "of another server");
      log(peer, "debug", "begun");
      peer.notify("notifications/progress", { progressToken, progress: 1 });
      log(peer, "error", "half\u001B[31m done");
      return { content: [{ type: "text", text: "done" }] };
    });
    const servers = { fake: peer.transport, other: other.transport };
    await using host = await createHost({ config: false, servers });
    const session = host.session({ level: "yolo" });
    await session.ready();
    log(peer, "info", "before anybody reads");
    const items: CallStreamItem[] = [];
    for await (const item of session.stream("mcp__fake__look")) items.push(item);
    log(peer, "info", "after the end");
    expect(items).toMatchObject([
      { type: "log", level: "debug", text: "begun" },
      { type: "progress", progress: 1 },
      { type: "log", level: "error", text: "half done" },
      { type: "outcome", outcome: { ok: true, text: "done" } },
    ]);
  });

  it("LIM-02: a reader that leaves cancels the call", async () => {
    const { transport } = createMemoryServer(createDemoServer());
    await using host = await createHost({ config: false, servers: { demo: transport } });
    const session = host.session({ level: "yolo" });
    const codes: (string | null)[] = [];
    host.on("call-end", ({ code }) => codes.push(code));
    for await (const { type } of session.stream("mcp__demo__slow", { steps: 2, delayMs: 60_000 }))
      if (type === "progress") break;
    expect(codes).toEqual(["cancelled"]);
  });

  it("LIM-02: a reader can leave while nothing happens", async () => {
    await using host = await createHost({ config: false });
    const session = host.session({ level: "yolo" });
    const begun = deferred<AbortSignal>();
    session.defineTool({
      name: "silent",
      description: "Never ends",
      inputSchema: { type: "object" },
      timeoutMs: 0,
      handler: (_, { context }) => {
        begun.resolve(context.signal);
        return new Promise(() => {});
      },
    });
    const codes: (string | null)[] = [];
    host.on("call-end", ({ code }) => codes.push(code));
    const stream = session.stream("silent");
    const next = stream.next();
    const signal = await begun.promise;
    const left = stream.return();
    const end = { done: true, value: undefined };
    expect([await next, await left, await stream.next()]).toEqual([end, end, end]);
    expect([signal.aborted, codes]).toEqual([true, ["cancelled"]]);
  });

  it("a stream that nobody reads makes no call, and one that is read to its end stays ended", async () => {
    await using host = await createHost({ config: false });
    const session = host.session({ level: "yolo" });
    const codes: (string | null)[] = [];
    host.on("call-end", ({ code }) => codes.push(code));
    const unread = session.stream("nope");
    await unread.return();
    expect(await unread.next()).toEqual({ done: true, value: undefined });
    expect(codes).toEqual([]);
    const read = session.stream("nope");
    const [first, second, third] = await Promise.all([read.next(), read.next(), read.next()]);
    expect([first.done, second.done, third.done]).toEqual([false, true, true]);
    const error = new Error("mine");
    await expect(session.stream("nope").throw(error)).rejects.toBe(error);
    expect(codes).toEqual(["tool_unknown"]);
  });

  it("a call that fails at once ends the stream with its outcome", async () => {
    await using host = await createHost({ config: false });
    const items: CallStreamItem[] = [];
    for await (const item of host.session({ level: "yolo" }).stream("nope")) items.push(item);
    expect(items).toMatchObject([
      { type: "outcome", outcome: { error: { code: "tool_unknown" } } },
    ]);
  });
});
