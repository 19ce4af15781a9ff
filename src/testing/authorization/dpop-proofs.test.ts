import { generateKeyPairSync, sign } from "node:crypto";

import {
  Client,
  type DpopProofRequest,
  DpopSession,
  StreamableHTTPClientTransport,
  auth as signInWithSdk,
} from "@modelcontextprotocol/client";
import { describe, expect, it } from "vitest";

import { SdkProvider } from "../../../tests/fixtures/oauth/sdk-provider.ts";
import { askToken, signInByHand } from "../../../tests/fixtures/oauth/sign-in-by-hand.ts";
import { createTestServer } from "../test-server.ts";
import { type AuthorizationServer, startAuthorizationServer } from "./authorization-server.ts";
import { serveProtected } from "./serve-protected.ts";

const refusal = (error: string) => ({ status: 400, body: { error } });

/** A proof for the token endpoint, changed where a test says so. */
async function proofFor(
  auth: AuthorizationServer,
  session: DpopSession,
  change: Partial<DpopProofRequest> = {},
): Promise<{ dpop: string }> {
  return {
    dpop: await session.buildProof({ htm: "POST", htu: `${auth.issuer}/token`, ...change }),
  };
}

/** A proof made by hand, for what the SDK would never sign. */
function signProof(
  header: { readonly typ?: string; readonly private?: boolean },
  claims: Readonly<Record<string, unknown>>,
): string {
  const { publicKey, privateKey } = generateKeyPairSync("ec", { namedCurve: "P-256" });
  const jwk = (header.private === true ? privateKey : publicKey).export({ format: "jwk" });
  const now = Math.floor(Date.now() / 1_000);
  const signed = [
    { alg: "ES256", typ: header.typ ?? "dpop+jwt", jwk },
    { htm: "POST", iat: now, jti: crypto.randomUUID(), ...claims },
  ]
    .map((part) => Buffer.from(JSON.stringify(part)).toString("base64url"))
    .join(".");
  const key = { key: privateKey, dsaEncoding: "ieee-p1363" } as const;
  return `${signed}.${sign("sha256", Buffer.from(signed), key).toString("base64url")}`;
}

/** One call at the protected server, as far as its status and its challenge. */
async function call(url: string, headers: Record<string, string>) {
  const response = await fetch(url, {
    method: "POST",
    headers: {
      "content-type": "application/json",
      accept: "application/json, text/event-stream",
      ...headers,
    },
    body: JSON.stringify({ jsonrpc: "2.0", id: 1, method: "tools/list" }),
  });
  await response.text();
  const challenge = response.headers.get("www-authenticate") ?? "";
  return { status: response.status, challenge, nonce: response.headers.get("dpop-nonce") };
}

describe("a proof at the token endpoint", () => {
  it("binds the token to its key", async () => {
    await using auth = await startAuthorizationServer({ dpop: "required" });
    const session = await DpopSession.create();
    const headers = await proofFor(auth, session);
    const { reply, accessToken } = await signInByHand(auth.issuer, { headers });
    expect(reply.body["token_type"]).toBe("DPoP");
    expect(auth.verify(accessToken)).toMatchObject({ boundTo: session.thumbprint });
  });

  it.each(["ES384", "RS256", "PS256", "EdDSA"] as const)("may be signed with %s", async (alg) => {
    await using auth = await startAuthorizationServer({ dpop: "required" });
    const session = await DpopSession.create({ alg });
    const { accessToken } = await signInByHand(auth.issuer, {
      headers: await proofFor(auth, session),
    });
    expect(auth.verify(accessToken)).toMatchObject({ boundTo: session.thumbprint });
  });

  it("is ignored by a server that does not know it, and may be left out where it is optional", async () => {
    const session = await DpopSession.create();
    await using off = await startAuthorizationServer();
    const plain = await signInByHand(off.issuer, { headers: await proofFor(off, session) });
    expect(plain.reply.body["token_type"]).toBe("Bearer");
    await using optional = await startAuthorizationServer({ dpop: "optional" });
    const without = await signInByHand(optional.issuer);
    expect(without.reply.body["token_type"]).toBe("Bearer");
    const headers = await proofFor(optional, session);
    const bound = await signInByHand(optional.issuer, { headers });
    expect(bound.reply.body["token_type"]).toBe("DPoP");
  });

  it.each([
    ["another method", { htm: "GET" }],
    ["another URL", { htu: "http://127.0.0.1:9/token" }],
  ])("for %s is refused", async (_what, change) => {
    await using auth = await startAuthorizationServer({ dpop: "required" });
    const headers = await proofFor(auth, await DpopSession.create(), change);
    const { reply } = await signInByHand(auth.issuer, { headers });
    expect(reply).toMatchObject(refusal("invalid_dpop_proof"));
  });

  it("that is missing, no JWT, or signed by another key is refused", async () => {
    await using auth = await startAuthorizationServer({ dpop: "required" });
    const good = await proofFor(auth, await DpopSession.create());
    const other = await proofFor(auth, await DpopSession.create());
    const [header, claims] = good.dpop.split(".");
    const forged = `${header}.${claims}.${other.dpop.split(".")[2]}`;
    for (const headers of [{}, { dpop: "nonsense" }, { dpop: forged }]) {
      const { reply } = await signInByHand(auth.issuer, { headers });
      expect(reply).toMatchObject(refusal("invalid_dpop_proof"));
    }
  });

  it.each([
    ["of another kind of token", { typ: "JWT" }, {}],
    ["with the private key in it", { private: true }, {}],
    ["of an hour ago", {}, { iat: Math.floor(Date.now() / 1_000) - 3_600 }],
    ["of an hour ahead", {}, { iat: Math.floor(Date.now() / 1_000) + 3_600 }],
    ["without a time", {}, { iat: undefined }],
    ["without an id", {}, { jti: undefined }],
  ])("%s is refused", async (_what, header, claims) => {
    await using auth = await startAuthorizationServer({ dpop: "required" });
    const htu = `${auth.issuer}/token`;
    const good = { dpop: signProof({}, { htu }) };
    expect((await signInByHand(auth.issuer, { headers: good })).reply.status).toBe(200);
    const headers = { dpop: signProof(header, { htu, ...claims }) };
    const { reply } = await signInByHand(auth.issuer, { headers });
    expect(reply).toMatchObject(refusal("invalid_dpop_proof"));
  });

  it("is good once", async () => {
    await using auth = await startAuthorizationServer({ dpop: "required" });
    const headers = await proofFor(auth, await DpopSession.create());
    expect((await signInByHand(auth.issuer, { headers })).reply.status).toBe(200);
    const { reply } = await signInByHand(auth.issuer, { headers });
    expect(reply).toMatchObject(refusal("invalid_dpop_proof"));
  });

  it("needs the server's nonce where it gives one, and the new one after it changed", async () => {
    await using auth = await startAuthorizationServer({ dpop: "required", dpopNonce: true });
    const session = await DpopSession.create();
    const signIn = async (change?: Partial<DpopProofRequest>) => {
      const headers = await proofFor(auth, session, change);
      return (await signInByHand(auth.issuer, { headers })).reply;
    };
    const first = await signIn();
    expect(first).toMatchObject(refusal("use_dpop_nonce"));
    const nonce = first.headers.get("dpop-nonce") ?? "";
    expect(await signIn({ nonce: "wrong" })).toMatchObject(refusal("use_dpop_nonce"));
    expect(await signIn({ nonce })).toMatchObject({ status: 200 });
    auth.renewNonces();
    const stale = await signIn({ nonce });
    expect(stale).toMatchObject(refusal("use_dpop_nonce"));
    expect(stale.headers.get("dpop-nonce")).not.toBe(nonce);
  });

  it("renews a bound refresh token with the same key only, and keeps a code to its key", async () => {
    await using auth = await startAuthorizationServer({ dpop: "required" });
    const [owner, thief] = [await DpopSession.create(), await DpopSession.create()];
    const { client, refreshToken } = await signInByHand(auth.issuer, {
      headers: await proofFor(auth, owner),
    });
    const renew = async (session: DpopSession) => {
      const asked = { grant_type: "refresh_token", refresh_token: refreshToken };
      return await askToken(auth.issuer, client, asked, await proofFor(auth, session));
    };
    expect(await renew(thief)).toMatchObject(refusal("invalid_dpop_proof"));
    expect(await renew(owner)).toMatchObject({ status: 200, body: { token_type: "DPoP" } });
    const stolen = await signInByHand(auth.issuer, {
      authorize: { dpop_jkt: owner.thumbprint },
      headers: await proofFor(auth, thief),
    });
    expect(stolen.reply).toMatchObject(refusal("invalid_dpop_proof"));
  });
});

describe("a proof at a protected server", () => {
  it("is needed for a bound token, for this request and this token", async () => {
    await using auth = await startAuthorizationServer({ dpop: "required" });
    await using server = await serveProtected(createTestServer(), { authorization: auth });
    const [owner, thief] = [await DpopSession.create(), await DpopSession.create()];
    const { accessToken } = await signInByHand(auth.issuer, {
      resource: server.url,
      headers: await proofFor(auth, owner),
    });
    const authorization = `DPoP ${accessToken}`;
    const right = { htm: "POST", htu: server.url, accessToken } as const;
    const send = async (session: DpopSession, request: DpopProofRequest) =>
      await call(server.url, { authorization, dpop: await session.buildProof(request) });

    expect(await send(owner, right)).toMatchObject({ status: 200 });
    const wrong = [
      await send(owner, { htm: "POST", htu: server.url }),
      await send(owner, { ...right, accessToken: "another" }),
      await send(owner, { ...right, htm: "GET" }),
      await send(owner, { ...right, htu: auth.issuer }),
      await call(server.url, { authorization }),
    ];
    for (const { status, challenge } of wrong) {
      expect(status).toBe(401);
      expect(challenge).toMatch(/^DPoP .*error="invalid_dpop_proof"/);
    }
    expect(await send(thief, right)).toMatchObject({
      status: 401,
      challenge: expect.stringContaining('error="invalid_token"') as unknown,
    });
    const asBearer = { authorization: `Bearer ${accessToken}` };
    expect((await call(server.url, asBearer)).status).toBe(401);
    const dpop = await owner.buildProof(right);
    expect((await call(server.url, { ...asBearer, dpop })).status).toBe(401);
    const proof = await owner.buildProof(right);
    const twice = [1, 2].map(() => call(server.url, { authorization, dpop: proof }));
    const statuses = (await Promise.all(twice)).map(({ status }) => status);
    expect(new Set(statuses)).toEqual(new Set([200, 401]));
  });

  it("does not make a bearer token a bound one", async () => {
    await using auth = await startAuthorizationServer({ dpop: "optional" });
    await using server = await serveProtected(createTestServer(), { authorization: auth });
    const { accessToken } = await signInByHand(auth.issuer, { resource: server.url });
    const session = await DpopSession.create();
    const dpop = await session.buildProof({ htm: "POST", htu: server.url, accessToken });
    const asBound = await call(server.url, { authorization: `DPoP ${accessToken}`, dpop });
    expect(asBound.status).toBe(401);
    expect(asBound.challenge).toMatch(/^Bearer .*, DPoP .*algs="ES256 /);
    const asBearer = await call(server.url, { authorization: `Bearer ${accessToken}` });
    expect(asBearer.status).toBe(200);
  });

  it("needs the nonce of that server, which is not that of the authorization server", async () => {
    await using auth = await startAuthorizationServer({ dpop: "required", dpopNonce: true });
    await using server = await serveProtected(createTestServer(), { authorization: auth });
    const session = await DpopSession.create();
    const challenged = await signInByHand(auth.issuer, { headers: await proofFor(auth, session) });
    const tokenNonce = challenged.reply.headers.get("dpop-nonce") ?? "";
    const { accessToken } = await signInByHand(auth.issuer, {
      resource: server.url,
      headers: await proofFor(auth, session, { nonce: tokenNonce }),
    });
    const send = async (nonce: string) => {
      const dpop = await session.buildProof({ htm: "POST", htu: server.url, accessToken, nonce });
      return await call(server.url, { authorization: `DPoP ${accessToken}`, dpop });
    };
    const refused = await send(tokenNonce);
    expect(refused).toMatchObject({ status: 401 });
    expect(refused.challenge).toContain('error="use_dpop_nonce"');
    expect(await send(refused.nonce ?? "")).toMatchObject({ status: 200, nonce: refused.nonce });
  });

  it.each([false, true])("is made by the SDK's own client (nonce %s)", async (dpopNonce) => {
    await using auth = await startAuthorizationServer({ dpop: "required", dpopNonce });
    await using server = await serveProtected(createTestServer(), { authorization: auth });
    const session = await DpopSession.create();
    const provider = Object.assign(new SdkProvider(), { dpop: () => session });
    await signInWithSdk(provider, { serverUrl: server.url });
    const authorizationCode = provider.callback?.get("code") ?? "";
    const iss = provider.callback?.get("iss") ?? "";
    await signInWithSdk(provider, { serverUrl: server.url, authorizationCode, iss });
    const client = new Client({ name: "oracle", version: "1" });
    const transport = new StreamableHTTPClientTransport(new URL(server.url), {
      authProvider: provider,
    });
    await client.connect(transport);
    expect((await client.listTools()).tools).not.toEqual([]);
    await client.close();
  });
});
