import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import { afterEach, describe, expect, it } from "vitest";

import { type ServeHttpOptions, createTestServer, serveHttp } from "../index.ts";

const open: { close(): Promise<void> }[] = [];

afterEach(async () => {
  for (const closable of open.splice(0).toReversed()) await closable.close();
});

async function serve(options?: ServeHttpOptions) {
  const server = await serveHttp(createTestServer(), options);
  open.push(server);
  return server;
}

function post(url: string, body: unknown, headers: Record<string, string> = {}): Promise<Response> {
  return fetch(url, {
    method: "POST",
    headers: {
      "content-type": "application/json",
      accept: "application/json, text/event-stream",
      ...headers,
    },
    body: typeof body === "string" ? body : JSON.stringify(body),
  });
}

const initialize = {
  jsonrpc: "2.0",
  id: 1,
  method: "initialize",
  params: {
    protocolVersion: "2025-11-25",
    capabilities: {},
    clientInfo: { name: "raw", version: "1" },
  },
};

const modernHeaders = { "mcp-protocol-version": "2026-07-28", "mcp-method": "server/discover" };
const discover = {
  jsonrpc: "2.0",
  id: 1,
  method: "server/discover",
  params: {
    _meta: {
      "io.modelcontextprotocol/protocolVersion": "2026-07-28",
      "io.modelcontextprotocol/clientInfo": { name: "raw", version: "1" },
      "io.modelcontextprotocol/clientCapabilities": {},
    },
  },
};

describe("a server over HTTP", () => {
  it("TST-02: is found at /mcp on a loopback port, and nothing else is", async () => {
    const { url, port } = await serve();
    expect(url).toBe(`http://127.0.0.1:${port}/mcp`);
    expect((await post(url, initialize)).status).toBe(200);
    expect((await post(url.replace("/mcp", "/"), initialize)).status).toBe(404);
  });

  it.each([{}, { sessions: true }, { era: "modern" }, { era: "legacy" }] as const)(
    "TST-08: a body that is no JSON is answered with -32700 by %j",
    async (options) => {
      const { url } = await serve(options);
      const answer = await post(url, "{");
      expect(answer.status).toBe(400);
      expect(await answer.json()).toMatchObject({ error: { code: -32_700 } });
    },
  );

  it("TST-08: notifications are answered with 202 and no body", async () => {
    const { url } = await serve();
    const answer = await post(url, { jsonrpc: "2.0", method: "notifications/initialized" });
    expect(answer.status).toBe(202);
    expect(await answer.text()).toBe("");
  });

  it.each([
    ["legacy", "2025-11-25"],
    ["modern", "2026-07-28"],
    ["both", "2026-07-28"],
  ] as const)("B-P1: a client that asks what it speaks finds a %s server", async (era, version) => {
    const { url } = await serve({ era });
    const client = new Client(
      { name: "judge", version: "1.0.0" },
      { versionNegotiation: { mode: "auto" } },
    );
    open.push(client);
    await client.connect(new StreamableHTTPClientTransport(new URL(url)));
    expect(client.getNegotiatedProtocolVersion()).toBe(version);
  });

  it("B-P1: a legacy-only server refuses the probe as 2025 servers do", async () => {
    const { url } = await serve({ era: "legacy" });
    // The version in the header is checked before the method is looked at.
    expect((await post(url, discover, modernHeaders)).status).toBe(400);
    const bare = await post(url, discover);
    expect(await bare.text()).toContain('"code":-32601');
  });

  it("B-P1: a modern-only server refuses initialize", async () => {
    const { url } = await serve({ era: "modern" });
    const answer = await post(url, initialize);
    expect(answer.status).toBe(400);
    expect(await answer.json()).toMatchObject({ id: 1, error: { code: -32_022 } });
  });

  it("without sessions a 2025 request needs none", async () => {
    const { url } = await serve();
    const opened = await post(url, initialize);
    expect(opened.headers.get("mcp-session-id")).toBeNull();
    const list = await post(url, { jsonrpc: "2.0", id: 2, method: "tools/list" });
    expect(await list.text()).toContain('"echo"');
  });

  it("with sessions a 2025 client gets one, needs it, and can end it", async () => {
    const { url } = await serve({ sessions: true });
    const list = { jsonrpc: "2.0", id: 2, method: "tools/list" };
    const opened = await post(url, initialize);
    const session = { "mcp-session-id": opened.headers.get("mcp-session-id") ?? "none" };
    await opened.text();

    expect(await (await post(url, list, session)).text()).toContain('"echo"');
    expect((await post(url, list)).status).toBe(400);
    expect((await fetch(url, { method: "DELETE", headers: session })).status).toBe(200);
    expect((await post(url, list, session)).status).toBe(404);
  });

  it("closing ends a 2025 client's push stream and may be done twice", async () => {
    const server = await serve({ sessions: true });
    const opened = await post(server.url, initialize);
    const session = { "mcp-session-id": opened.headers.get("mcp-session-id") ?? "none" };
    await opened.text();
    const stream = await fetch(server.url, {
      headers: { ...session, accept: "text/event-stream" },
    });
    expect(stream.status).toBe(200);
    const ended = stream.text();
    await server.close();
    expect(await ended).toBe("");
    await server.close();
    await expect(post(server.url, initialize)).rejects.toThrow();
  });

  it("H1: refuses other hosts and origins like every listener", async () => {
    const { url } = await serve();
    expect((await post(url, initialize, { origin: "https://evil.test" })).status).toBe(403);
  });
});
