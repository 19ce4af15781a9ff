import { gzipSync } from "node:zlib";

import { describe, expect, it, vi } from "vitest";

import { ScriptedServer } from "../../../tests/fixtures/http/scripted-server.ts";
import { ImpatientClock } from "../../../tests/fixtures/http/wire.ts";
import { TestProxy } from "../../../tests/fixtures/network/test-proxy.ts";
import { TrapServer } from "../../../tests/fixtures/network/trap-server.ts";
import { systemClock } from "../../ports/clock.ts";
import { type GuardedFetchOptions, guardedFetch } from "./guarded-fetch.ts";
import { configuredUrlPolicy, serverUrlPolicy } from "./network-policy.ts";

const remote = serverUrlPolicy(
  new URL("https://example.com"),
  configuredUrlPolicy("https://example.com", false),
);

function fetchFrom(url: string, changes: Partial<GuardedFetchOptions> = {}) {
  return guardedFetch(new URL(url), {
    method: "GET",
    policy: configuredUrlPolicy(url, false),
    hostEnv: {},
    maxBytes: 1_000,
    idleTimeoutMs: 10_000,
    totalTimeoutMs: 10_000,
    clock: systemClock,
    serverName: "api",
    ...changes,
  });
}

describe("guardedFetch", () => {
  it("HTP-06: gives status, headers and text of a document", async () => {
    await using server = await ScriptedServer.start((_request, response) => {
      response.writeHead(404, { "x-own": "1" }).end("nö");
    });
    const document = await fetchFrom(`${server.origin}/a?b=c`, {
      headers: { accept: "text/plain" },
    });
    expect(document).toMatchObject({ status: 404, headers: { "x-own": "1" }, text: "nö" });
    expect(server.requests).toMatchObject([
      { method: "GET", target: "/a?b=c", headers: { accept: "text/plain" } },
    ]);
    await server.until(() => server.sockets.size === 0);
  });

  it("HTP-06: what the policy forbids is not asked", async () => {
    await using trap = await TrapServer.start();
    for (const url of [`http://localhost:${trap.port}/`, `http://2130706433:${trap.port}/`])
      await expect(fetchFrom(url, { policy: remote })).rejects.toMatchObject({
        code: "blocked_address",
        serverName: "api",
      });
    const resolve = () => Promise.resolve(["127.0.0.1"]);
    await expect(
      fetchFrom(`http://x.example:${trap.port}/`, { policy: remote, resolve }),
    ).rejects.toMatchObject({ code: "blocked_address" });
    expect(trap.hits).toBe(0);
  });

  it.each(["file:///etc/passwd", "ftp://example.com/", "https://me:s3cret@example.com/"])(
    "HTP-05: %s is no address to fetch from",
    async (url) => {
      await expect(fetchFrom(url)).rejects.toMatchObject({ code: "blocked_address" });
    },
  );

  it("HTP-07: a GET follows redirects within its server, three at most", async () => {
    await using server = await ScriptedServer.start(({ target }, response) => {
      const left = Number(target.slice(1));
      if (left === 0) response.end("here");
      else response.writeHead(307, { location: `/${left - 1}` }).end();
    });
    await expect(fetchFrom(`${server.origin}/3`)).resolves.toMatchObject({
      text: "here",
      url: new URL(`${server.origin}/0`),
    });
    await expect(fetchFrom(`${server.origin}/4`)).rejects.toMatchObject({
      code: "http_error",
      message: `${new URL(server.origin).host} redirects more than 3 times`,
    });
  });

  it("HTP-07 AUT-15: nothing goes to where another server, or any POST, is redirected", async () => {
    await using trap = await TrapServer.start();
    await using server = await ScriptedServer.start((_request, response) => {
      response.writeHead(307, { location: `http://127.0.0.1:${trap.port}/` }).end();
    });
    const headers = { authorization: "Bearer s3cret" };
    await expect(fetchFrom(server.origin, { headers })).rejects.toMatchObject({
      code: "http_error",
    });
    await expect(
      fetchFrom(server.origin, { headers, method: "POST", body: "{}" }),
    ).resolves.toMatchObject({ status: 307 });
    expect([server.requests.length, trap.hits]).toEqual([2, 0]);
  });

  it("SHT-10: a body over the limit is cut off, whether or not it is compressed", async () => {
    await using server = await ScriptedServer.start(({ target }, response) => {
      if (target === "/plain") return response.end("x".repeat(1_001));
      const isBomb = target === "/bomb";
      response.setHeader("content-encoding", "gzip");
      response.end(gzipSync("x".repeat(isBomb ? 500_000 : 1_000)));
    });
    await expect(fetchFrom(`${server.origin}/fits`)).resolves.toMatchObject({
      text: "x".repeat(1_000),
    });
    for (const path of ["/plain", "/bomb"])
      await expect(fetchFrom(server.origin + path)).rejects.toMatchObject({
        code: "too_large",
        details: { maxBytes: 1_000 },
      });
  });

  it.each(["gzip", "constructor"])("ERR-02: a body that is no %s is an error", async (encoding) => {
    await using server = await ScriptedServer.start((_request, response) => {
      response.setHeader("content-encoding", encoding).end("plain");
    });
    await expect(fetchFrom(server.origin)).rejects.toMatchObject({ code: "http_error" });
  });

  it("ERR-13: the whole has a deadline", async () => {
    await using server = await ScriptedServer.start((_request, response) => {
      response.write("and then …");
    });
    await expect(fetchFrom(server.origin, { clock: new ImpatientClock() })).rejects.toMatchObject({
      code: "timeout",
      message: `${new URL(server.origin).host} did not answer in time`,
    });
  });

  it("ERR-13: silence has a deadline of its own", async () => {
    await using server = await ScriptedServer.start(() => {});
    // The same limit holds for the connection: time passes once that is there.
    vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
    try {
      const silent = expect(fetchFrom(server.origin, { idleTimeoutMs: 20 })).rejects.toMatchObject({
        code: "timeout",
        message: `${new URL(server.origin).host} stopped answering`,
      });
      await server.until(() => server.requests.length === 1);
      vi.advanceTimersByTime(20);
      await silent;
    } finally {
      vi.useRealTimers();
    }
  });

  it("ERR-02: it can be cancelled, before and during", async () => {
    await using server = await ScriptedServer.start(() => {});
    const controller = new AbortController();
    const { signal } = controller;
    const fetching = expect(fetchFrom(server.origin, { signal })).rejects.toMatchObject({
      code: "cancelled",
    });
    await server.until(() => server.requests.length === 1);
    controller.abort();
    await fetching;
    await expect(fetchFrom(server.origin, { signal })).rejects.toMatchObject({ code: "cancelled" });
    await server.until(() => server.sockets.size === 0);
  });

  it("ERR-02 ERR-15: an unreachable server is told from one that broke off", async () => {
    await using server = await ScriptedServer.start((_request, response) => response.destroy());
    const { host } = new URL(server.origin);
    await expect(fetchFrom(server.origin, { method: "POST", body: "{}" })).rejects.toMatchObject({
      code: "connection_lost",
      message: `${host} broke the connection before its answer was complete`,
    });
    const resolve = () => Promise.reject(Object.assign(new Error("no"), { code: "ENOTFOUND" }));
    await expect(fetchFrom("http://void.example/", { resolve })).rejects.toMatchObject({
      code: "unreachable",
      message: "void.example cannot be reached (ENOTFOUND)",
    });
  });

  it("HTP-06: goes through the proxy of the environment", async () => {
    await using trap = await TrapServer.start();
    await using proxy = await TestProxy.start(trap.port);
    const hostEnv = { http_proxy: proxy.host };
    const url = "http://api.example/doc?x=1";
    await expect(fetchFrom(url, { hostEnv })).resolves.toMatchObject({ text: "caught" });
    expect(proxy.requests).toMatchObject([{ target: url, host: "api.example" }]);
  });
});
