import { describe, expect, it } from "vitest";

import { connectClient, openWire } from "../../src/entries/client.ts";
import {
  createDemoServer,
  createMemoryServer,
  createTestServer,
  demoServerEntry,
  serveHttp,
  testServerEntry,
} from "../../src/testing/index.ts";

type Era = "legacy" | "modern";

async function overStdio(era: Era) {
  return await Promise.resolve({
    entry: { name: "test", ...testServerEntry({ era }) },
    [Symbol.asyncDispose]: () => Promise.resolve(),
  });
}

async function overHttp(era: Era) {
  const server = await serveHttp(createTestServer(), { era });
  return {
    entry: { name: "test", url: server.url, transport: "streamable-http" as const },
    [Symbol.asyncDispose]: () => server.close(),
  };
}

const places = [
  ["stdio", "legacy", overStdio],
  ["stdio", "modern", overStdio],
  ["HTTP", "legacy", overHttp],
  ["HTTP", "modern", overHttp],
] as const;

describe.each(places)("a server over %s, %s era", (_, era, start) => {
  it("PRO-01 PRO-02 PRO-12 RES-07 TST-03 TST-04: connectClient lists in order and calls", async () => {
    await using server = await start(era);
    await using client = await connectClient(server.entry);
    expect(client.tools).toEqual([]);
    expect((await client.listTools()).map(({ name }) => name)).toEqual(["echo", "get_time", "add"]);
    expect(client.tools).toHaveLength(3);
    const echo = await client.callTool("echo", { message: "Hello!" });
    expect(echo.toText()).toBe("Hello!");
    const sum = await client.callTool("add", { a: 2, b: 3 });
    expect(sum).toMatchObject({ isError: false, content: [{ type: "text", text: "5" }] });
    expect(sum.toText()).toBe("5");
    await client.ping();
  });

  it("PRO-04 PRO-06 PRO-07: says who answers, and that it is gone after closing", async () => {
    await using server = await start(era);
    const client = await connectClient(server.entry);
    expect(client.serverInfo).toMatchObject({
      name: expect.any(String) as string,
      capabilities: { tools: {} },
    });
    expect(client).toMatchObject({ isInitialized: true, isConnected: true });
    await client.close();
    await client.close();
    expect(client).toMatchObject({ isInitialized: false, isConnected: false });
    await expect(client.callTool("echo", { message: "x" })).rejects.toMatchObject({
      code: "closed",
    });
  });

  it("PRO-13: an error of the server is thrown with its code", async () => {
    await using server = await start(era);
    await using client = await connectClient(server.entry);
    await expect(client.callTool("nope")).rejects.toMatchObject({
      name: "McpToolError",
      code: "rpc_error",
      rpcError: { code: -32602 },
    });
  });

  it("TRN-01 TRN-03 TRN-05: openWire exchanges messages", async () => {
    await using server = await start(era);
    await using wire = openWire(server.entry);
    expect(wire).toMatchObject({ serverName: "test", connected: false });
    await wire.connect();
    await wire.connect();
    expect(wire.connected).toBe(true);
    const listed = await wire.sendRequest("tools/list");
    expect(listed.isResponse).toBe(true);
    expect((listed.result as { tools: unknown[] }).tools).toHaveLength(3);
    const refused = await wire.sendRequest("tools/call", { name: "nope", arguments: {} });
    expect(refused.error).toMatchObject({ code: -32602 });
    await wire.disconnect();
    await wire.disconnect();
    expect(wire.connected).toBe(false);
  });
});

describe("connectClient", () => {
  it("PRO-25: the limits given hold for every kind of list", async () => {
    const server = { name: "demo", ...demoServerEntry({ pageSize: 1 }) };
    await using client = await connectClient(server, { limits: { maxPages: 1 } });
    expect(await client.listTools()).toHaveLength(1);
    expect(await client.listResources()).toHaveLength(1);
    expect(await client.listPrompts()).toHaveLength(1);
  });
});

describe("openWire", () => {
  it("STD-11 ERR-12 TRN-05: a request before connect is a state error", async () => {
    const wire = openWire({ name: "test", ...testServerEntry() });
    await expect(wire.sendRequest("tools/list")).rejects.toMatchObject({
      name: "McpStateError",
      code: "not_connected",
    });
  });

  it("TRN-05: one that is being connected is disconnected at once, and says so", async () => {
    const args = ["-e", "process.stdin.on('end', () => process.exit()).resume()"];
    const wire = openWire({ name: "silent", command: process.execPath, args }, { timeoutMs: 0 });
    const connecting = wire.connect();
    await wire.disconnect();
    await expect(connecting).rejects.toMatchObject({ code: "closed", serverName: "silent" });
    expect(wire.connected).toBe(false);
  });

  it("a caller's own signal still ends its connect", async () => {
    const signal = AbortSignal.abort();
    await using wire = openWire({ name: "test", ...testServerEntry() }, { signal });
    await expect(wire.connect()).rejects.toMatchObject({ code: "cancelled" });
  });

  it("STD-12 ERR-13: no answer in time is a timeout", async () => {
    await using wire = openWire(
      { name: "demo", ...demoServerEntry() },
      { limits: { callTimeoutMs: 50 } },
    );
    await wire.connect();
    const call = { name: "slow", arguments: { steps: 1, delayMs: 60_000 } };
    await expect(wire.sendRequest("tools/call", call)).rejects.toMatchObject({
      name: "McpTimeoutError",
      code: "timeout",
    });
  });

  it("SSE-06: an HTTP status from 400 on comes back as an error message", async () => {
    const server = await serveHttp(createTestServer());
    await using wire = openWire({ name: "gone", url: server.url, transport: "streamable-http" });
    await wire.connect();
    const { port } = server;
    await server.close();
    const { createServer } = await import("node:http");
    const refusing = createServer((_, response) => response.writeHead(503).end("busy"));
    await new Promise<void>((resolve) => {
      refusing.listen(port, "127.0.0.1", resolve);
    });
    const answer = await wire.sendRequest("tools/list");
    expect(answer.error).toMatchObject({ code: 503, data: { httpStatus: 503 } });
    await new Promise((resolve) => {
      refusing.closeAllConnections();
      refusing.close(resolve);
    });
  });
});

describe("connectClient", () => {
  it("takes a ready transport, reads resources and prompts", async () => {
    const server = createMemoryServer(createDemoServer());
    await using client = await connectClient(server.transport);
    const [resource] = await client.listResources();
    expect(resource).toHaveProperty("uri");
    const read = await client.readResource(String(resource?.["uri"]));
    expect(read["contents"]).toHaveLength(1);
    const prompts = await client.listPrompts();
    expect(prompts.length).toBeGreaterThan(0);
    await expect(client.getPrompt("no-such-prompt")).rejects.toMatchObject({ code: "rpc_error" });
  });

  it("STD-08: a failed start leaves no process and says why", async () => {
    const entry = {
      command: process.execPath,
      args: ["-e", "console.error('no config'); process.exit(3)"],
    };
    await expect(connectClient({ name: "broken", ...entry })).rejects.toMatchObject({
      code: "start_exit",
      serverName: "broken",
      details: { exitCode: 3, stderrTail: ["no config"] },
    });
  });
});
