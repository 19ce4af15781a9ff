import { expect, it } from "vitest";

import { createHost, type Human } from "../../src/index.ts";
import { settled } from "../fixtures/protocol/manual-clock.ts";
import { legacyScripts, ScriptedPeer } from "../fixtures/protocol/scripted-peer.ts";
import { deferred } from "./deferred.ts";

it("PRO-19: a question is not withdrawn by the end of another call with the same id", async () => {
  const peer = new ScriptedPeer({
    ...legacyScripts,
    "tools/list": () => ({ tools: [{ name: "work", inputSchema: { type: "object" } }] }),
  });
  const asked = deferred<AbortSignal>();
  const answer = deferred();
  const human: Human = {
    elicit: async (_, { signal }) => {
      asked.resolve(signal);
      await answer.promise;
      return { action: "accept", content: {} };
    },
  };
  await using host = await createHost({ config: false, servers: { s: peer.transport } });
  const session = host.session({ level: "yolo", human });
  await host.connect("s");
  const call = session.call("mcp__s__work", {}, { callId: "same" });
  await settled();
  const params = { message: "?", requestedSchema: { type: "object", properties: {} } };
  peer.send({ jsonrpc: "2.0", id: "q", method: "elicitation/create", params });
  const signal = await asked.promise;
  await session.call("mcp__s__absent", {}, { callId: "same" });
  expect(signal.aborted).toBe(false);
  answer.resolve();
  await settled();
  expect(peer.received.at(-1)).toMatchObject({ id: "q", result: { action: "accept" } });
  peer.respond(peer.find("tools/call")?.id, { content: [] });
  expect(await call).toMatchObject({ ok: true });
});
