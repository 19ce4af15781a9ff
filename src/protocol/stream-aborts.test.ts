import { describe, expect, it } from "vitest";

import { connectScripted, failureOf } from "../../tests/fixtures/protocol/connect-scripted.ts";
import { settled } from "../../tests/fixtures/protocol/manual-clock.ts";
import { protocolOptions } from "../../tests/fixtures/protocol/protocol-options.ts";
import { modernScripts, ScriptedPeer } from "../../tests/fixtures/protocol/scripted-peer.ts";
import { connectWithCore } from "./core-client.ts";

const done = { resultType: "complete", content: [] };

describe("the signal of a request's own stream", () => {
  async function connected(releasesSignals: boolean) {
    const peer = new ScriptedPeer({ ...modernScripts, "tools/call": () => done });
    Object.assign(peer.transport, { hasPerRequestStream: true, releasesSignals });
    const client = await connectWithCore(peer.transport, protocolOptions());
    const lastSignal = () => peer.sendOptions.at(-1)?.requestSignal;
    return { peer, client, lastSignal };
  }

  it("serves again after an answer, never after an abort, never twice at once", async () => {
    const { peer, client, lastSignal } = await connected(true);
    await client.callTool("a", {});
    const first = lastSignal();
    await client.callTool("a", {});
    expect(lastSignal()).toBe(first);

    delete peer.scripts["tools/call"];
    const abort = new AbortController();
    const cancelled = failureOf(client.callTool("slow", {}, { signal: abort.signal }));
    const other = client.callTool("slow", {});
    await settled();
    const [held, free] = peer.sendOptions.slice(-2).map((options) => options?.requestSignal);
    expect(held).toBe(first);
    expect(free).not.toBe(first);
    abort.abort();
    await cancelled;
    expect([held?.aborted, free?.aborted]).toEqual([true, false]);
    peer.respond(peer.received.findLast(({ method }) => method === "tools/call")?.id, done);
    await other;
    peer.scripts["tools/call"] = () => done;
    await client.callTool("a", {});
    expect(lastSignal()).toBe(free);
    await client.close();
  });

  it("is new for each request where the transport may hold on to it", async () => {
    const { client, lastSignal } = await connected(false);
    await client.callTool("a", {});
    const first = lastSignal();
    await client.callTool("a", {});
    expect(lastSignal()).not.toBe(first);
    await client.close();
  });

  it("does not exist on a pipe", async () => {
    const { client, peer } = await connectScripted(connectWithCore, { "tools/call": () => done });
    await client.callTool("a", {});
    expect(peer.sendOptions.at(-1)?.requestSignal).toBeUndefined();
  });
});
