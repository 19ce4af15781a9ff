import { exchangeJwtAuthGrant, requestJwtAuthorizationGrant } from "@modelcontextprotocol/client";
import { describe, expect, it } from "vitest";

import { askToken, handResource } from "../../../tests/fixtures/oauth/sign-in-by-hand.ts";
import { startAuthorizationServer } from "./authorization-server.ts";
import { createSigningKey, isSignedBy, readJwt } from "./signed-jwt.ts";

const jwtBearer = "urn:ietf:params:oauth:grant-type:jwt-bearer";
const tokenExchange = "urn:ietf:params:oauth:grant-type:token-exchange";
const app = { clientId: "app", clientSecret: "s3cret" };
const refusal = (error: string) => ({ status: 400, body: { error } });

describe("the assertion of a trusted issuer", () => {
  const inAMinute = Math.floor(Date.now() / 1_000) + 60;

  async function setUp() {
    const key = createSigningKey();
    const trusted = { issuer: "https://workloads.example", publicKey: key.publicKey };
    const auth = await startAuthorizationServer({ grants: [jwtBearer], trustedIssuers: [trusted] });
    const claims = { iss: trusted.issuer, sub: "job-7", aud: auth.issuer, exp: inAMinute };
    const ask = (assertion: string, resource = handResource) =>
      askToken(auth.issuer, { clientId: "" }, { grant_type: jwtBearer, assertion, resource });
    return { auth, key, claims, ask, [Symbol.asyncDispose]: () => auth.close() };
  }

  it("becomes a token without a client", async () => {
    await using site = await setUp();
    const reply = await site.ask(site.key.sign(site.claims));
    expect(reply.status).toBe(200);
    expect(site.auth.verify(String(reply.body["access_token"]))).toMatchObject({
      clientId: "job-7",
      resource: handResource,
    });
  });

  it.each([
    ["by an issuer that nobody trusts", { iss: "https://other.example" }],
    ["for another server", { aud: "https://other.example" }],
    ["that has expired", { exp: 1_000 }],
    ["about nobody", { sub: undefined }],
  ])("%s is refused", async (_what, change) => {
    await using site = await setUp();
    const assertion = site.key.sign({ ...site.claims, ...change });
    expect(await site.ask(assertion)).toMatchObject(refusal("invalid_grant"));
  });

  it("is for the resource that it names, and needs one", async () => {
    await using site = await setUp();
    const assertion = site.key.sign({ ...site.claims, resource: handResource });
    const elsewhere = await site.ask(assertion, "http://127.0.0.1:9/mcp");
    expect(elsewhere).toMatchObject(refusal("invalid_target"));
    const ask = { grant_type: jwtBearer, assertion: site.key.sign(site.claims) };
    const nowhere = await askToken(site.auth.issuer, { clientId: "" }, ask);
    expect(nowhere).toMatchObject(refusal("invalid_target"));
    const named = await askToken(site.auth.issuer, { clientId: "" }, { ...ask, assertion });
    expect(named).toMatchObject({ status: 200 });
  });

  it("signed by another key, used again, or no JWT at all is refused", async () => {
    await using site = await setUp();
    expect(await site.ask(createSigningKey().sign(site.claims))).toMatchObject(
      refusal("invalid_grant"),
    );
    expect(await site.ask("nonsense")).toMatchObject(refusal("invalid_grant"));
    const once = site.key.sign({ ...site.claims, jti: "1" });
    expect(await site.ask(once)).toMatchObject({ status: 200 });
    expect(await site.ask(once)).toMatchObject(refusal("invalid_grant"));
    expect(site.auth.counts.invalidGrant).toBe(3);
  });
});

describe("an identity of the company", () => {
  it("becomes an assertion for another server, and there a token (by the SDK)", async () => {
    await using company = await startAuthorizationServer({
      grants: [tokenExchange],
      clients: [{ ...app, authMethod: "client_secret_post" }],
    });
    await using auth = await startAuthorizationServer({
      grants: [jwtBearer],
      clients: [app],
      trustedIssuers: [company],
    });
    const request = {
      tokenEndpoint: `${company.issuer}/token`,
      audience: auth.issuer,
      resource: handResource,
      idToken: company.signIdToken("ada", "app"),
      ...app,
      scope: "mcp",
    };
    const { jwtAuthGrant } = await requestJwtAuthorizationGrant(request);
    const asked = { tokenEndpoint: `${auth.issuer}/token`, jwtAuthGrant, ...app };
    const tokens = await exchangeJwtAuthGrant(asked);
    expect(auth.verify(tokens.access_token)).toMatchObject({
      isValid: true,
      clientId: "app",
      scopes: ["mcp"],
      resource: handResource,
    });
    await expect(exchangeJwtAuthGrant(asked)).rejects.toThrow("invalid_grant");
    const forged = { ...request, idToken: auth.signIdToken("ada", "app") };
    await expect(requestJwtAuthorizationGrant(forged)).rejects.toThrow("invalid_grant");
  });

  it("does not help another client", async () => {
    const thief = { clientId: "thief", clientSecret: "t" };
    await using company = await startAuthorizationServer({
      grants: [tokenExchange],
      clients: [{ ...app, authMethod: "client_secret_post" }],
    });
    await using auth = await startAuthorizationServer({
      grants: [jwtBearer],
      clients: [app, thief],
      trustedIssuers: [company],
    });
    const { jwtAuthGrant } = await requestJwtAuthorizationGrant({
      tokenEndpoint: `${company.issuer}/token`,
      audience: auth.issuer,
      resource: handResource,
      idToken: company.signIdToken("ada", "app"),
      ...app,
    });
    const stolen = { tokenEndpoint: `${auth.issuer}/token`, jwtAuthGrant, ...thief };
    await expect(exchangeJwtAuthGrant(stolen)).rejects.toThrow("invalid_grant");
  });
});

describe("a signature", () => {
  it("by no algorithm, or by a shared secret, is none", () => {
    const key = createSigningKey();
    const [, claims, signature] = key.sign({ sub: "a" }).split(".");
    for (const alg of ["none", "HS256", "RS256", "constructor"]) {
      const header = Buffer.from(JSON.stringify({ alg })).toString("base64url");
      const jwt = readJwt(`${header}.${claims}.${signature}`);
      expect(jwt !== undefined && isSignedBy(jwt, key.publicKey), alg).toBe(false);
    }
  });

  it("is checked over what was signed", () => {
    const key = createSigningKey();
    const good = readJwt(key.sign({ sub: "a" }));
    expect(good !== undefined && isSignedBy(good, key.publicKey)).toBe(true);
    expect(good !== undefined && isSignedBy(good, createSigningKey().publicKey)).toBe(false);
    expect(good !== undefined && isSignedBy(good, "no key")).toBe(false);
  });
});
