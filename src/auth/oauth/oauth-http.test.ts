import { afterEach, describe, expect, it } from "vitest";

import { type Respond, ScriptedServer } from "../../../tests/fixtures/http/scripted-server.ts";
import { settingsFor, toolsWith } from "../../../tests/fixtures/oauth/opened-sign-in.ts";
import type { Limits } from "../../config/keys/limits.ts";
import { OAuthHttp } from "./oauth-http.ts";

const servers: ScriptedServer[] = [];

afterEach(async () => {
  for (const server of servers.splice(0)) await server[Symbol.asyncDispose]();
});

async function start(respond: Respond): Promise<ScriptedServer> {
  const server = await ScriptedServer.start(respond);
  servers.push(server);
  return server;
}

function httpFor(url: string, limits: Partial<Limits> = {}): OAuthHttp {
  const tools = toolsWith();
  return new OAuthHttp(settingsFor(url), { ...tools, limits: { ...tools.limits, ...limits } });
}

const form = { "content-type": "application/x-www-form-urlencoded" };

describe("requests of a sign-in", () => {
  it.each(["http://login.example.com/token", "http://192.168.1.1/token", "http://[fe80::1]/token"])(
    "AUT-16 G3: never go unencrypted beyond this machine: %s",
    async (address) => {
      const http = httpFor("https://api.example.com/mcp");
      await expect(http.fetch(address)).rejects.toMatchObject({
        code: "auth_failed",
        message: expect.stringContaining("not encrypted") as string,
      });
    },
  );

  it.each(["https://169.254.169.254/", "https://127.0.0.1:1/", "https://10.0.0.1/"])(
    "G1: of a public server never reach %s",
    async (address) => {
      const http = httpFor("https://api.example.com/mcp");
      await expect(http.fetch(address)).rejects.toMatchObject({ code: "blocked_address" });
    },
  );

  it("AUT-14: take an answer to a POST in the form in which it was asked", async () => {
    const server = await start((_request, response) =>
      response
        .writeHead(200, form)
        .end("access_token=a%2Bb&expires_in=60&scope=x+y&token_type=bearer"),
    );
    const http = httpFor(server.origin);
    const response = await http.fetch(`${server.origin}/token`, {
      method: "POST",
      body: "{}",
    });
    expect(await response.json()).toEqual({
      access_token: "a+b",
      expires_in: 60,
      scope: "x y",
      token_type: "bearer",
    });
    // A document that is only read is what it is.
    expect(await (await http.fetch(server.origin)).text()).toContain("access_token=");
  });

  it.each([
    ["expires_in=60", 60],
    ["expires_in=1e9", "1e9"],
    ["expires_in=-1", "-1"],
    ["expires_in=1e9&expires_in=60", 60],
  ])("take nothing but digits for a lifetime, of several the last: %s", async (sent, told) => {
    const server = await start((_request, response) =>
      response.writeHead(200, form).end(`${sent}&__proto__=x`),
    );
    const response = await httpFor(server.origin).fetch(server.origin, { method: "POST" });
    const fields = (await response.json()) as object;
    expect(fields).toHaveProperty("expires_in", told);
    expect(Object.getPrototypeOf(fields)).toBe(Object.prototype);
  });

  it("G2: take no more than is allowed", async () => {
    const server = await start((_request, response) => response.end("x".repeat(2_000)));
    const http = httpFor(server.origin, { oauthDocumentBytes: 1_000 });
    await expect(http.fetch(server.origin)).rejects.toMatchObject({
      code: "auth_endpoint_unreachable",
      retryable: false,
      details: { reason: "too_large" },
    });
  });

  it("G2: wait no longer than is allowed", async () => {
    const server = await start(() => undefined);
    const http = httpFor(server.origin, { oauthTimeoutMs: 50 });
    await expect(http.fetch(server.origin)).rejects.toMatchObject({
      code: "auth_endpoint_unreachable",
      details: { reason: "timeout" },
    });
  });

  it("G1: follow no redirect to somebody else", async () => {
    const trap = await start((_request, response) => response.end("{}"));
    const server = await start((_request, response) =>
      response.writeHead(307, { location: trap.origin }).end(),
    );
    const http = httpFor(server.origin);
    const { status } = await http.fetch(server.origin, { method: "POST", body: "{}" });
    expect(status).toBe(307);
    await expect(http.fetch(server.origin)).rejects.toMatchObject({
      code: "auth_endpoint_unreachable",
    });
    expect(server.requests).toHaveLength(2);
    expect(trap.requests).toEqual([]);
  });

  it.each([
    [204, 204],
    [418, 418],
    [503, 503],
    [999, 502],
  ])("tell the status %i", async (sent, told) => {
    const server = await start((_request, response) => response.writeHead(sent).end());
    const http = httpFor(server.origin);
    const { status } = await http.fetch(server.origin);
    expect([status, http.lastStatus]).toEqual([told, sent]);
  });

  it("hand on the headers that the protocol needs, and no others", async () => {
    const headers = { "content-type": "application/json", "dpop-nonce": "n", "set-cookie": "c=1" };
    const server = await start((_request, response) => response.writeHead(200, headers).end("{}"));
    const response = await httpFor(server.origin).fetch(server.origin);
    expect([...response.headers]).toEqual([
      ["content-type", "application/json"],
      ["dpop-nonce", "n"],
    ]);
  });

  it("say what could not be reached, and nothing else of it", async () => {
    const server = await start((request) => request);
    const { origin } = server;
    await server[Symbol.asyncDispose]();
    servers.pop();
    const failure = httpFor(origin).fetch(`${origin}/token?code=c1`);
    await expect(failure).rejects.toMatchObject({ code: "auth_endpoint_unreachable" });
    expect(JSON.stringify(await failure.catch((error: unknown) => error))).not.toContain("c1");
  });
});
