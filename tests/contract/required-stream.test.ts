import { describe, expect, it } from "vitest";

import { connectClient } from "../../src/entries/client.ts";
import { createHost } from "../../src/index.ts";
import { createTestServer, serveHttp, serveRest, serveSse } from "../../src/testing/index.ts";
import { recordRequests } from "../fixtures/http/recording-proxy.ts";
import { ScriptedServer } from "../fixtures/http/scripted-server.ts";
import { startEverythingOverHttp } from "../fixtures/servers/real-servers.ts";

type Served = { readonly url: string; readonly close: () => Promise<void> };

async function everything(): Promise<Served> {
  const { url, ...server } = await startEverythingOverHttp();
  return { url, close: async () => await server[Symbol.asyncDispose]() };
}

/** Behind a proxy that keeps what was asked, in the order in which it was asked. */
async function proxied(server: Served) {
  const proxy = await recordRequests(server.url);
  return {
    url: `${proxy.origin}${new URL(server.url).pathname}`,
    get gets() {
      return proxy.requests.filter(({ method }) => method === "GET");
    },
    async [Symbol.asyncDispose]() {
      await proxy[Symbol.asyncDispose]();
      await server.close();
    },
  };
}

describe.each(["streamable-http", "http"] as const)('"method": "GET" over %s', (transport) => {
  it.each([
    [
      "the SDK's server with sessions",
      () => serveHttp(createTestServer(), { era: "legacy", sessions: true }),
    ],
    [
      "the SDK's server of both eras with sessions",
      () => serveHttp(createTestServer(), { sessions: true }),
    ],
    ["server-everything", everything],
  ])("C-39 SHT-03: %s has its stream open before the first call", async (_, start) => {
    await using server = await proxied(await start());
    const entry = { name: "api", url: server.url, transport, method: "GET" } as const;
    await using client = await connectClient(entry);
    const [get] = server.gets;
    expect(get?.headers).toMatchObject({
      accept: "text/event-stream",
      "mcp-session-id": expect.any(String) as string,
    });
    expect((await client.callTool("echo", { message: "Hello!" })).toText()).toContain("Hello!");
    expect(server.gets).toHaveLength(1);
  });

  it("C-39: the SDK's server without sessions has no stream: the error names the key", async () => {
    await using server = await proxied(await serveHttp(createTestServer(), { era: "legacy" }));
    await using host = await createHost({
      config: false,
      servers: { api: { url: server.url, transport, method: "GET" } },
    });
    await expect(host.connect("api")).rejects.toMatchObject({
      name: "McpConfigError",
      code: "config_invalid",
      serverName: "api",
      message: expect.stringMatching(
        /^"method" is GET, and the server has no stream of its own: .*HTTP 405/,
      ) as string,
      hint: expect.stringContaining('leave out "method"') as string,
      details: { status: 405 },
    });
    expect(host.server("api").state).toBe("error");
    expect(server.gets).toHaveLength(1);
  });

  it("C-39: the SDK's server of the modern era has no stream: the error names the key", async () => {
    await using server = await proxied(await serveHttp(createTestServer(), { era: "modern" }));
    const entry = { name: "api", url: server.url, transport, method: "GET" } as const;
    await expect(connectClient(entry)).rejects.toMatchObject({
      name: "McpConfigError",
      code: "config_invalid",
      serverName: "api",
      message: expect.stringMatching(
        /^"method" is GET, and the server has no stream of its own: .*2026-07-28/,
      ) as string,
      hint: expect.stringContaining('leave out "method"') as string,
      details: { protocolVersion: "2026-07-28" },
    });
    expect(server.gets).toEqual([]);
  });
});

describe('"method": "GET"', () => {
  it("C-39: a server that never opens the stream is named as such, within the time for connecting", async () => {
    const sdk = await serveHttp(createTestServer(), { era: "legacy" });
    await using server = await ScriptedServer.start(async (request, response) => {
      if (request.method === "GET") return;
      const answer = await fetch(sdk.url, {
        method: "POST",
        headers: {
          "content-type": "application/json",
          accept: "application/json, text/event-stream",
        },
        body: request.body,
      });
      response.writeHead(answer.status, Object.fromEntries(answer.headers));
      response.end(await answer.text());
    });
    const entry = {
      name: "api",
      url: server.url,
      method: "GET",
      transport: "streamable-http",
    } as const;
    await expect(connectClient(entry, { timeoutMs: 2_000 })).rejects.toMatchObject({
      code: "start_timeout",
      hint: expect.stringContaining('leave out "method"') as string,
    });
    await sdk.close();
  });

  it("C-39: an SSE server has the stream by its nature", async () => {
    const server = await serveSse(createTestServer());
    const entry = { name: "api", url: server.url, method: "GET" } as const;
    for (const transport of ["sse", "http"] as const) {
      await using client = await connectClient({ ...entry, transport });
      expect(await client.listTools()).toHaveLength(3);
    }
    await server.close();
  });

  it("C-39: a REST service that is found out has none", async () => {
    const server = await serveRest(createTestServer());
    await expect(
      connectClient({ name: "api", url: server.url, transport: "http", method: "GET" }),
    ).rejects.toMatchObject({
      code: "http_error",
      details: { probes: [{ transport: "streamable-http" }, { transport: "sse" }] },
      hint: expect.stringContaining('"method": "GET"') as string,
    });
    await server.close();
  });
});
