import { Client } from "@modelcontextprotocol/client";
import { describe, expect, it } from "vitest";

import { createMemoryServer, createRecordedServer, createTestServer } from "./index.ts";

const info = { name: "judge", version: "1.0.0" };

describe("a server in memory", () => {
  it("TST-08: hands the client copies, so that changing a result does not change the server", async () => {
    const tools = [{ name: "plain" }];
    const server = createMemoryServer(createRecordedServer({ tools }), { era: "legacy" });
    const answered = new Promise<{ result: { tools: typeof tools } }>((resolve) => {
      server.transport.onmessage = (message) => resolve(message as never);
    });
    await server.transport.start();
    const params = { cursor: undefined };
    await server.transport.send({ jsonrpc: "2.0", id: 1, method: "tools/list", params });
    const { result } = await answered;
    expect(result.tools).toEqual([{ name: "plain" }]);
    result.tools[0]!.name = "changed";
    expect(tools).toEqual([{ name: "plain" }]);
    await server.close();
  });

  it("a factory that fails ends the connection and tells who closes it", async () => {
    const failure = new Error("no server today");
    const server = createMemoryServer(() => Promise.reject(failure), { era: "legacy" });
    const ended = new Promise<void>((resolve) => (server.transport.onclose = resolve));
    await server.transport.start();
    await ended;
    await expect(server.close()).rejects.toBe(failure);
  });

  it("ends the client's transport when the server is closed, and may be closed twice", async () => {
    const server = createMemoryServer(createTestServer());
    const client = new Client(info);
    await client.connect(server.transport);
    const closed = new Promise<void>((resolve) => (client.onclose = resolve));
    await server.close();
    await closed;
    await server.close();
  });

  it.each([
    ["legacy", "2025-11-25"],
    ["modern", "2026-07-28"],
    ["both", "2026-07-28"],
  ] as const)("B-P1: a client that asks what it speaks finds a %s server", async (era, version) => {
    const server = createMemoryServer(createTestServer(), { era });
    const client = new Client(info, { versionNegotiation: { mode: "auto" } });
    await client.connect(server.transport);
    expect(client.getNegotiatedProtocolVersion()).toBe(version);
    await client.close();
  });

  it("B-P1: a client that knows 2025 only is refused by a modern server", async () => {
    const server = createMemoryServer(createTestServer(), { era: "modern" });
    const client = new Client(info, { versionNegotiation: { mode: "legacy" } });
    await expect(client.connect(server.transport)).rejects.toMatchObject({ code: -32_022 });
    await server.close();
  });
});
