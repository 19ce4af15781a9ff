import { describe, expect, it } from "vitest";

import { connectScripted, failureOf } from "../../../tests/fixtures/protocol/connect-scripted.ts";
import { settled } from "../../../tests/fixtures/protocol/manual-clock.ts";
import { protocolOptions } from "../../../tests/fixtures/protocol/protocol-options.ts";
import { modernScripts, ScriptedPeer } from "../../../tests/fixtures/protocol/scripted-peer.ts";
import { connectWithCore } from "../client/core-client.ts";

const done = { resultType: "complete", content: [] };

describe("a request's own stream", () => {
  it("PRO-22: ends with its request and with no other, and not when that was answered", async () => {
    const peer = new ScriptedPeer(modernScripts);
    peer.transport.hasPerRequestStream = true;
    const client = await connectWithCore(peer.transport, protocolOptions());
    const abort = new AbortController();
    const cancelled = failureOf(client.callTool("slow", {}, { signal: abort.signal }));
    const other = client.callTool("slow", {});
    await settled();
    const [held, free] = peer.sendOptions.slice(-2).map((options) => options?.stream);
    const ended: string[] = [];
    if (held !== undefined) held.listener = { onAbort: () => void ended.push("held") };
    if (free !== undefined) free.listener = { onAbort: () => void ended.push("free") };
    abort.abort();
    await cancelled;
    expect([held?.isAborted, free?.isAborted]).toEqual([true, false]);
    peer.respond(peer.received.findLast(({ method }) => method === "tools/call")?.id, done);
    await other;
    await client.close();
    expect(free?.isAborted).toBe(false);
    held?.abort();
    expect(ended).toEqual(["held"]);
  });

  it("does not exist on a pipe", async () => {
    const { client, peer } = await connectScripted(connectWithCore, { "tools/call": () => done });
    await client.callTool("a", {});
    expect(peer.sendOptions.at(-1)).toBeUndefined();
  });
});
