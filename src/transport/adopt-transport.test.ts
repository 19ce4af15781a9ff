import { describe, expect, it } from "vitest";

import { failureOf } from "../../tests/fixtures/protocol/connect-scripted.ts";
import { settled } from "../../tests/fixtures/protocol/manual-clock.ts";
import { protocolOptions } from "../../tests/fixtures/protocol/protocol-options.ts";
import { modernScripts, ScriptedPeer } from "../../tests/fixtures/protocol/scripted-peer.ts";
import { createError } from "../errors/families.ts";
import { connectWithCore } from "../protocol/client/core-client.ts";
import { adoptTransport } from "./adopt-transport.ts";

describe("a request's own stream", () => {
  it("is a signal for a transport that was made elsewhere", async () => {
    const peer = new ScriptedPeer(modernScripts);
    peer.transport.hasPerRequestStream = true;
    const client = await connectWithCore(adoptTransport(peer.transport, "s"), protocolOptions());
    const abort = new AbortController();
    const cancelled = failureOf(client.callTool("slow", {}, { signal: abort.signal }));
    await settled();
    const options = peer.sendOptions.at(-1);
    expect(options?.stream).toBeUndefined();
    expect(options?.requestSignal?.aborted).toBe(false);
    abort.abort();
    await cancelled;
    expect(options?.requestSignal?.aborted).toBe(true);
    await client.close();
  });
});

describe("a transport made elsewhere", () => {
  it("is listened to once the client listens, and passes on a message alone", () => {
    const { transport } = new ScriptedPeer();
    const adopted = adoptTransport(transport, "s");
    expect(transport.onmessage).toBeUndefined();
    const given: unknown[][] = [];
    adopted.onmessage = (...args) => void given.push(args);
    const message = { jsonrpc: "2.0", method: "x" } as const;
    transport.onmessage?.(message, { authInfo: {} });
    expect(given).toEqual([[message]]);
  });

  it("has ended for a reason of its own only if that is an McpError", () => {
    const peer = new ScriptedPeer();
    const adopted = adoptTransport(peer.transport, "s");
    const failure = createError("timeout", "slow");
    peer.die(failure);
    expect(adopted.failure).toBe(failure);
    Object.assign(peer.transport, { failure: "gone" });
    expect(adopted.failure).toBeUndefined();
  });
});
