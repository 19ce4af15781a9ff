import { Client, SSEClientTransport } from "@modelcontextprotocol/client";
import { describe, expect, it } from "vitest";

import { type ServeSseOptions, createTestServer, serveSse } from "../index.ts";

async function serve(options?: ServeSseOptions) {
  const server = await serveSse(createTestServer(), options);
  return {
    ...server,
    origin: new URL(server.url).origin,
    [Symbol.asyncDispose]: () => server.close(),
  };
}

function post(url: string, body: string): Promise<Response> {
  return fetch(url, { method: "POST", headers: { "content-type": "application/json" }, body });
}

/** Opens a stream and gives its texts one by one. */
async function openStream(url: string) {
  const response = await fetch(url);
  const reader = response.body?.pipeThrough(new TextDecoderStream()).getReader();
  return async () => (await reader?.read())?.value ?? "";
}

const ping = JSON.stringify({ jsonrpc: "2.0", id: 1, method: "ping" });
const pong = { jsonrpc: "2.0", id: 1, result: {} };

describe("a server over SSE", () => {
  it("TST-02: is found at /sse on a loopback port, and nothing else is", async () => {
    await using server = await serve();
    expect(server.url).toBe(`http://127.0.0.1:${server.port}/sse`);
    expect((await fetch(`${server.origin}/other`)).status).toBe(404);
    expect((await post(`${server.origin}/message`, ping)).status).toBe(404);
  });

  it("SSE-05: the official client lists its tools", async () => {
    await using server = await serve();
    const client = new Client({ name: "test", version: "0" });
    await client.connect(new SSEClientTransport(new URL(server.url)));
    const { tools } = await client.listTools();
    expect(tools.map(({ name }) => name)).toEqual(["echo", "get_time", "add"]);
    await client.close();
  });

  it("C-13: it announces an address of its own for each stream", async () => {
    await using server = await serve();
    const read = await openStream(server.url);
    const [, target] = /^event: endpoint\ndata: (.+)\n\n$/.exec(await read()) ?? [];
    expect((await post(server.origin + target, ping)).status).toBe(202);
    expect(JSON.parse((await read()).replace(/^data: /, ""))).toEqual(pong);
    expect((await post(server.origin + target, "{")).status).toBe(400);
    await server.dropStreams();
    expect(await read()).toBe("");
    expect((await post(server.origin + target, ping)).status).toBe(404);
  });

  it("C-13, SSE-05: it can keep the address to itself and answer in the body", async () => {
    await using server = await serve({ announce: false, answers: "body" });
    const read = await openStream(server.url);
    expect(await read()).toBe(": open\n\n");
    expect(await (await post(`${server.origin}/message`, ping)).json()).toEqual(pong);
  });
});
