import { describe, expect, it } from "vitest";

import { connectClient, openWire } from "../../src/entries/client.ts";
import { type ServeSseOptions, createTestServer, serveSse } from "../../src/testing/index.ts";
import { type RecordedRequest, answerTo, sendJson } from "../fixtures/http/scripted-server.ts";
import { announcement, startSseServer } from "../fixtures/http/sse-wire.ts";

async function startServer(options?: ServeSseOptions) {
  const server = await serveSse(createTestServer(), options);
  return {
    ...server,
    entry: { name: "test", url: server.url, transport: "sse" as const },
    [Symbol.asyncDispose]: () => server.close(),
  };
}

const results: Readonly<Record<string, object>> = {
  initialize: {
    protocolVersion: "2024-11-05",
    capabilities: { tools: {} },
    serverInfo: { name: "scripted", version: "1" },
  },
  "tools/list": { tools: [] },
};

/** The answer of a server without tools; it calls every other method unknown. */
function answerOf(request: RecordedRequest): string {
  const { id, method = "" } = request.message;
  if (Object.hasOwn(results, method)) return answerTo(request, results[method]);
  const error = { code: -32_601, message: "Method not found" };
  return JSON.stringify({ jsonrpc: "2.0", id, error });
}

describe.each<ServeSseOptions>([
  { announce: true, answers: "stream" },
  { announce: true, answers: "body" },
  { announce: false, answers: "stream" },
  { announce: false, answers: "body" },
])("a server over SSE, %j", (options) => {
  it("SSE-01 SSE-03 SSE-05 C-13: connects, lists and calls", async () => {
    await using server = await startServer(options);
    const messageEndpoint = options.announce === true ? "auto" : "derive";
    await using client = await connectClient({ ...server.entry, messageEndpoint });
    expect((await client.listTools()).map(({ name }) => name)).toEqual(["echo", "get_time", "add"]);
    const calls = [1, 2, 3].map((b) => client.callTool("add", { a: 1, b }));
    const sums = (await Promise.all(calls)).map((result) => result.toText());
    expect(sums).toEqual(["2", "3", "4"]);
    await client.ping();
  });
});

describe("a connection over SSE", () => {
  it("SSE-15 F3: ends with its stream, what is in flight fails, and the server can be connected again", async () => {
    const called: (() => void)[] = [];
    await using server = await startSseServer(announcement, (request, response, streams) => {
      response.writeHead(202).end();
      if (request.message.method === "tools/call") called.forEach((notify) => notify());
      else if (request.message.id !== undefined) streams.write(`data: ${answerOf(request)}\n\n`);
    });
    const entry = { name: "test", url: server.sseUrl, transport: "sse" as const };
    await using client = await connectClient(entry);
    const isCalled = new Promise<void>((resolve) => called.push(resolve));
    const call = client.callTool("wait");
    await isCalled;
    server.streams.end();
    await expect(call).rejects.toMatchObject({ code: "connection_lost", serverName: "test" });
    expect(client.isConnected).toBe(false);
    expect(server.posts("tools/call")).toHaveLength(1);
    await using again = await connectClient(entry);
    await again.listTools();
  });

  it("SSE-05: an answer given in both places counts once", async () => {
    await using server = await startSseServer(announcement, (request, response, streams) => {
      if (request.message.id === undefined) return response.writeHead(202).end();
      streams.write(`data: ${answerOf(request)}\n\n`);
      return sendJson(response, answerOf(request));
    });
    await using client = await connectClient({
      name: "test",
      url: server.sseUrl,
      transport: "sse",
    });
    for (let count = 0; count < 3; count += 1) expect(await client.listTools()).toEqual([]);
    expect(client.isConnected).toBe(true);
  });

  it("SSE-08: a call that is accepted and never answered ends in a timeout", async () => {
    await using server = await startSseServer(announcement, (request, response, streams) => {
      response.writeHead(202).end();
      if (request.message.id === undefined || request.message.method === "tools/call") return;
      streams.write(`data: ${answerOf(request)}\n\n`);
    });
    await using client = await connectClient({
      name: "test",
      url: server.sseUrl,
      transport: "sse",
    });
    const call = client.callTool("wait", {}, { timeoutMs: 50 });
    await expect(call).rejects.toMatchObject({ name: "McpTimeoutError", code: "timeout" });
    await server.until(() => server.posts("notifications/cancelled").length === 1);
    expect(client.isConnected).toBe(true);
  });

  it("SSE-06 TRN-03: a status of 400 or more is an error message with the status as its code", async () => {
    await using server = await startSseServer(announcement, (request, response, streams) => {
      if (request.message.method === "tools/list")
        return response.writeHead(503).end("out of order");
      response.writeHead(202).end();
      if (request.message.id !== undefined) streams.write(`data: ${answerOf(request)}\n\n`);
    });
    await using wire = openWire({ name: "test", url: server.sseUrl, transport: "sse" });
    await wire.connect();
    expect((await wire.sendRequest("tools/list")).error).toMatchObject({
      code: 503,
      message: expect.stringContaining("out of order") as string,
      data: { httpStatus: 503 },
    });
    expect(wire.connected).toBe(true);
  });

  it("SSE-07 SSE-09 TRN-05: is not there before connecting and after disconnecting", async () => {
    await using server = await startServer();
    const wire = openWire(server.entry);
    await expect(wire.sendRequest("ping")).rejects.toMatchObject({ code: "not_connected" });
    await wire.connect();
    expect(wire.connected).toBe(true);
    await wire.disconnect();
    expect(wire.connected).toBe(false);
    await expect(wire.sendRequest("ping")).rejects.toMatchObject({ code: "not_connected" });
  });

  it("SSE-11: a refused handshake is an error, and nothing stays open", async () => {
    await using server = await startSseServer(announcement, (_request, response) =>
      sendJson(response, '{"error":"no"}', 400),
    );
    const entry = { name: "test", url: server.sseUrl, transport: "sse" } as const;
    await expect(connectClient(entry)).rejects.toMatchObject({
      code: "http_error",
      serverName: "test",
      details: { status: 400 },
    });
    await server.until(() => server.sockets.size === 0);
  });

  it("AUT-02 AUT-11 SSE-02: the token and the headers of the entry go with every request", async () => {
    await using server = await startSseServer(announcement, (request, response) =>
      request.message.id === undefined
        ? response.writeHead(202).end()
        : sendJson(response, answerOf(request)),
    );
    await using client = await connectClient({
      name: "test",
      url: server.sseUrl,
      transport: "sse",
      headers: { "X-Tenant": "t1" },
      auth: { type: "bearer", token: "Bearer abc" },
    });
    await client.listTools();
    expect(server.requests.length).toBeGreaterThan(3);
    for (const { headers } of server.requests)
      expect(headers).toMatchObject({ authorization: "Bearer abc", "x-tenant": "t1" });
  });
});
