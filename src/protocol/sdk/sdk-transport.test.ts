import { describe, expect, it } from "vitest";

import { failureOf } from "../../../tests/fixtures/protocol/connect-scripted.ts";
import { settled } from "../../../tests/fixtures/protocol/manual-clock.ts";
import { protocolOptions } from "../../../tests/fixtures/protocol/protocol-options.ts";
import { ScriptedPeer } from "../../../tests/fixtures/protocol/scripted-peer.ts";
import type { JsonObject } from "../../text/json-object.ts";
import { RpcChannel } from "../channel/rpc-channel.ts";
import { aliasOf, SdkTransport } from "./sdk-transport.ts";

/** A transport whose SDK does what `ask` and `onmessage` say; by itself it drops whatever comes. */
function open() {
  const peer = new ScriptedPeer();
  const options = protocolOptions();
  const channel = new RpcChannel(peer.transport, options);
  channel.setProtocolVersion("2025-11-25");
  const wire = new SdkTransport(channel, { ...options, initializeResult: {}, isModern: false });
  const heard: unknown[] = [];
  wire.onmessage = (message) => heard.push(message);
  const exchange = (timeoutMs?: number, ask = () => askFor(wire)) =>
    wire.exchange({ method: "tools/call", params: {}, options: { timeoutMs } }, ask);
  return { peer, channel, wire, heard, exchange, clock: options.clock };
}

/** Sends a request as the SDK does, and never gets an answer out of it. */
function askFor(wire: SdkTransport): Promise<JsonObject> {
  void wire.send({ jsonrpc: "2.0", id: 70, method: aliasOf("tools/call"), params: {} });
  return new Promise(() => {});
}

describe("an SDK that makes nothing of", () => {
  const malformed = {
    code: "protocol_violation",
    message: "tools/call got a malformed answer: the SDK's client does not accept it",
    serverName: "scripted",
  };

  it("MSG-02: a result fails that call at once, and is told to forget it", async () => {
    const { peer, exchange, heard, clock } = open();
    const failure = failureOf(exchange());
    peer.respond(1, { content: [] });
    expect(await failure).toMatchObject(malformed);
    expect(heard).toEqual([
      { jsonrpc: "2.0", id: 70, result: { content: [] } },
      { jsonrpc: "2.0", id: 70, error: { code: -32_000, message: malformed.message } },
    ]);
    expect(clock.now()).toBe(0);
  });

  it("MSG-02: a result because it throws fails that call too, and no other", async () => {
    const { peer, exchange, wire } = open();
    wire.onmessage = () => {
      throw new RangeError("too deep");
    };
    const [one, other] = [failureOf(exchange()), failureOf(exchange(1_000))];
    peer.respond(1, { content: [] });
    expect(await one).toMatchObject(malformed);
    peer.fail(2, -32_602, "bad arguments");
    expect(await other).toMatchObject({ code: "rpc_error", details: { rpc: { code: -32_602 } } });
  });

  it("PRO-15, PRO-22: the end of a deadline does not keep the caller from it", async () => {
    const { exchange, clock, peer } = open();
    const failure = failureOf(exchange(1_000));
    await clock.advance(1_000);
    expect(await failure).toMatchObject({ code: "timeout", details: { timeoutMs: 1_000 } });
    expect(peer.methods).toEqual(["tools/call", "notifications/cancelled"]);
  });

  it("the end of the connection does not keep the caller from it", async () => {
    const { exchange, channel } = open();
    const failure = failureOf(exchange());
    await channel.close();
    expect(await failure).toMatchObject({ code: "closed" });
  });

  it("a request fails it as unsent", async () => {
    const { peer, exchange } = open();
    const failure = await failureOf(exchange(0, () => new Promise(() => {})));
    expect(failure).toMatchObject({
      code: "connection_lost",
      message: "tools/call could not be sent",
    });
    expect(peer.received).toEqual([]);
  });
});

it("what the SDK says about a request is what its caller gets, also when it throws it", async () => {
  const { exchange } = open();
  const said = new Error("no");
  const fail = () => Promise.reject(said);
  const raise = () => {
    throw said;
  };
  for (const ask of [fail, raise]) expect(await failureOf(exchange(0, ask))).toBe(said);
  await settled();
});
