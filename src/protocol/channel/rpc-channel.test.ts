import { describe, expect, it } from "vitest";

import { settled } from "../../../tests/fixtures/protocol/manual-clock.ts";
import { protocolOptions } from "../../../tests/fixtures/protocol/protocol-options.ts";
import { ScriptedPeer } from "../../../tests/fixtures/protocol/scripted-peer.ts";
import { createError } from "../../errors/families.ts";
import type { McpError } from "../../errors/mcp-error.ts";
import type { Progress, ServerNotification } from "../protocol-client.ts";
import { CallbackRequest, type RpcAnswer, type RpcRequestOptions } from "./pending-requests.ts";
import { RpcChannel } from "./rpc-channel.ts";

function open(overrides: Parameters<typeof protocolOptions>[0] = {}) {
  const peer = new ScriptedPeer();
  const options = protocolOptions(overrides);
  const channel = new RpcChannel(peer.transport, options);
  channel.setProtocolVersion("2025-11-25");
  const ends: (McpError | undefined)[] = [];
  channel.onend = (error) => ends.push(error);
  const ask = (method = "tools/call", options: RpcRequestOptions = {}) => {
    const answers: RpcAnswer[] = [];
    const request = new CallbackRequest({ method, params: {}, options }, (answer) =>
      answers.push(answer),
    );
    channel.request(request);
    return { request, id: request.id, answers };
  };
  return { peer, channel, ends, ask, clock: options.clock };
}

function errorOf(answers: readonly RpcAnswer[]): McpError {
  const [answer] = answers;
  if (answer === undefined || answer.ok) throw new Error("there is no failed answer");
  return answer.error;
}

describe("ids", () => {
  it("PRO-08, C-11: only an id of the same type and value answers a request", () => {
    const { peer, ask, channel } = open();
    const { id, answers } = ask();
    for (const wrong of [String(id), ` ${id} `, `0x${id}`, [id], { id }, true, 99])
      peer.respond(wrong, { wrong });
    expect(answers).toEqual([]);
    peer.respond(id, { right: true });
    expect(answers).toEqual([{ ok: true, result: { right: true } }]);
    expect(channel.end).toBeUndefined();
  });

  it("PRO-08: a strict connection ends at the first response nobody asked for", async () => {
    const { peer, ask, ends } = open({ strict: true });
    const { answers } = ask();
    peer.respond("7", {});
    expect(errorOf(answers).code).toBe("protocol_violation");
    expect(errorOf(answers).message).toBe('Response ID mismatch: expected 1, got "7"');
    expect(ends).toEqual([errorOf(answers)]);
    await settled();
    expect(peer.transport.closeCount).toBe(1);
  });

  it("C-11: a lenient connection drops 100 of them and ends at the 101st", () => {
    const { peer, channel, ends } = open();
    for (let i = 0; i < 100; i += 1) peer.respond(`stray-${i}`, {});
    expect(channel.counts.unmatched).toBe(100);
    expect(channel.end).toBeUndefined();
    peer.respond("stray", {});
    expect(ends[0]?.message).toContain('Response ID mismatch: expected none, got "stray"');
  });

  it("C-11: a late answer to an abandoned request is no offence, even a thousand times", () => {
    const { peer, channel, ask } = open({ strict: true });
    const asked = Array.from({ length: 1_000 }, () => ask());
    for (const { request } of asked) channel.abandon(request);
    for (const { id } of asked) peer.respond(id, {});
    expect(asked.flatMap(({ answers }) => answers)).toEqual([]);
    expect(channel.end).toBeUndefined();
  });

  it("the first of two answers wins; the second offends only a strict connection", () => {
    for (const strict of [false, true]) {
      const { peer, channel, ask } = open({ strict });
      const { id, answers } = ask();
      peer.respond(id, { first: true });
      peer.respond(id, { second: true });
      expect(answers).toEqual([{ ok: true, result: { first: true } }]);
      expect(channel.end?.code).toBe(strict ? "protocol_violation" : undefined);
    }
  });

  it("A7: any number of second answers is dropped and counted, and settles nothing", () => {
    const { peer, channel, ask } = open();
    const asked = Array.from({ length: 1_500 }, () => ask());
    for (const { id } of asked) for (let i = 0; i < 3; i += 1) peer.respond(id, { i });
    expect(asked.every(({ answers }) => answers.length === 1)).toBe(true);
    expect(channel.counts.repeated).toBe(3_000);
    expect(channel.end).toBeUndefined();
  });

  it("an id that has not been used yet is not ours", () => {
    const { peer, channel, ask } = open();
    const { id } = ask();
    for (const wrong of [id + 1, 0, -1, id - 0.5, 1e300]) peer.respond(wrong, {});
    expect(channel.counts).toMatchObject({ unmatched: 5, repeated: 0 });
    expect(ask().answers).toEqual([]);
  });

  it("PRO-20: errors with id null are counted and never fatal, not even in a flood", () => {
    const { peer, channel, ask } = open({ strict: true });
    const { id, answers } = ask();
    for (let i = 0; i < 500; i += 1) peer.fail(null, -32_700, "Parse error");
    peer.respond(id, {});
    expect(answers).toHaveLength(1);
    expect(channel.counts.anonymousErrors).toBe(500);
  });
});

describe("answers", () => {
  it.each([
    ["both result and error", { result: {}, error: { code: 1, message: "x" } }],
    ["another jsonrpc", { jsonrpc: "1.0", result: {} }],
    ["no jsonrpc", { jsonrpc: undefined, result: {} }],
    ["an error without a code", { error: { message: "x" } }],
    ["an error that is text", { error: "x" }],
    ["neither result nor error", {}],
  ])("an answer with %s fails its request at once", (_, members) => {
    const { peer, ask, channel } = open();
    const { id, answers } = ask();
    peer.send({ jsonrpc: "2.0", id, ...members });
    expect(errorOf(answers).code).toBe("protocol_violation");
    expect(channel.end).toBeUndefined();
  });

  it.each([null, "text", 7, [], true])("a result that is %j is an invalid result", (result) => {
    const { peer, ask } = open();
    const { id, answers } = ask();
    peer.respond(id, result);
    expect(errorOf(answers).code).toBe("invalid_result");
  });

  it("null beside the other member stands for absent", () => {
    const { peer, ask } = open();
    const [good, bad] = [ask(), ask()];
    peer.send({ jsonrpc: "2.0", id: good.id, result: { ok: 1 }, error: null });
    peer.send({ jsonrpc: "2.0", id: bad.id, result: null, error: { code: -1, message: "x" } });
    expect(good.answers).toEqual([{ ok: true, result: { ok: 1 } }]);
    expect(errorOf(bad.answers).code).toBe("rpc_error");
  });

  it("PRO-13: an error keeps code and data, and its text is made harmless and short", () => {
    const { peer, ask } = open();
    const { id, answers } = ask();
    const token = `ghp_${"a".repeat(36)}`;
    peer.fail(id, -32_602, `\u001B[31mbad\nline ${token} ${"x".repeat(1_000_000)}`, { field: "a" });
    const error = errorOf(answers);
    expect(error.code).toBe("rpc_error");
    expect(error.details["rpc"]).toMatchObject({ code: -32_602, data: { field: "a" } });
    expect(error.message).toContain("error -32602: bad line");
    const { message } = error.details["rpc"] as { message: string };
    for (const text of [error.message, message]) {
      expect(text.includes("\u001B")).toBe(false);
      expect(text.includes("ghp_")).toBe(false);
      expect(text.length).toBeLessThanOrEqual(2_000);
    }
    expect(error.message.length).toBeLessThan(500);
  });

  it("ERR-16: a failure of the transport comes through as it is", async () => {
    const { peer, ask } = open();
    const failure = createError("http_error", "HTTP 500");
    peer.transport.override = () => Promise.reject(failure);
    const { answers } = ask();
    await settled();
    expect(errorOf(answers)).toBe(failure);
  });

  it("a send that fails settles its request", async () => {
    const { peer, ask } = open();
    peer.transport.override = () => Promise.reject(new Error("broken pipe"));
    const { answers } = ask();
    await settled();
    expect(errorOf(answers)).toMatchObject({ code: "connection_lost" });
    expect((errorOf(answers).cause as Error).message).toBe("broken pipe");
  });

  it("a send that throws at once settles its request, too", () => {
    const { peer, ask } = open();
    peer.transport.send = () => {
      throw new Error("no pipe");
    };
    expect(errorOf(ask().answers)).toMatchObject({ code: "connection_lost" });
  });

  it("a transport that returns one promise for all its sends may still fail later", async () => {
    const { peer, ask } = open();
    const sent = Promise.resolve();
    peer.transport.send = () => sent;
    ask();
    await settled();
    expect(ask().answers).toEqual([]);
    peer.transport.send = () => Promise.reject(new Error("broken pipe"));
    const { answers } = ask();
    await settled();
    expect(errorOf(answers)).toMatchObject({ code: "connection_lost" });
  });

  it("MSG-11: a batch is read where the revision has batches, else its answers fail at once", () => {
    const { peer, channel, ask } = open();
    const [old, recent] = [ask(), ask()];
    channel.setProtocolVersion("2025-03-26");
    peer.send([{ jsonrpc: "2.0", id: old.id, result: { ok: 1 } }, "junk", []]);
    expect(old.answers).toEqual([{ ok: true, result: { ok: 1 } }]);
    channel.setProtocolVersion("2025-06-18");
    peer.send([{ jsonrpc: "2.0", id: recent.id, result: { ok: 1 } }]);
    expect(errorOf(recent.answers).code).toBe("protocol_violation");
  });

  it("PRO-24: __proto__ in an answer stays data", () => {
    const { peer, ask } = open();
    const { id, answers } = ask();
    peer.send(JSON.parse(`{"jsonrpc":"2.0","id":${id},"result":{"__proto__":{"polluted":1}}}`));
    expect(answers[0]?.ok).toBe(true);
    expect(({} as Record<string, unknown>)["polluted"]).toBeUndefined();
  });

  it.each([null, undefined, 7, "x", [], {}, { jsonrpc: "2.0" }, { jsonrpc: "2.0", method: 7 }])(
    "junk (%j) is dropped",
    (message) => {
      const { peer, channel, ask } = open({ strict: true });
      ask();
      peer.send(message);
      expect(channel.end).toBeUndefined();
    },
  );
});

describe("what nobody asked for", () => {
  it("PRO-19: a request of the server is never taken for an answer", () => {
    const { peer, ask } = open();
    const { id, answers } = ask();
    peer.send({ jsonrpc: "2.0", id, method: "ping", result: {} });
    expect(answers).toEqual([]);
    expect(peer.received.at(-1)).toEqual({ jsonrpc: "2.0", id, result: {} });
  });

  it("a modern server gets no answer to requests it must not send", () => {
    const { peer, channel } = open();
    channel.setProtocolVersion("2026-07-28");
    peer.send({ jsonrpc: "2.0", id: 1, method: "sampling/createMessage" });
    peer.send({ jsonrpc: "2.0", id: 2, method: "ping" });
    expect(peer.received).toEqual([]);
  });

  it.each<[string, unknown]>([
    ["answers to what was answered", { jsonrpc: "2.0", id: 1, result: {} }],
    ["answers that say nothing", {}],
    ["errors about nothing", { jsonrpc: "2.0", id: null, error: { code: 1, message: "" } }],
    ["requests that are none", { jsonrpc: "2.0", id: {}, method: "ping" }],
    ["a batch of nothing", [1, "", null]],
  ])("A14: what comes after a flood of %s is read more slowly", async (_, junk) => {
    const limits = { notificationBurst: 50, maxNotificationsPerSecond: 10 };
    const { peer, channel, ask, clock } = open({ limits });
    let slowed = 0;
    Object.assign(peer.transport, { slowDown: () => (slowed += 1) });
    peer.respond(ask().id, {});
    const { id, answers } = ask();
    const size = Array.isArray(junk) ? junk.length : 1;
    for (let count = 0; count < 48; count += size) peer.send(junk);
    expect(slowed).toBe(0);
    for (let count = 0; count < 48; count += size) peer.send(junk);
    expect(slowed).toBe(46);
    await clock.advance(1_000);
    for (let count = 0; count < 10; count += 1) peer.send({});
    expect(slowed).toBe(46);
    peer.respond(id, {});
    expect([answers.length, slowed, channel.end]).toEqual([1, 46, undefined]);
  });

  it("a flood of requests is answered only as fast as allowed", async () => {
    const limits = { notificationBurst: 50, maxNotificationsPerSecond: 10 };
    const { peer, channel, clock } = open({ limits });
    const flood = () => {
      for (let i = 0; i < 1_000; i += 1) peer.send({ jsonrpc: "2.0", id: i, method: "ping" });
    };
    flood();
    expect(peer.received).toHaveLength(50);
    await clock.advance(2_000);
    flood();
    expect(peer.received).toHaveLength(70);
    // However long it was silent before.
    await clock.advance(3_600_000);
    flood();
    expect(peer.received).toHaveLength(120);
    expect(channel.counts.overRate).toBe(2_880);
  });

  it("notifications reach the handler, and a handler that throws stops nothing", () => {
    const { peer, channel, ask } = open();
    const seen: ServerNotification[] = [];
    channel.serverMessages.onnotification = (notification) => {
      seen.push(notification);
      throw new Error("a bug of the host");
    };
    const { id, answers } = ask();
    peer.notify("notifications/tools/list_changed");
    peer.notify("vendor/thing", { a: 1 });
    peer.respond(id, {});
    expect(seen).toEqual([
      { method: "notifications/tools/list_changed" },
      { method: "vendor/thing", params: { a: 1 } },
    ]);
    expect(answers).toHaveLength(1);
  });

  it("PRO-09: 100 unhandled notifications are tolerated per wait, the 101st fails it", () => {
    const { peer, ask } = open();
    const early = ask();
    for (let i = 0; i < 50; i += 1) peer.notify("vendor/noise");
    const late = ask();
    for (let i = 0; i < 50; i += 1) peer.notify("vendor/noise");
    expect(early.answers).toEqual([]);
    peer.notify("vendor/noise");
    expect(errorOf(early.answers).code).toBe("protocol_violation");
    for (let i = 0; i < 49; i += 1) peer.notify("vendor/noise");
    expect(late.answers).toEqual([]);
    peer.notify("vendor/noise");
    expect(errorOf(late.answers).code).toBe("protocol_violation");
  });

  it.each([
    "notifications/message",
    "notifications/cancelled",
    "notifications/resources/updated",
    "notifications/tools/list_changed",
    "notifications/prompts/list_changed",
    "notifications/resources/list_changed",
  ])("PRO-09: %s is handled and never counts", (method) => {
    const { peer, ask } = open();
    const { answers } = ask();
    for (let i = 0; i < 500; i += 1) peer.notify(method, {});
    expect(answers).toEqual([]);
  });
});

describe("deadlines", () => {
  it("many requests share one timer, and each ends at its own time", async () => {
    const { ask, clock } = open();
    const asked = [3_000, 1_000, 2_000].map((timeoutMs) => ask("tools/call", { timeoutMs }));
    expect(clock.pending).toBe(1);
    await clock.advance(2_500);
    expect(asked.map(({ answers }) => answers.length)).toEqual([0, 1, 1]);
    await clock.advance(500);
    expect(asked.map(({ answers }) => errorOf(answers).code)).toEqual(
      Array.from({ length: 3 }, () => "timeout"),
    );
    expect(clock.pending).toBe(0);
  });

  it("a request of the handshake is given up without a word to the server", async () => {
    const { peer, ask, clock } = open();
    const { answers } = ask("initialize", { purpose: "handshake", timeoutMs: 1_000 });
    await clock.advance(1_000);
    expect(errorOf(answers).code).toBe("timeout");
    expect(peer.methods).toEqual(["initialize"]);
  });

  it("PRO-09: a subscription sits through any number of notifications", () => {
    const { peer, ask } = open();
    const listening = ask("subscriptions/listen", { purpose: "subscription", timeoutMs: 0 });
    const { answers } = ask();
    for (let i = 0; i < 101; i += 1) peer.notify("vendor/noise");
    expect(listening.answers).toEqual([]);
    expect(errorOf(answers).code).toBe("protocol_violation");
  });
});

describe("progress", () => {
  it("is asked for under the request's id and reported until the answer, not after", () => {
    const { peer, ask } = open();
    const reports: Progress[] = [];
    const { id } = ask("tools/call", { onProgress: (report) => reports.push(report) });
    expect(peer.received[0]?.params).toEqual({ _meta: { progressToken: id } });
    const report = (params: object) =>
      peer.notify("notifications/progress", { progressToken: id, ...params });
    report({ progress: 1, total: 3, message: "one" });
    report({ progress: 2, total: "many", message: 7 });
    peer.respond(id, {});
    report({ progress: 3 });
    expect(reports).toEqual([{ progress: 1, total: 3, message: "one" }, { progress: 2 }]);
  });

  it("PRO-09: progress for a token nobody waits for counts as unhandled", () => {
    const { peer, ask } = open();
    const { id } = ask("tools/call", { onProgress: () => undefined });
    const { answers } = ask();
    for (let i = 0; i < 300; i += 1)
      peer.notify("notifications/progress", { progressToken: id, progress: i });
    expect(answers).toEqual([]);
    for (let i = 0; i < 101; i += 1)
      peer.notify("notifications/progress", { progressToken: String(id), progress: i });
    expect(errorOf(answers).code).toBe("protocol_violation");
  });
});

describe("the end", () => {
  it("every open request settles with the transport's own reason, once", () => {
    const { peer, ask, ends } = open();
    const asked = [ask(), ask()];
    const failure = createError("connection_lost", "the process ended with code 1");
    peer.die(failure);
    peer.die();
    for (const { answers } of asked) expect(answers).toEqual([{ ok: false, error: failure }]);
    expect(ends).toEqual([failure]);
  });

  it("close settles requests at once, is idempotent, and later requests settle too", async () => {
    const { peer, channel, ask, ends } = open();
    const { answers } = ask();
    const closing = channel.close();
    expect(errorOf(answers).code).toBe("closed");
    expect(channel.close()).toBe(closing);
    await closing;
    expect(peer.transport.closeCount).toBe(1);
    expect(ends).toEqual([undefined]);
    expect(errorOf(ask().answers).code).toBe("closed");
    await expect(channel.notify("x")).rejects.toMatchObject({ code: "closed" });
  });

  it("a transport that never finishes closing does not hold up the caller for ever", async () => {
    const { peer, channel, clock } = open();
    peer.transport.close = () => new Promise(() => undefined);
    const closing = channel.close();
    await clock.advance(10_000);
    await closing;
    expect(clock.pending).toBe(0);
  });
});
