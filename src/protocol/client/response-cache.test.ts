import { describe, expect, it } from "vitest";

import {
  connectScripted,
  failureOf,
  type ScriptedOptions,
} from "../../../tests/fixtures/protocol/connect-scripted.ts";
import { implementations } from "../../../tests/fixtures/protocol/implementations.ts";
import { settled } from "../../../tests/fixtures/protocol/manual-clock.ts";
import {
  modernHello,
  type Script,
  type ScriptedPeer,
} from "../../../tests/fixtures/protocol/scripted-peer.ts";
import type { JsonObject } from "../../text/json-object.ts";
import type { InputHandlers } from "../wire/input-handlers.ts";

const hour = 3_600_000;

describe.each(implementations)("kept results, over %s", (_, connect) => {
  /** A server whose answers are numbered, so that a kept one can be told from a new one. */
  async function connected(members: JsonObject = {}, options: ScriptedOptions = {}) {
    let count = 0;
    const numbered: Script = ({ params }) => {
      count += 1;
      return {
        resultType: "complete",
        ttlMs: 10_000,
        cacheScope: "private",
        tools: [{ name: `tool-${count}` }],
        contents: [{ uri: params?.["uri"], text: `version ${count}` }],
        ...members,
      };
    };
    const capabilities = { tools: {}, resources: {}, prompts: {} };
    const connection = await connectScripted(
      connect,
      {
        "server/discover": () => ({ ...modernHello, capabilities }),
        "tools/list": numbered,
        "resources/read": numbered,
        "prompts/list": numbered,
        "prompts/get": numbered,
      },
      { era: "modern", ...options },
    );
    const { client } = connection;
    const listed = async (options?: { fresh?: boolean }) =>
      (await client.listTools(options)).tools.map(({ name }) => name).join();
    const read = async (uri: string) =>
      ((await client.request("resources/read", { uri }))["contents"] as [{ text: string }])[0].text;
    return { ...connection, listed, read };
  }
  const requests = (peer: ScriptedPeer) =>
    peer.methods.filter((method) => method !== "server/discover").length;

  it("a result is used again until it is stale", async () => {
    const { listed, peer, clock } = await connected();
    expect(await listed()).toBe("tool-1");
    await clock.advance(9_999);
    expect(await listed()).toBe("tool-1");
    expect(requests(peer)).toBe(1);
    await clock.advance(1);
    expect(await listed()).toBe("tool-2");
  });

  it("whoever wants a fresh one gets it, and the next one gets that", async () => {
    const { listed } = await connected();
    expect(await listed()).toBe("tool-1");
    expect(await listed({ fresh: true })).toBe("tool-2");
    expect(await listed()).toBe("tool-2");
  });

  it("E5: no result is kept for more than an hour, whatever the server says", async () => {
    for (const ttlMs of [1e15, Number.MAX_VALUE, 2 * hour]) {
      const { listed, clock } = await connected({ ttlMs });
      await listed();
      await clock.advance(hour - 1);
      expect(await listed()).toBe("tool-1");
      await clock.advance(1);
      expect(await listed()).toBe("tool-2");
    }
  });

  it.each([
    ["no time", { ttlMs: 0 }],
    ["a negative time", { ttlMs: -1 }],
    ["a time that is text", { ttlMs: "10000" }],
    ["no time at all", { ttlMs: undefined }],
    ["an unknown scope", { cacheScope: "everyone" }],
    ["no scope", { cacheScope: undefined }],
    ["a further page", { nextCursor: "2" }],
  ])("E5: a result with %s is not kept", async (_, members) => {
    const { client, peer } = await connected(members);
    for (let i = 0; i < 2; i += 1) await client.request("prompts/list");
    expect(requests(peer)).toBe(2);
  });

  it("only what the protocol allows to keep is kept, and nothing in the legacy era", async () => {
    const modern = await connected();
    for (let i = 0; i < 2; i += 1) {
      await modern.client.request("prompts/get", { name: "a" });
      await modern.client.ping();
    }
    expect(requests(modern.peer)).toBe(2);
    expect(modern.peer.methods.filter((method) => method === "server/discover")).toHaveLength(3);
    const list: Script = () => ({ tools: [], ttlMs: 10_000, cacheScope: "public" });
    const legacy = await connectScripted(connect, { "tools/list": list });
    for (let i = 0; i < 2; i += 1) await legacy.client.listTools();
    expect(legacy.peer.methods.filter((method) => method === "tools/list")).toHaveLength(2);
  });

  it("results of different requests are different results", async () => {
    const { read, client } = await connected();
    expect(await read("a:1")).toBe("version 1");
    expect(await read("a:2")).toBe("version 2");
    expect(await read("a:1")).toBe("version 1");
    for (const number of [3, 4]) {
      const page = await client.request("tools/list", { cursor: "x" });
      expect(page["tools"]).toEqual([{ name: `tool-${number}` }]);
    }
  });

  it("a change drops what it is about, also while the answer is on its way", async () => {
    const { listed, read, peer } = await connected();
    await listed();
    await read("a:1");
    await read("a:2");
    peer.notify("notifications/tools/list_changed");
    peer.notify("notifications/resources/updated", { uri: "a:2" });
    expect(await read("a:1")).toBe("version 2");
    expect(await read("a:2")).toBe("version 4");
    expect(await listed()).toBe("tool-5");
    peer.notify("notifications/resources/list_changed");
    expect(await read("a:1")).toBe("version 6");

    delete peer.scripts["tools/list"];
    const asking = listed({ fresh: true });
    await settled();
    peer.notify("notifications/tools/list_changed");
    const answer = { resultType: "complete", ttlMs: 10_000, cacheScope: "public", tools: [] };
    peer.respond(peer.received.at(-1)?.id, answer);
    await asking;
    const again = listed();
    await settled();
    peer.respond(peer.received.at(-1)?.id, { ...answer, tools: [{ name: "new" }] });
    expect(await again).toBe("new");
  });

  it("what one caller does to a result does not reach the next", async () => {
    const { client } = await connected();
    const first = (await client.request("tools/list")) as { tools: unknown[] };
    const second = (await client.request("tools/list")) as { tools: unknown[] };
    second.tools.push("mine");
    first.tools.push("mine, too");
    expect(await client.request("tools/list")).toMatchObject({ tools: [{ name: "tool-1" }] });
  });

  it("E5: what depends on someone's answer is not kept", async () => {
    const handlers: InputHandlers = {
      "roots/list": { capability: {}, answer: async () => ({ roots: [] }) },
    };
    const { client, peer, read } = await connected({}, { inputHandlers: handlers });
    const numbered = peer.scripts["resources/read"] as Script;
    peer.scripts["resources/read"] = (message, to) =>
      message.params?.["inputResponses"] === undefined
        ? { resultType: "input_required", inputRequests: { a: { method: "roots/list" } } }
        : numbered(message, to);
    expect(await read("a:1")).toBe("version 1");
    expect(await read("a:1")).toBe("version 2");
    expect(client.era).toBe("modern");
  });

  it("neither an aborted call nor a closed connection is answered from memory", async () => {
    const { client, listed } = await connected();
    await listed();
    const aborted = failureOf(client.listTools({ signal: AbortSignal.abort() }));
    expect((await aborted).code).toBe("cancelled");
    await client.close();
    expect((await failureOf(client.request("tools/list"))).code).toBe("closed");
  });

  it("memory is bounded: huge results are not kept, and old ones make room", async () => {
    const { read, peer } = await connected({ padding: "x".repeat(1_024 * 1_024) });
    for (let i = 0; i < 2; i += 1) await read("huge");
    expect(requests(peer)).toBe(2);
    const many = await connected();
    for (let i = 0; i <= 256; i += 1) await many.read(`a:${i}`);
    expect(await many.read("a:256")).toBe("version 257");
    expect(await many.read("a:0")).toBe("version 258");
  });
});
