import { Client } from "@modelcontextprotocol/client";
import { McpServer } from "@modelcontextprotocol/server";
import { describe, expect, it } from "vitest";
import * as z from "zod";

import { createMemoryTransportPair } from "./memory-transport.ts";

async function openPair() {
  const [host, server] = createMemoryTransportPair({ serverName: "native" });
  const atServer: unknown[] = [];
  const atHost: unknown[] = [];
  server.onmessage = (message) => atServer.push(message);
  host.onmessage = (message) => atHost.push(message);
  await Promise.all([host.start(), server.start()]);
  return { host, server, atHost, atServer };
}

const turn = (): Promise<void> => new Promise((resolve) => setImmediate(() => resolve()));

describe("createMemoryTransportPair", () => {
  it("TRN-06: the official client and server speak over it", async () => {
    const [host, serverEnd] = createMemoryTransportPair({ serverName: "native" });
    const server = new McpServer({ name: "echo", version: "1.0.0" });
    server.registerTool("echo", { inputSchema: z.object({ text: z.string() }) }, ({ text }) => ({
      content: [{ type: "text", text }],
    }));
    await server.connect(serverEnd);
    const client = new Client({ name: "test", version: "0" });
    await client.connect(host);
    const result = await client.callTool({ name: "echo", arguments: { text: "hi" } });
    expect(result.content).toEqual([{ type: "text", text: "hi" }]);
    await client.close();
  });

  it("TRN-06: neither side gets hold of the other's objects, nor of what is no JSON", async () => {
    const { host, atServer } = await openPair();
    const params = { list: [1], gone: undefined, run: () => 1 };
    await host.send({ jsonrpc: "2.0", method: "x", params });
    params.list.push(2);
    await turn();
    expect(atServer).toEqual([{ jsonrpc: "2.0", method: "x", params: { list: [1] } }]);
  });

  it("TRN-06: messages arrive later and in order", async () => {
    const { host, atServer } = await openPair();
    for (const method of ["a", "b", "c"]) void host.send({ jsonrpc: "2.0", method });
    expect(atServer).toEqual([]);
    await turn();
    expect(atServer).toMatchObject([{ method: "a" }, { method: "b" }, { method: "c" }]);
  });

  it("TRN-06: what was sent before the other end started is not lost", async () => {
    const [host, server] = createMemoryTransportPair({ serverName: "native" });
    await host.start();
    await host.send({ jsonrpc: "2.0", method: "early" });
    await turn();
    const received = new Promise((resolve) => (server.onmessage = resolve));
    await server.start();
    expect(await received).toMatchObject({ method: "early" });
  });

  it("TRN-06: two chatty ends leave room for timers", async () => {
    const { host, server } = await openPair();
    let count = 0;
    host.onmessage = (message) => {
      count += 1;
      void host.send(message).catch(() => undefined);
    };
    server.onmessage = (message) => void server.send(message).catch(() => undefined);
    await host.send({ jsonrpc: "2.0", method: "ping" });
    await new Promise((resolve) => setTimeout(resolve, 1));
    await host.close();
    const before = count;
    await turn();
    expect(count).toBe(before);
  });

  it("TRN-05, TRN-07: closing one end closes the other, after what was sent before", async () => {
    const { host, server, atHost } = await openPair();
    const closed: string[] = [];
    host.onclose = () => closed.push("host");
    server.onclose = () => closed.push("server");
    await server.send({ jsonrpc: "2.0", method: "bye" });
    await server.close();
    await server.close();
    await turn();
    await host.close();
    expect(atHost).toMatchObject([{ method: "bye" }]);
    expect(closed).toEqual(["server", "host"]);
    expect(host.failure).toMatchObject({ code: "connection_lost", serverName: "native" });
    await expect(host.send({ jsonrpc: "2.0", method: "x" })).rejects.toMatchObject({
      code: "connection_lost",
    });
  });

  it("TRN-07: after its own close an end has no failure, sends nothing and hears nothing", async () => {
    const { host, server, atHost } = await openPair();
    await server.send({ jsonrpc: "2.0", method: "late" });
    await host.close();
    await turn();
    expect(atHost).toEqual([]);
    expect(host.failure).toBeUndefined();
    await expect(host.send({ jsonrpc: "2.0", method: "x" })).rejects.toMatchObject({
      code: "closed",
    });
    await expect(host.start()).rejects.toMatchObject({ code: "closed" });
  });

  it("ERR-12: sending before start is refused", async () => {
    const [host] = createMemoryTransportPair({ serverName: "native" });
    await expect(host.send({ jsonrpc: "2.0", method: "x" })).rejects.toMatchObject({
      code: "not_connected",
    });
  });

  it("ERR-01: a message that cannot be written as JSON is refused with a typed error", async () => {
    const { host } = await openPair();
    const params = { big: 1n };
    await expect(host.send({ jsonrpc: "2.0", method: "x", params })).rejects.toMatchObject({
      code: "invalid_arguments",
    });
  });

  it("ERR-18: what a message handler throws is reported and disturbs nothing", async () => {
    const { host, server, atHost } = await openPair();
    const errors: Error[] = [];
    server.onerror = (error) => errors.push(error);
    server.onmessage = () => {
      throw new Error("handler");
    };
    await host.send({ jsonrpc: "2.0", method: "x" });
    await server.send({ jsonrpc: "2.0", method: "y" });
    await turn();
    expect(errors.map(({ message }) => message)).toEqual(["handler"]);
    expect(atHost).toHaveLength(1);
  });
});
