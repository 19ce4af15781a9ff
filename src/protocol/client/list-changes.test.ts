import { InMemoryServerEventBus } from "@modelcontextprotocol/server";
import { describe, expect, it } from "vitest";

import { startDualEraServer } from "../../../tests/fixtures/http/sdk-server.ts";
import { createWire } from "../../../tests/fixtures/http/wire.ts";
import { connectScripted } from "../../../tests/fixtures/protocol/connect-scripted.ts";
import { implementations } from "../../../tests/fixtures/protocol/implementations.ts";
import { protocolOptions } from "../../../tests/fixtures/protocol/protocol-options.ts";
import {
  legacyHello,
  modernHello,
  type Script,
  type ScriptedPeer,
} from "../../../tests/fixtures/protocol/scripted-peer.ts";
import { createError } from "../../errors/families.ts";
import { systemClock } from "../../ports/clock.ts";
import type { ListKind } from "../wire/list-kind.ts";

const reporting = { tools: { listChanged: true }, prompts: { listChanged: true }, resources: {} };
const subscriptionIdKey = "io.modelcontextprotocol/subscriptionId";

describe.each(implementations)("changes of lists over %s", (_, connect) => {
  async function listening(
    scripts: Record<string, Script> = {},
    era: "legacy" | "modern" = "legacy",
  ) {
    const connection = await connectScripted(
      connect,
      {
        ...(era === "legacy"
          ? { initialize: () => ({ ...legacyHello, capabilities: reporting }) }
          : { "server/discover": () => ({ ...modernHello, capabilities: reporting }) }),
        ...scripts,
      },
      { era },
    );
    const changes: (readonly [kind: ListKind, at: number])[] = [];
    const { client, clock } = connection;
    client.onlistchanged = (kind) => changes.push([kind, clock.monotonic()]);
    return { ...connection, changes };
  }
  const listens = (peer: ScriptedPeer) =>
    peer.received.filter(({ method }) => method === "subscriptions/listen");

  describe("how often they are told", () => {
    it("the first at once, the rest once a second, each list for itself", async () => {
      const { peer, clock, changes } = await listening();
      const say = (kind: ListKind) => peer.notify(`notifications/${kind}/list_changed`);
      say("tools");
      say("tools");
      say("prompts");
      expect(changes).toEqual([
        ["tools", 0],
        ["prompts", 0],
      ]);
      await clock.advance(5_000);
      expect(changes.slice(2)).toEqual([["tools", 1_000]]);
      say("tools");
      expect(changes.at(-1)).toEqual(["tools", 5_000]);
    });

    it("D3: a flood that never pauses is told once a second, no more and no less", async () => {
      const { peer, clock, changes } = await listening();
      for (let ms = 0; ms < 5_000; ms += 10) {
        for (let i = 0; i < 100; i += 1) peer.notify("notifications/tools/list_changed");
        await clock.advance(10);
      }
      expect(changes.map(([, at]) => at)).toEqual([0, 1_000, 2_000, 3_000, 4_000, 5_000]);
    });

    it("a change is seen even when other notifications come too fast", async () => {
      const { peer, changes } = await listening();
      for (let i = 0; i < 5_000; i += 1) peer.notify("notifications/message", {});
      peer.notify("notifications/tools/list_changed");
      expect(changes).toEqual([["tools", 0]]);
    });

    it("a handler that throws is told the next time all the same", async () => {
      const { peer, client, clock } = await listening();
      let count = 0;
      client.onlistchanged = () => {
        count += 1;
        throw new Error("a bug of the host");
      };
      for (let i = 0; i < 2; i += 1) peer.notify("notifications/tools/list_changed");
      await clock.advance(1_000);
      expect(count).toBe(2);
    });

    it("nothing is told after the end", async () => {
      const { peer, client, clock, changes } = await listening();
      for (let i = 0; i < 2; i += 1) peer.notify("notifications/tools/list_changed");
      await client.close();
      await clock.advance(5_000);
      expect(changes).toHaveLength(1);
      expect(clock.pending).toBe(0);
    });
  });

  describe("the subscription of the modern era", () => {
    it("is one request for what the server declares, once someone listens", async () => {
      const { peer, client, changes } = await listening({}, "modern");
      client.onlistchanged = (kind) => changes.push([kind, 0]);
      expect(listens(peer)).toHaveLength(1);
      const [{ id, params } = {}] = listens(peer);
      expect(params).toMatchObject({
        notifications: { toolsListChanged: true, promptsListChanged: true },
        _meta: { "io.modelcontextprotocol/protocolVersion": "2026-07-28" },
      });
      expect(Object.keys(params?.["notifications"] as object)).toHaveLength(2);
      const _meta = { [subscriptionIdKey]: id };
      peer.notify("notifications/subscriptions/acknowledged", { _meta, notifications: {} });
      peer.notify("notifications/tools/list_changed", { _meta });
      expect(changes).toEqual([["tools", 0]]);
    });

    it("is not opened in the legacy era, without a handler, or for a server that reports nothing", async () => {
      const legacy = await listening();
      const silent = await connectScripted(
        connect,
        { "server/discover": () => ({ ...modernHello, capabilities: reporting }) },
        { era: "modern" },
      );
      const plain = await connectScripted(connect, {}, { era: "modern" });
      plain.client.onlistchanged = () => undefined;
      for (const { peer } of [legacy, silent, plain])
        expect(peer.methods).not.toContain("subscriptions/listen");
    });

    it("never times out, costs no other call its budget, and is none in flight", async () => {
      const { peer, client, clock } = await listening(
        { "tools/call": () => ({ resultType: "complete", content: [] }) },
        "modern",
      );
      await clock.advance(10_000_000);
      expect(listens(peer)).toHaveLength(1);
      expect(peer.methods).not.toContain("notifications/cancelled");
      await client.callTool("a", {});
    });

    it.each<readonly [string, (peer: ScriptedPeer, id: unknown) => void]>([
      ["ends it", (peer, id) => peer.respond(id, { resultType: "complete" })],
      ["cancels it", (peer, id) => peer.notify("notifications/cancelled", { requestId: id })],
      ["has no room", (peer, id) => peer.fail(id, -32_000, "too many subscriptions")],
    ])(
      "comes back when the server %s, later each time, and then says what may have changed",
      async (...[, end]) => {
        const { peer, clock, changes } = await listening({}, "modern");
        const openedAt = [0];
        for (let round = 1; round <= 8; round += 1) {
          end(peer, listens(peer).at(-1)?.id);
          expect(changes).toHaveLength(2 * (round - 1));
          while (listens(peer).length === round) await clock.advance(1_000);
          openedAt.push(clock.monotonic());
          expect(changes.slice(-2).map(([kind]) => kind)).toEqual(["tools", "prompts"]);
        }
        const waits = openedAt.slice(1).map((at, index) => (at - (openedAt[index] ?? 0)) / 1_000);
        expect(waits).toEqual([2, 4, 8, 16, 32, 60, 60, 60]);
        // One that lasted is worth another try soon.
        await clock.advance(20_000);
        end(peer, listens(peer).at(-1)?.id);
        await clock.advance(1_000);
        expect(listens(peer)).toHaveLength(10);
      },
    );

    it("does not come back to a server that has no such thing, nor after the end", async () => {
      const { peer, clock } = await listening(
        { "subscriptions/listen": ({ id }, peer) => peer.fail(id, -32_601) },
        "modern",
      );
      await clock.advance(10_000_000);
      expect(listens(peer)).toHaveLength(1);
      const other = await listening({}, "modern");
      other.peer.respond(listens(other.peer).at(-1)?.id, { resultType: "complete" });
      await other.client.close();
      expect(other.clock.pending).toBe(0);
      await other.clock.advance(10_000_000);
      expect(listens(other.peer)).toHaveLength(1);
    });

    it.each([
      ["comes back after", createError("connection_lost", "the stream ended"), 2],
      ["comes back after", createError("http_error", "down", { details: { status: 503 } }), 2],
      ["is not for", createError("http_error", "no", { details: { status: 404 } }), 1],
      ["is not for", createError("auth_required", "sign in first"), 1],
    ])("%s a transport that says: %s", async (_, failure, count) => {
      const { peer, clock } = await listening(
        {
          "subscriptions/listen": (_message, peer) => {
            if (listens(peer).length === 1) throw failure;
          },
        },
        "modern",
      );
      await clock.advance(1_000_000);
      expect(listens(peer)).toHaveLength(count);
    });

    it("its loss ends neither calls nor the connection", async () => {
      const { peer, client, closes } = await listening(
        { "tools/call": () => ({ resultType: "complete", content: [] }) },
        "modern",
      );
      const lost = createError("connection_lost", "the stream ended");
      peer.fail(listens(peer).at(-1)?.id, -32_000, lost.message);
      await expect(client.callTool("a", {})).resolves.toMatchObject({ isError: false });
      expect(closes).toEqual([]);
    });
  });

  it("a real modern server over HTTP is heard, and hung up on at the end", async () => {
    const bus = new InMemoryServerEventBus();
    await using server = await startDualEraServer({ bus });
    const { transport } = createWire(server.url);
    const client = await connect(transport, { ...protocolOptions(), clock: systemClock });
    expect(client.era).toBe("modern");
    const changed = new Promise<ListKind>((resolve) => {
      client.onlistchanged = resolve;
    });
    await server.until(() => bus.listenerCount === 1);
    bus.publish({ kind: "tools_list_changed" });
    expect(await changed).toBe("tools");
    const { content } = await client.callTool("echo", { text: "still here" });
    expect(content).toEqual([{ type: "text", text: "still here" }]);
    await client.close();
    await server.until(() => server.sockets.size === 0);
  });
});
