import { generateKeyPairSync } from "node:crypto";

import { createPrivateKeyJwtAuth } from "@modelcontextprotocol/client";
import { describe, expect, it } from "vitest";

import {
  type HandClient,
  askToken,
  authorize,
  callbackOf,
  challengeFor,
  handRedirect,
  handResource,
  refresh,
  register,
  signInByHand,
} from "../../../tests/fixtures/oauth/sign-in-by-hand.ts";
import { ManualClock } from "../../../tests/fixtures/protocol/manual-clock.ts";
import { startAuthorizationServer } from "./authorization-server.ts";

const refusal = (error: string, status = 400) => ({ status, body: { error } });

async function metadataOf(url: string): Promise<Record<string, unknown>> {
  return (await (await fetch(url)).json()) as Record<string, unknown>;
}

describe("an authorization server without options", () => {
  it("describes itself as a server of today", async () => {
    await using auth = await startAuthorizationServer();
    expect(auth.issuer).toBe(auth.url);
    expect(await metadataOf(`${auth.url}/.well-known/oauth-authorization-server`)).toMatchObject({
      issuer: auth.issuer,
      authorization_endpoint: `${auth.issuer}/authorize`,
      token_endpoint: `${auth.issuer}/token`,
      registration_endpoint: `${auth.issuer}/register`,
      client_id_metadata_document_supported: true,
      code_challenge_methods_supported: ["S256"],
      grant_types_supported: ["authorization_code", "refresh_token"],
      authorization_response_iss_parameter_supported: true,
      scopes_supported: ["mcp"],
    });
  });

  it("signs a registered client in, with state and issuer in the callback", async () => {
    await using auth = await startAuthorizationServer();
    const { callback, reply, accessToken, client } = await signInByHand(auth.issuer);
    expect(callback.get("state")).toBe("s1");
    expect(callback.get("iss")).toBe(auth.issuer);
    expect(reply).toMatchObject({
      status: 200,
      body: { token_type: "Bearer", expires_in: 3_600, scope: "mcp" },
    });
    expect(reply.headers.get("cache-control")).toBe("no-store");
    expect(auth.verify(accessToken, { resource: handResource, scopes: ["mcp"] })).toEqual({
      isValid: true,
      clientId: client.clientId,
      scopes: ["mcp"],
      resource: handResource,
      boundTo: undefined,
    });
  });

  it("keeps what arrived and counts it", async () => {
    await using auth = await startAuthorizationServer();
    const { client, refreshToken } = await signInByHand(auth.issuer);
    await refresh(auth.issuer, client, refreshToken);
    await refresh(auth.issuer, client, "nonsense");
    expect(auth.counts).toEqual({
      authorize: 1,
      register: 1,
      revoke: 0,
      token: { authorization_code: 1, refresh_token: 2 },
      invalidGrant: 1,
      refreshReuse: 0,
    });
    expect(auth.requests.map(({ method, path }) => `${method} ${path}`)).toEqual([
      "POST /register",
      "GET /authorize",
      "POST /token",
      "POST /token",
      "POST /token",
    ]);
    expect(auth.requests[1]?.query).toMatchObject({ resource: handResource, scope: "mcp" });
    expect(auth.requests[2]?.body).toMatchObject({ grant_type: "authorization_code" });
    expect(auth.requests[0]?.body).toMatchObject({ redirect_uris: [handRedirect] });
    expect(auth.requests[2]?.headers["content-type"]).toContain("form-urlencoded");
  });

  it("answers 404 elsewhere", async () => {
    await using auth = await startAuthorizationServer();
    expect((await fetch(`${auth.url}/elsewhere`)).status).toBe(404);
    expect((await fetch(`${auth.url}/.well-known/openid-configuration`)).status).toBe(404);
  });
});

describe("a redirect URI", () => {
  const known = (redirectUri: string) => ({
    clients: [{ clientId: "c", redirectUris: [redirectUri] }],
  });
  const ask = (issuer: string, redirect_uri: string | undefined) =>
    authorize(issuer, {
      response_type: "code",
      client_id: "c",
      redirect_uri,
      code_challenge: challengeFor("v"),
      code_challenge_method: "S256",
      resource: handResource,
    });

  it.each([
    ["https://app.example/cb", "https://app.example/cb"],
    ["http://127.0.0.1/cb", "http://127.0.0.1:5555/cb"],
    ["http://127.0.0.1:1234/cb", "http://127.0.0.1:5555/cb"],
    ["http://[::1]/cb", "http://[::1]:5555/cb"],
  ])("registered as %s may be %s", async (registered, asked) => {
    await using auth = await startAuthorizationServer(known(registered));
    const response = await ask(auth.issuer, asked);
    expect(response.status).toBe(302);
    expect(response.headers.get("location")).toContain(`${asked}?code=`);
  });

  it.each([
    ["https://app.example/cb", "https://app.example/cb/"],
    ["https://app.example/cb", "https://app.example:8443/cb"],
    ["https://app.example/cb", "https://app.example.evil/cb"],
    ["http://127.0.0.1/cb", "http://127.0.0.1:5555/other"],
    ["http://127.0.0.1/cb", "http://localhost:5555/cb"],
    ["http://127.0.0.1/cb", "http://127.0.0.1:5555@evil.example/cb"],
    ["http://localhost:1234/cb", "http://localhost:5555/cb"],
  ])("registered as %s may not be %s, and nobody is redirected", async (registered, asked) => {
    await using auth = await startAuthorizationServer(known(registered));
    const response = await ask(auth.issuer, asked);
    expect(response.status).toBe(400);
    expect(response.headers.get("location")).toBeNull();
  });

  it("may be left out where only one is registered", async () => {
    await using auth = await startAuthorizationServer(known("https://app.example/cb"));
    expect((await ask(auth.issuer, undefined)).status).toBe(302);
  });

  it("of an unknown client is not followed", async () => {
    await using auth = await startAuthorizationServer();
    expect((await ask(auth.issuer, "http://127.0.0.1/cb")).status).toBe(400);
  });

  it("must be the same at the token endpoint", async () => {
    await using auth = await startAuthorizationServer();
    const exchange = { redirect_uri: "http://127.0.0.1:7778/callback" };
    const { reply } = await signInByHand(auth.issuer, { exchange });
    expect(reply).toMatchObject(refusal("invalid_grant"));
  });
});

describe("an authorization request", () => {
  it.each([
    [{ response_type: "token" }, "unsupported_response_type"],
    [{ code_challenge: undefined }, "invalid_request"],
    [{ code_challenge_method: "plain" }, "invalid_request"],
    [{ code_challenge_method: undefined }, "invalid_request"],
    [{ scope: "mcp admin" }, "invalid_scope"],
    [{ resource: undefined }, "invalid_target"],
    [{ resource: "not a uri" }, "invalid_target"],
    [{ resource: `${handResource}#part` }, "invalid_target"],
  ])("with %j is called back with %s, state and issuer", async (change, error) => {
    await using auth = await startAuthorizationServer();
    const { callback } = await signInByHand(auth.issuer, { authorize: change });
    expect(callback.get("error")).toBe(error);
    expect(callback.get("code")).toBeNull();
    expect(callback.get("state")).toBe("s1");
    expect(callback.get("iss")).toBe(auth.issuer);
  });

  it("is denied when the person is to deny", async () => {
    await using auth = await startAuthorizationServer({ consent: "deny" });
    const { callback } = await signInByHand(auth.issuer);
    expect(callback.get("error")).toBe("access_denied");
  });

  it.each([
    ["approve", "code"],
    ["deny", "error"],
  ])("on the page leads back after the button %s", async (decision, parameter) => {
    await using auth = await startAuthorizationServer({ consent: "page" });
    const client = await register(auth.issuer, { client_name: "<b>App</b>" });
    const page = await authorize(auth.issuer, {
      response_type: "code",
      client_id: client.clientId,
      redirect_uri: handRedirect,
      code_challenge: challengeFor("v"),
      code_challenge_method: "S256",
      state: "s1",
      resource: handResource,
    });
    const html = await page.text();
    expect(page.status).toBe(200);
    expect(html).toContain("&lt;b&gt;App&lt;/b&gt;");
    expect(html).toContain(`<button name="decision" value="${decision}">`);
    const body = new URLSearchParams({ decision });
    const answer = await fetch(page.url, { method: "POST", body, redirect: "manual" });
    expect(callbackOf(answer).has(parameter)).toBe(true);
  });

  it("without scopes gets all of them", async () => {
    await using auth = await startAuthorizationServer({ scopes: ["mcp", "files:read"] });
    const { reply } = await signInByHand(auth.issuer, { authorize: { scope: undefined } });
    expect(reply.body["scope"]).toBe("mcp files:read");
  });

  it("is granted what the server is told to grant", async () => {
    const options = { scopes: ["mcp", "files:read"], grantedScopes: ["mcp"] };
    await using auth = await startAuthorizationServer(options);
    const { reply } = await signInByHand(auth.issuer, { scope: "mcp files:read" });
    expect(reply.body["scope"]).toBe("mcp");
  });

  it("gets no issuer from a server that does not send it, which says so", async () => {
    await using auth = await startAuthorizationServer({ issParameter: false });
    const { callback } = await signInByHand(auth.issuer);
    expect(callback.get("iss")).toBeNull();
    const metadata = await metadataOf(`${auth.url}/.well-known/oauth-authorization-server`);
    expect(metadata).not.toHaveProperty("authorization_response_iss_parameter_supported");
  });
});

describe("a code", () => {
  it.each([
    ["without a verifier", { code_verifier: undefined }, "invalid_grant"],
    ["with a wrong verifier", { code_verifier: "wrong" }, "invalid_grant"],
    ["that was never given", { code: "made-up" }, "invalid_grant"],
    ["without a resource", { resource: undefined }, "invalid_target"],
    ["for another resource", { resource: "http://127.0.0.1:9/mcp" }, "invalid_target"],
    ["with an unknown grant", { grant_type: "password" }, "unsupported_grant_type"],
    [
      "with a grant that is not offered",
      { grant_type: "client_credentials" },
      "unsupported_grant_type",
    ],
    ["without a grant", { grant_type: undefined }, "invalid_request"],
  ])("%s is refused", async (_how, exchange, error) => {
    await using auth = await startAuthorizationServer();
    const { reply } = await signInByHand(auth.issuer, { exchange });
    expect(reply).toMatchObject(refusal(error));
  });

  it("is good once, and a second use ends what the first one gave", async () => {
    await using auth = await startAuthorizationServer();
    const verifier = "v".repeat(43);
    const { client, callback, accessToken } = await signInByHand(auth.issuer, { verifier });
    expect(auth.isTokenValid(accessToken)).toBe(true);
    const again = await askToken(auth.issuer, client, {
      grant_type: "authorization_code",
      code: callback.get("code") ?? "",
      redirect_uri: handRedirect,
      code_verifier: verifier,
      resource: handResource,
    });
    expect(again).toMatchObject(refusal("invalid_grant"));
    expect(auth.verify(accessToken)).toEqual({ isValid: false, reason: "revoked" });
  });

  it("is good for its client only", async () => {
    await using auth = await startAuthorizationServer();
    const [one, other] = [await register(auth.issuer), await register(auth.issuer)];
    const { reply } = await signInByHand(auth.issuer, {
      client: one,
      authorize: { client_id: other.clientId },
    });
    expect(reply).toMatchObject(refusal("invalid_grant"));
  });

  it("expires after a minute", async () => {
    const clock = new ManualClock();
    await using auth = await startAuthorizationServer({ clock });
    const client = await register(auth.issuer);
    const redirected = await authorize(auth.issuer, {
      response_type: "code",
      client_id: client.clientId,
      redirect_uri: handRedirect,
      code_challenge: challengeFor("v"),
      code_challenge_method: "S256",
      resource: handResource,
    });
    await clock.advance(60_001);
    const reply = await askToken(auth.issuer, client, {
      grant_type: "authorization_code",
      code: callbackOf(redirected).get("code") ?? "",
      redirect_uri: handRedirect,
      code_verifier: "v",
      resource: handResource,
    });
    expect(reply).toMatchObject(refusal("invalid_grant"));
  });

  it.each(["plain", "missing"] as const)("is exchanged with PKCE %s", async (pkce) => {
    await using auth = await startAuthorizationServer({ pkce });
    const verifier = "v".repeat(43);
    const change =
      pkce === "plain"
        ? { code_challenge: verifier, code_challenge_method: "plain" }
        : { code_challenge: undefined, code_challenge_method: undefined };
    const { reply } = await signInByHand(auth.issuer, { verifier, authorize: change });
    expect(reply.status).toBe(200);
    const metadata = await metadataOf(`${auth.url}/.well-known/oauth-authorization-server`);
    const offered = metadata["code_challenge_methods_supported"];
    expect(offered).toEqual(pkce === "plain" ? ["plain"] : undefined);
  });

  it("of a server that asks for no resource needs none", async () => {
    await using auth = await startAuthorizationServer({ resource: "optional" });
    const none = { resource: undefined };
    const { reply } = await signInByHand(auth.issuer, { authorize: none, exchange: none });
    expect(reply.status).toBe(200);
  });

  it("is answered as a form where the server does so", async () => {
    await using auth = await startAuthorizationServer({ answers: "form", expiresIn: false });
    const { reply } = await signInByHand(auth.issuer);
    expect(reply.headers.get("content-type")).toContain("application/x-www-form-urlencoded");
    const form = new URLSearchParams(reply.text);
    expect(form.get("token_type")).toBe("Bearer");
    expect(form.has("expires_in")).toBe(false);
    expect(auth.isTokenValid(form.get("access_token") ?? "")).toBe(true);
  });

  it("gives a refresh token only to those who ask for offline_access where that exists", async () => {
    await using auth = await startAuthorizationServer({ scopes: ["mcp", "offline_access"] });
    const online = await signInByHand(auth.issuer);
    expect(online.reply.body).not.toHaveProperty("refresh_token");
    const offline = await signInByHand(auth.issuer, { scope: "mcp offline_access" });
    expect(offline.reply.body).toHaveProperty("refresh_token");
  });
});

describe("a refresh token", () => {
  it("that is rotated works until its successor is used", async () => {
    await using auth = await startAuthorizationServer();
    const { client, refreshToken: first } = await signInByHand(auth.issuer);
    const second = await refresh(auth.issuer, client, first);
    const again = await refresh(auth.issuer, client, first);
    expect([second.status, again.status]).toEqual([200, 200]);
    const third = await refresh(auth.issuer, client, String(second.body["refresh_token"]));
    expect(third.status).toBe(200);
    expect(await refresh(auth.issuer, client, first)).toMatchObject(refusal("invalid_grant"));
    expect(auth.isTokenValid(String(third.body["access_token"]))).toBe(true);
    expect(auth.counts.refreshReuse).toBe(2);
  });

  it("that is rotated strictly takes its whole family along when it is used again", async () => {
    await using auth = await startAuthorizationServer({ refresh: "rotate-strict" });
    const { client, refreshToken: first } = await signInByHand(auth.issuer);
    const second = await refresh(auth.issuer, client, first);
    expect(second.status).toBe(200);
    expect(await refresh(auth.issuer, client, first)).toMatchObject(refusal("invalid_grant"));
    expect(auth.isTokenValid(String(second.body["access_token"]))).toBe(false);
    const successor = await refresh(auth.issuer, client, String(second.body["refresh_token"]));
    expect(successor).toMatchObject(refusal("invalid_grant"));
  });

  it("that is kept is not repeated", async () => {
    await using auth = await startAuthorizationServer({ refresh: "keep" });
    const { client, refreshToken } = await signInByHand(auth.issuer);
    for (const _ of [1, 2]) {
      const reply = await refresh(auth.issuer, client, refreshToken);
      expect(reply.status).toBe(200);
      expect(reply.body).not.toHaveProperty("refresh_token");
    }
  });

  it("does not exist where none is given", async () => {
    await using auth = await startAuthorizationServer({ refresh: "none" });
    const { reply } = await signInByHand(auth.issuer);
    expect(reply.body).not.toHaveProperty("refresh_token");
  });

  it("is good for its client, its resource and its scopes only", async () => {
    await using auth = await startAuthorizationServer({ scopes: ["mcp", "files:read"] });
    const { client, refreshToken } = await signInByHand(auth.issuer);
    const ask = (who: HandClient, more: Record<string, string>) =>
      askToken(auth.issuer, who, {
        grant_type: "refresh_token",
        refresh_token: refreshToken,
        ...more,
      });
    expect(await ask(await register(auth.issuer), {})).toMatchObject(refusal("invalid_grant"));
    expect(await ask(client, { resource: "http://other.example/" })).toMatchObject(
      refusal("invalid_target"),
    );
    expect(await ask(client, { scope: "files:read" })).toMatchObject(refusal("invalid_scope"));
    expect(await ask(client, { scope: "mcp" })).toMatchObject({ status: 200 });
  });

  it("renews what has expired, but not what was revoked", async () => {
    const clock = new ManualClock();
    await using auth = await startAuthorizationServer({ clock, tokenLifetimeMs: 5_000 });
    const { client, accessToken, refreshToken } = await signInByHand(auth.issuer);
    await clock.advance(4_999);
    expect(auth.isTokenValid(accessToken)).toBe(true);
    await clock.advance(1);
    expect(auth.verify(accessToken)).toEqual({ isValid: false, reason: "expired" });
    const renewed = await refresh(auth.issuer, client, refreshToken);
    expect(renewed.body["expires_in"]).toBe(5);
    auth.expire();
    expect(auth.isTokenValid(String(renewed.body["access_token"]))).toBe(false);
    auth.revokeAll();
    expect(await refresh(auth.issuer, client, refreshToken)).toMatchObject(
      refusal("invalid_grant"),
    );
  });

  it("is revoked by its client", async () => {
    await using auth = await startAuthorizationServer();
    const { client, accessToken, refreshToken } = await signInByHand(auth.issuer);
    const revoke = (clientId: string) => {
      const body = new URLSearchParams({ token: refreshToken, client_id: clientId });
      return fetch(`${auth.issuer}/revoke`, { method: "POST", body });
    };
    expect((await revoke((await register(auth.issuer)).clientId)).status).toBe(200);
    expect(auth.isTokenValid(accessToken)).toBe(true);
    expect((await revoke("nobody")).status).toBe(401);
    expect((await revoke(client.clientId)).status).toBe(200);
    expect(auth.isTokenValid(accessToken)).toBe(false);
    expect(auth.counts.revoke).toBe(3);
  });

  it("presented twice at once is seen, while requests are held", async () => {
    await using auth = await startAuthorizationServer({ refresh: "rotate-strict" });
    const { client, refreshToken } = await signInByHand(auth.issuer);
    const held = auth.holdTokenRequests();
    const both = [1, 2].map(() => refresh(auth.issuer, client, refreshToken));
    await held.until(2);
    held.release();
    const statuses = (await Promise.all(both)).map(({ status }) => status);
    expect(new Set(statuses)).toEqual(new Set([200, 400]));
    expect(auth.counts).toMatchObject({ refreshReuse: 1, invalidGrant: 1 });
  });
});

describe("a client", () => {
  it.each(["client_secret_basic", "client_secret_post", "none"] as const)(
    "registered with %s proves itself that way and no other",
    async (method) => {
      await using auth = await startAuthorizationServer();
      const client = await register(auth.issuer, { token_endpoint_auth_method: method });
      expect(client.authMethod).toBe(method);
      expect(client.clientSecret === undefined).toBe(method === "none");
      expect((await signInByHand(auth.issuer, { client })).reply.status).toBe(200);
      const others = ["client_secret_basic", "client_secret_post", "none"] as const;
      for (const authMethod of others.filter((other) => other !== method)) {
        const { reply } = await signInByHand(auth.issuer, { client: { ...client, authMethod } });
        expect(reply, authMethod).toMatchObject(refusal("invalid_client", 401));
      }
    },
  );

  it("with a wrong secret is refused, by Basic with a challenge", async () => {
    await using auth = await startAuthorizationServer();
    const client = await register(auth.issuer, {
      token_endpoint_auth_method: "client_secret_basic",
    });
    const { reply } = await signInByHand(auth.issuer, {
      client: { ...client, clientSecret: "wrong" },
    });
    expect(reply).toMatchObject(refusal("invalid_client", 401));
    expect(reply.headers.get("www-authenticate")).toMatch(/^Basic /);
  });

  it("is given the method that the server has", async () => {
    await using auth = await startAuthorizationServer({ authMethods: ["client_secret_post"] });
    const client = await register(auth.issuer);
    expect(client.authMethod).toBe("client_secret_post");
  });

  it.each([
    [{ redirect_uris: [] }, "invalid_redirect_uri"],
    [{ redirect_uris: ["http://app.example/cb"] }, "invalid_redirect_uri"],
    [{ redirect_uris: ["https://app.example/cb#x"] }, "invalid_redirect_uri"],
    [{ redirect_uris: ["javascript:alert(1)"] }, "invalid_redirect_uri"],
    [{ redirect_uris: "https://app.example/cb" }, "invalid_redirect_uri"],
    [{ grant_types: "authorization_code" }, "invalid_client_metadata"],
  ])("that registers with %j is refused", async (metadata, error) => {
    await using auth = await startAuthorizationServer();
    await expect(register(auth.issuer, metadata)).rejects.toThrow(error);
  });

  it("with a private scheme can register", async () => {
    await using auth = await startAuthorizationServer();
    await register(auth.issuer, { redirect_uris: ["com.example.app:/cb"] });
  });

  it("cannot register where that is not offered", async () => {
    await using auth = await startAuthorizationServer({ registration: "metadata-document" });
    expect((await fetch(`${auth.issuer}/register`, { method: "POST" })).status).toBe(404);
    const metadata = await metadataOf(`${auth.url}/.well-known/oauth-authorization-server`);
    expect(metadata).not.toHaveProperty("registration_endpoint");
  });

  const documentUrl = "https://app.example/client.json";

  it("may be a URL", async () => {
    await using auth = await startAuthorizationServer({ registration: "metadata-document" });
    const client = { clientId: documentUrl };
    expect((await signInByHand(auth.issuer, { client })).reply.status).toBe(200);
  });

  it("may not be a URL where that is not offered", async () => {
    await using auth = await startAuthorizationServer({ registration: "dynamic" });
    const answer = await authorize(auth.issuer, { client_id: documentUrl });
    expect(answer.status).toBe(400);
    const metadata = await metadataOf(`${auth.url}/.well-known/oauth-authorization-server`);
    expect(metadata).not.toHaveProperty("client_id_metadata_document_supported");
  });

  it.each([
    ["its own redirect", { client_id: documentUrl, redirect_uris: [handRedirect] }, 302],
    ["another redirect", { client_id: documentUrl, redirect_uris: ["http://127.0.0.1/x"] }, 400],
    ["another client", { client_id: "https://x.example/c", redirect_uris: [handRedirect] }, 400],
  ])("whose document names %s gets %s", async (_what, document, status) => {
    await using auth = await startAuthorizationServer({
      metadataDocuments: { [documentUrl]: document },
    });
    const answer = await authorize(auth.issuer, {
      client_id: documentUrl,
      redirect_uri: handRedirect,
    });
    expect(answer.status).toBe(status);
  });

  it("that was forgotten is not known any more", async () => {
    await using auth = await startAuthorizationServer();
    const { client, refreshToken } = await signInByHand(auth.issuer);
    auth.forgetClients();
    expect(await refresh(auth.issuer, client, refreshToken)).toMatchObject(
      refusal("invalid_client", 401),
    );
  });
});

describe("a client on its own", () => {
  const secret = { clientId: "robot", clientSecret: "s3cret" };
  const grants = ["client_credentials"] as const;

  it("gets a token without a refresh token", async () => {
    await using auth = await startAuthorizationServer({ grants, clients: [secret] });
    const reply = await askToken(
      auth.issuer,
      { ...secret, authMethod: "client_secret_basic" },
      { grant_type: "client_credentials", resource: handResource, scope: "mcp" },
    );
    expect(reply.status).toBe(200);
    expect(reply.body).not.toHaveProperty("refresh_token");
    expect(auth.isTokenValid(String(reply.body["access_token"]))).toBe(true);
  });

  it("that proves nothing gets none", async () => {
    await using auth = await startAuthorizationServer({ grants });
    const client = await register(auth.issuer);
    const asked = { grant_type: "client_credentials", resource: handResource };
    expect(await askToken(auth.issuer, client, asked)).toMatchObject(
      refusal("unauthorized_client"),
    );
  });

  it.each(["ES256", "RS256", "PS256"])("proves itself with a key (%s)", async (alg) => {
    const { publicKey, privateKey } =
      alg === "ES256"
        ? generateKeyPairSync("ec", { namedCurve: "P-256" })
        : generateKeyPairSync("rsa", { modulusLength: 2_048 });
    const pem = publicKey.export({ type: "spki", format: "pem" }) as string;
    const privatePem = privateKey.export({ type: "pkcs8", format: "pem" }) as string;
    await using auth = await startAuthorizationServer({
      grants,
      clients: [{ clientId: "robot", authMethod: "private_key_jwt", publicKey: pem }],
    });
    const assertion = async (
      change: Partial<Parameters<typeof createPrivateKeyJwtAuth>[0]> = {},
    ) => {
      const options = { issuer: "robot", subject: "robot", privateKey: privatePem, alg };
      const params = new URLSearchParams();
      const add = createPrivateKeyJwtAuth({ ...options, audience: auth.issuer, ...change });
      await add(new Headers(), params, `${auth.issuer}/token`);
      return Object.fromEntries(params);
    };
    const ask = (proof: Record<string, string>) =>
      askToken(
        auth.issuer,
        { clientId: "" },
        { grant_type: "client_credentials", resource: handResource, ...proof },
      );
    const good = await assertion();
    expect(await ask(good)).toMatchObject({ status: 200 });
    expect(await ask(good), "used again").toMatchObject(refusal("invalid_client", 401));
    const elsewhere = await assertion({ audience: "https://elsewhere.example" });
    expect(await ask(elsewhere)).toMatchObject(refusal("invalid_client", 401));
    for (const other of [{ issuer: "other" }, { subject: "other" }]) {
      const named = { ...(await assertion(other)), client_id: "robot" };
      expect(await ask(named)).toMatchObject(refusal("invalid_client", 401));
    }
    const expired = await assertion({ lifetimeSeconds: -10 });
    expect(await ask(expired)).toMatchObject(refusal("invalid_client", 401));
    const forged = { ...(await assertion()) };
    forged["client_assertion"] = `${forged["client_assertion"]?.slice(0, -8)}AAAAAAAA`;
    expect(await ask(forged)).toMatchObject(refusal("invalid_client", 401));
    expect(await ask({ client_id: "robot" })).toMatchObject(refusal("invalid_client", 401));
  });
});

describe("an issuer with a path", () => {
  it.each([
    ["oauth", "/.well-known/oauth-authorization-server/tenant"],
    ["openid", "/.well-known/openid-configuration/tenant"],
    ["openid-appended", "/tenant/.well-known/openid-configuration"],
  ] as const)("has its metadata (%s) at %s only", async (discovery, path) => {
    await using auth = await startAuthorizationServer({ discovery, issuerPath: "/tenant" });
    expect(auth.issuer).toBe(`${auth.url}/tenant`);
    expect(await metadataOf(`${auth.url}${path}`)).toMatchObject({
      issuer: auth.issuer,
      token_endpoint: `${auth.issuer}/token`,
    });
    expect((await fetch(`${auth.url}/.well-known/oauth-authorization-server`)).status).toBe(404);
    const { reply } = await signInByHand(auth.issuer);
    expect(reply.status).toBe(200);
    expect((await fetch(`${auth.url}/token`, { method: "POST" })).status).toBe(404);
  });

  it("may have no metadata at all", async () => {
    await using auth = await startAuthorizationServer({ discovery: "none" });
    expect((await fetch(`${auth.url}/.well-known/oauth-authorization-server`)).status).toBe(404);
    expect((await signInByHand(auth.issuer)).reply.status).toBe(200);
  });
});
