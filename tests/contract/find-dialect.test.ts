import { describe, expect, it } from "vitest";

import { createHost } from "../../src/index.ts";
import { createTestServer, serveRest, serveSse } from "../../src/testing/index.ts";
import { recordRequests } from "../fixtures/http/recording-proxy.ts";
import { ScriptedServer } from "../fixtures/http/scripted-server.ts";

describe("an address of which only http is known", () => {
  it("C-06: finds a REST service, says so, and remembers it for the next connection", async () => {
    const server = await serveRest(createTestServer());
    await using proxy = await recordRequests(server.url);
    const url = `${proxy.origin}/?key=1`;
    await using host = await createHost({ config: false, servers: { api: { url } } });
    expect(host.server("api").transport).toBe("http");
    expect(await host.connect("api")).toMatchObject({ state: "connected", transport: "rest" });
    const probes = proxy.requests.map(({ method, target }) => `${method} ${target}`);
    expect(probes).toEqual(expect.arrayContaining(["POST /?key=1", "GET /?key=1"]));
    proxy.requests.length = 0;
    await host.reconnect("api");
    const [first] = proxy.requests;
    expect(first).toMatchObject({ method: "GET", target: "/health?key=1" });
    expect(proxy.requests.filter(({ method }) => method === "POST")).toEqual([]);
    await server.close();
  });

  it("C-06: finds a server that speaks SSE", async () => {
    const server = await serveSse(createTestServer());
    await using host = await createHost({
      config: false,
      servers: { events: { url: server.url } },
    });
    expect(await host.connect("events")).toMatchObject({ state: "connected", transport: "sse" });
    await server.close();
  });

  it("C-06: lists what each probe was answered with when nothing fits", async () => {
    await using server = await ScriptedServer.start((_, response) =>
      response.writeHead(404, { "content-type": "text/html" }).end("<title>No such page</title>"),
    );
    await using host = await createHost({ config: false, servers: { web: { url: server.url } } });
    await expect(host.connect("web")).rejects.toMatchObject({
      code: "http_error",
      message: expect.stringMatching(
        /no known kind of MCP:\n {2}streamable-http: .*HTTP 404: No such page\n {2}sse: .*HTTP 404.*\n {2}rest: .*404/,
      ) as string,
      details: {
        probes: [{ transport: "streamable-http" }, { transport: "sse" }, { transport: "rest" }],
      },
    });
  });

  it("a server that wants a sign-in is not asked in other dialects", async () => {
    await using server = await ScriptedServer.start((_, response) => response.writeHead(401).end());
    await using host = await createHost({ config: false, servers: { web: { url: server.url } } });
    await expect(host.connect("web")).rejects.toMatchObject({ code: "auth_required" });
    // Whether it says how to sign in is looked up elsewhere.
    const messages = server.requests.filter(({ target }) => !target.startsWith("/.well-known/"));
    expect(messages.every(({ method }) => method === "POST")).toBe(true);
    expect(host.server("web").state).toBe("needs_auth");
  });
});
