import {
  Client,
  SSEClientTransport,
  StreamableHTTPClientTransport,
  type OAuthClientProvider,
  auth as signInWithSdk,
} from "@modelcontextprotocol/client";
import { describe, expect, it } from "vitest";

import { SdkProvider } from "../../../tests/fixtures/oauth/sdk-provider.ts";
import { refresh, signInByHand } from "../../../tests/fixtures/oauth/sign-in-by-hand.ts";
import { type ProtectedServer, createTestServer } from "../index.ts";
import { type AuthorizationServer, startAuthorizationServer } from "./authorization-server.ts";
import { type ServeProtectedOptions, serveProtected } from "./serve-protected.ts";

function serve(
  authorization: AuthorizationServer,
  options: Omit<ServeProtectedOptions, "authorization"> = {},
): Promise<ProtectedServer> {
  return serveProtected(createTestServer(), { authorization, ...options });
}

/** One POST of a JSON-RPC request, with whatever stands for a token. */
function post(url: string, authorization?: string, tool = "echo"): Promise<Response> {
  const params = { name: tool, arguments: { message: "hello" } };
  return fetch(url, {
    method: "POST",
    headers: {
      "content-type": "application/json",
      accept: "application/json, text/event-stream",
      ...(authorization !== undefined && { authorization }),
    },
    body: JSON.stringify({ jsonrpc: "2.0", id: 1, method: "tools/call", params }),
  });
}

async function tokenFor(server: ProtectedServer, auth: AuthorizationServer, scope = "mcp") {
  return await signInByHand(auth.issuer, { resource: server.url, scope });
}

const challengeOf = (response: Response): string => response.headers.get("www-authenticate") ?? "";

async function jsonOf(url: string): Promise<unknown> {
  return await (await fetch(url)).json();
}

describe("a protected server", () => {
  it("tells who has no token where its metadata lies, and that names the issuer", async () => {
    await using auth = await startAuthorizationServer();
    await using server = await serve(auth, { scopes: ["mcp"] });
    const response = await post(server.url);
    const { origin } = new URL(server.url);
    const place = `${origin}/.well-known/oauth-protected-resource/mcp`;
    expect(response.status).toBe(401);
    expect(challengeOf(response)).toBe(`Bearer resource_metadata="${place}", scope="mcp"`);
    expect(await jsonOf(place)).toEqual({
      resource: server.url,
      authorization_servers: [auth.issuer],
      bearer_methods_supported: ["header"],
      scopes_supported: ["mcp"],
    });
  });

  it("answers who has a token, and keeps what arrived", async () => {
    await using auth = await startAuthorizationServer();
    await using server = await serve(auth);
    const { accessToken } = await tokenFor(server, auth);
    const response = await post(server.url, `Bearer ${accessToken}`);
    expect(response.status).toBe(200);
    expect(await response.text()).toContain("hello");
    expect(server.requests).toMatchObject([
      {
        method: "POST",
        path: "/mcp",
        status: 200,
        headers: { authorization: `Bearer ${accessToken}` },
        body: { method: "tools/call" },
      },
    ]);
  });

  it.each([
    ["unknown", () => "Bearer made-up"],
    ["of another scheme", (token: string) => `Basic ${token}`],
    ["doubled", (token: string) => `Bearer Bearer ${token}`],
  ])("refuses a token that is %s", async (_what, write) => {
    await using auth = await startAuthorizationServer();
    await using server = await serve(auth);
    const { accessToken } = await tokenFor(server, auth);
    expect((await post(server.url, write(accessToken))).status).toBe(401);
  });

  it("refuses a token for another resource", async () => {
    await using auth = await startAuthorizationServer();
    await using one = await serve(auth);
    await using other = await serve(auth);
    const { accessToken } = await tokenFor(one, auth);
    const refused = await post(other.url, `Bearer ${accessToken}`);
    expect(refused.status).toBe(401);
    expect(challengeOf(refused)).toContain('error="invalid_token"');
    expect((await post(one.url, `Bearer ${accessToken}`)).status).toBe(200);
  });

  it("takes another spelling of its address only where there is no path", async () => {
    await using auth = await startAuthorizationServer();
    await using server = await serve(auth);
    const slash = await signInByHand(auth.issuer, { resource: `${server.url}/` });
    expect((await post(server.url, `Bearer ${slash.accessToken}`)).status).toBe(401);
    await using rest = await serve(auth, { kind: "rest" });
    const { accessToken } = await signInByHand(auth.issuer, { resource: `${rest.url}/` });
    const headers = { authorization: `Bearer ${accessToken}` };
    expect((await fetch(`${rest.url}/tools`, { headers })).status).toBe(200);
  });

  it("refuses a token that has expired, and takes its successor", async () => {
    await using auth = await startAuthorizationServer();
    await using server = await serve(auth);
    const { client, accessToken, refreshToken } = await tokenFor(server, auth);
    auth.expire();
    const refused = await post(server.url, `Bearer ${accessToken}`);
    expect(refused.status).toBe(401);
    expect(challengeOf(refused)).toContain('error="invalid_token"');
    const { body } = await refresh(auth.issuer, client, refreshToken);
    expect((await post(server.url, `Bearer ${String(body["access_token"])}`)).status).toBe(200);
  });

  it("lets a token expire after so many calls", async () => {
    await using auth = await startAuthorizationServer();
    await using server = await serve(auth, { expireEvery: 2 });
    const { accessToken } = await tokenFor(server, auth);
    const statuses: number[] = [];
    for (const _ of [1, 2, 3])
      statuses.push((await post(server.url, `Bearer ${accessToken}`)).status);
    expect(statuses).toEqual([200, 200, 401]);
  });

  it("asks for the scopes that a tool needs", async () => {
    await using auth = await startAuthorizationServer({ scopes: ["mcp", "math"] });
    await using server = await serve(auth, { scopes: ["mcp"], toolScopes: { add: ["math"] } });
    const few = await tokenFor(server, auth);
    expect((await post(server.url, `Bearer ${few.accessToken}`)).status).toBe(200);
    const refused = await post(server.url, `Bearer ${few.accessToken}`, "add");
    expect(refused.status).toBe(403);
    expect(challengeOf(refused)).toContain('scope="mcp math", error="insufficient_scope"');
    const all = await tokenFor(server, auth, "mcp math");
    expect((await post(server.url, `Bearer ${all.accessToken}`, "add")).status).toBe(200);
  });

  it.each([
    ["header", "/.well-known/oauth-protected-resource/mcp", true],
    ["header-only", "/about/resource.json", true],
    ["well-known", "/.well-known/oauth-protected-resource/mcp", false],
    ["root", "/.well-known/oauth-protected-resource", false],
  ] as const)("has its metadata (%s) at %s only", async (metadata, place, isNamed) => {
    await using auth = await startAuthorizationServer();
    await using server = await serve(auth, { metadata });
    const { origin } = new URL(server.url);
    expect(challengeOf(await post(server.url)).includes(`"${origin}${place}"`)).toBe(isNamed);
    const places = [
      "/.well-known/oauth-protected-resource",
      "/.well-known/oauth-protected-resource/mcp",
      "/about/resource.json",
      "/.well-known/oauth-authorization-server",
    ];
    const found = await Promise.all(
      places.map(async (each) => ((await fetch(`${origin}${each}`)).ok ? [each] : [])),
    );
    expect(found.flat()).toEqual([place]);
  });

  it("without metadata has the authorization server at its own origin", async () => {
    await using auth = await startAuthorizationServer({ resource: "optional" });
    await using server = await serve(auth, { metadata: "none" });
    const { origin } = new URL(server.url);
    expect(challengeOf(await post(server.url))).toBe("Bearer");
    expect((await fetch(`${origin}/.well-known/oauth-protected-resource`)).status).toBe(404);
    expect(await jsonOf(`${origin}/.well-known/oauth-authorization-server`)).toMatchObject({
      issuer: origin,
      token_endpoint: `${origin}/token`,
    });
    const none = { resource: undefined };
    const signIn = { authorize: none, exchange: none };
    const { accessToken, callback } = await signInByHand(origin, signIn);
    expect(callback.get("iss")).toBe(origin);
    expect((await post(server.url, `Bearer ${accessToken}`)).status).toBe(200);
  });

  it("takes only tokens of the server it moved to", async () => {
    await using auth = await startAuthorizationServer();
    await using other = await startAuthorizationServer();
    await using server = await serve(auth);
    const before = await tokenFor(server, auth);
    server.moveTo(other);
    const refused = await post(server.url, `Bearer ${before.accessToken}`);
    expect(refused.status).toBe(401);
    const [, place = ""] = /resource_metadata="([^"]+)"/.exec(challengeOf(refused)) ?? [];
    expect(await jsonOf(place)).toMatchObject({ authorization_servers: [other.issuer] });
    const after = await tokenFor(server, other);
    expect((await post(server.url, `Bearer ${after.accessToken}`)).status).toBe(200);
  });

  it("refuses an authorization server that it did not start", async () => {
    await using auth = await startAuthorizationServer();
    await expect(serve({ ...auth })).rejects.toMatchObject({
      code: "config_invalid",
    });
  });
});

describe("a protected server of another kind", () => {
  it("over plain POST takes nothing else", async () => {
    await using auth = await startAuthorizationServer();
    await using server = await serve(auth, { kind: "http-post" });
    const { accessToken } = await tokenFor(server, auth);
    const authorization = `Bearer ${accessToken}`;
    expect((await post(server.url)).status).toBe(401);
    expect((await post(server.url, authorization)).status).toBe(200);
    expect((await fetch(server.url, { headers: { authorization } })).status).toBe(405);
  });

  it("over REST guards every endpoint, and calls by their scopes", async () => {
    await using auth = await startAuthorizationServer({ scopes: ["mcp", "math"] });
    await using server = await serve(auth, { kind: "rest", toolScopes: { add: ["math"] } });
    for (const path of ["/health", "/tools", "/tools/call"])
      expect((await fetch(`${server.url}${path}`)).status, path).toBe(401);
    const { accessToken } = await tokenFor(server, auth);
    const headers = { authorization: `Bearer ${accessToken}`, "content-type": "application/json" };
    const call = async (name: string, args: object) => {
      const body = JSON.stringify({ name, arguments: args });
      return await fetch(`${server.url}/tools/call`, { method: "POST", headers, body });
    };
    expect(await (await fetch(`${server.url}/health`, { headers })).json()).toEqual({
      status: "ok",
    });
    expect(await (await call("echo", { message: "hi" })).json()).toMatchObject({ result: "hi" });
    expect((await call("add", { a: 1, b: 2 })).status).toBe(403);
  });

  it("over SSE guards the stream and the messages", async () => {
    await using auth = await startAuthorizationServer();
    await using server = await serve(auth, { kind: "sse" });
    const { origin } = new URL(server.url);
    expect((await fetch(server.url)).status).toBe(401);
    expect((await fetch(`${origin}/message`, { method: "POST", body: "{}" })).status).toBe(401);
    const provider = new SdkProvider();
    await signInOnce(provider, server.url);
    const client = new Client({ name: "oracle", version: "1" });
    await client.connect(new SSEClientTransport(new URL(server.url), { authProvider: provider }));
    expect((await client.listTools()).tools.map(({ name }) => name)).toContain("echo");
    await client.close();
  });
});

/** Signs in with the SDK's own functions: the redirect first, then the code of the callback. */
async function signInOnce(provider: SdkProvider, serverUrl: string, scope?: string): Promise<void> {
  const asked = { serverUrl, ...(scope !== undefined && { scope }) };
  expect(await signInWithSdk(provider, asked)).toBe("REDIRECT");
  const authorizationCode = provider.callback?.get("code") ?? "";
  const iss = provider.callback?.get("iss") ?? undefined;
  expect(provider.callback?.get("state")).toBe("sdk-state");
  const answer = { ...asked, authorizationCode, ...(iss !== undefined && { iss }) };
  expect(await signInWithSdk(provider, answer)).toBe("AUTHORIZED");
}

async function listTools(authProvider: OAuthClientProvider, url: string): Promise<string[]> {
  const client = new Client({ name: "oracle", version: "1" });
  await client.connect(new StreamableHTTPClientTransport(new URL(url), { authProvider }));
  const { tools } = await client.listTools();
  await client.close();
  return tools.map(({ name }) => name);
}

describe("the SDK's own client", () => {
  it.each([
    ["dynamic", undefined],
    ["metadata-document", "https://app.example/client.json"],
  ] as const)("signs in with registration %s, and renews", async (registration, document) => {
    await using auth = await startAuthorizationServer({ registration });
    await using server = await serve(auth, { scopes: ["mcp"] });
    const provider = new SdkProvider(document);
    await signInOnce(provider, server.url);
    expect(auth.counts.register).toBe(document === undefined ? 1 : 0);
    expect(provider.client?.client_id).toMatch(document ?? /^client-/);
    expect(provider.opened[0]?.searchParams.get("resource")).toBe(server.url);
    expect(await listTools(provider, server.url)).toContain("echo");
    auth.expire();
    expect(await listTools(provider, server.url)).toContain("echo");
    expect(auth.counts.token).toEqual({ authorization_code: 1, refresh_token: 1 });
    expect(provider.opened).toHaveLength(1);
  });

  it.each([
    { metadata: "well-known" },
    { metadata: "root" },
    { metadata: "none" },
    { metadata: "header", discovery: "openid", issuerPath: "/tenant" },
    { metadata: "header", discovery: "openid-appended", issuerPath: "/tenant" },
    { metadata: "header", issuerPath: "/tenant" },
    { metadata: "none", discovery: "none" },
  ] as const)("finds its way with %j", async ({ metadata, ...options }) => {
    const resource = metadata === "none" ? "optional" : "required";
    await using auth = await startAuthorizationServer({ ...options, resource });
    await using server = await serve(auth, { metadata });
    const provider = new SdkProvider();
    await signInOnce(provider, server.url);
    expect(await listTools(provider, server.url)).toContain("echo");
  });

  it.each(["client_secret_basic", "client_secret_post"] as const)(
    "proves itself with %s where that is the only way",
    async (method) => {
      await using auth = await startAuthorizationServer({ authMethods: [method] });
      await using server = await serve(auth);
      const provider = new SdkProvider();
      await signInOnce(provider, server.url);
      expect(await listTools(provider, server.url)).toContain("echo");
      const { authorization } = auth.requests.find(({ path }) => path === "/token")?.headers ?? {};
      expect(authorization?.startsWith("Basic ") === true).toBe(method === "client_secret_basic");
    },
  );
});
