import { generateKeyPairSync, type KeyObject } from "node:crypto";

import { describe, expect, it } from "vitest";

import { settingsFor, toolsWith } from "../../../tests/fixtures/oauth/opened-sign-in.ts";
import type { ClientAuthMethod, OAuthConfig } from "../../config/keys/server-config.ts";
import { type AuthorizationServerOptions, startAuthorizationServer } from "../../testing/index.ts";
import { createDpopKey } from "./dpop.ts";
import { OAuthHttp } from "./oauth-http.ts";
import { authMethodOf, requestTokens, revokeToken, type TokenRequest } from "./token-requests.ts";

/** Characters that forms, headers and URLs each treat in a way of their own. */
const awkward = "a+b/c=:d é%20&?#~ü\u{1f511}";

async function open(options: AuthorizationServerOptions, oauth: Partial<OAuthConfig<string>> = {}) {
  const auth = await startAuthorizationServer({
    grants: ["client_credentials", "refresh_token"],
    resource: "optional",
    ...options,
  });
  const settings = settingsFor(`${auth.url}/mcp`, oauth);
  const request: Omit<TokenRequest, "client"> = {
    settings,
    issuer: {
      issuer: auth.issuer,
      metadata: {
        issuer: auth.issuer,
        authorization_endpoint: `${auth.issuer}/authorize`,
        token_endpoint: `${auth.issuer}/token`,
        response_types_supported: ["code"],
      },
    },
    resource: undefined,
    params: { grant_type: "client_credentials" },
    http: new OAuthHttp(settings, toolsWith()),
  };
  return { auth, request, [Symbol.asyncDispose]: () => auth.close() };
}

describe("a client shows who it is", () => {
  it.each<[ClientAuthMethod, string]>([
    ["client_secret_basic", awkward],
    ["client_secret_post", awkward],
    ["client_secret_basic", "plain"],
    ["client_secret_basic", ":"],
  ])("AUT-14: by %s, whatever its secret is made of: %s", async (authMethod, clientSecret) => {
    const clients = [{ clientId: "by:hand é", clientSecret, authMethod }];
    await using place = await open({ clients });
    const client = { id: "by:hand é", secret: clientSecret, authMethod };
    expect(await requestTokens({ ...place.request, client })).toHaveProperty("access_token");
    const [sent] = place.auth.requests;
    // It shows its secret in one way, and in no address.
    expect(sent?.query).toEqual({});
    const isPosted = JSON.stringify(sent?.body).includes("client_secret");
    expect([isPosted, "authorization" in (sent?.headers ?? {})]).toEqual(
      authMethod === "client_secret_post" ? [true, false] : [false, true],
    );
  });

  it.each([
    [
      "ES256",
      (): { privateKey: KeyObject; publicKey: KeyObject } =>
        generateKeyPairSync("ec", { namedCurve: "P-256" }),
    ],
    ["ES384", () => generateKeyPairSync("ec", { namedCurve: "P-384" })],
    ["ES512", () => generateKeyPairSync("ec", { namedCurve: "P-521" })],
    ["RS256", () => generateKeyPairSync("rsa", { modulusLength: 2_048 })],
  ] as const)("AUT-14: by a signature with its private key (%s)", async (algorithm, createKeys) => {
    const { privateKey, publicKey } = createKeys();
    const pem = publicKey.export({ type: "spki", format: "pem" }).toString();
    const clients = [{ clientId: "keyed", authMethod: "private_key_jwt", publicKey: pem } as const];
    const secret = privateKey.export({ type: "pkcs8", format: "pem" }).toString();
    await using place = await open({ clients }, { privateKey: secret });
    const client = { id: "keyed", secret: undefined, authMethod: "private_key_jwt" } as const;
    expect(await requestTokens({ ...place.request, client })).toHaveProperty("access_token");
    const [sent] = place.auth.requests;
    const { client_assertion: assertion = "" } = (sent?.body ?? {}) as Record<string, string>;
    const header: unknown = JSON.parse(
      Buffer.from(assertion.split(".")[0] ?? "", "base64url").toString(),
    );
    expect(header).toMatchObject({ alg: algorithm });
  });

  it.each(["", "-----BEGIN PRIVATE KEY-----\nMIIcanary\n-----END PRIVATE KEY-----", "canary"])(
    "AUT-09: a key that cannot sign is told as such, and nothing of it (%#)",
    async (privateKey) => {
      await using place = await open({}, { privateKey });
      const client = { id: "keyed", secret: undefined, authMethod: "private_key_jwt" } as const;
      const failure: unknown = await requestTokens({ ...place.request, client }).catch(
        (error: unknown) => error,
      );
      expect(failure).toMatchObject({ code: "config_invalid" });
      expect(JSON.stringify(failure)).not.toContain("canary");
      expect(place.auth.requests).toEqual([]);
    },
  );

  it("AUT-14: by the method it was registered for, else by one that the issuer supports", () => {
    const metadata = (methods: string[]) =>
      ({ token_endpoint_auth_methods_supported: methods }) as unknown as Parameters<
        typeof authMethodOf
      >[1];
    const client = { id: "c", secret: "s", authMethod: undefined };
    expect(authMethodOf({ ...client, authMethod: "client_secret_post" }, metadata([]))).toBe(
      "client_secret_post",
    );
    expect(authMethodOf({ ...client, secret: undefined }, metadata([]))).toBe("none");
    expect(authMethodOf(client, undefined)).toBe("client_secret_basic");
    expect(authMethodOf(client, metadata(["client_secret_post"]))).toBe("client_secret_post");
    expect(authMethodOf(client, metadata(["client_secret_post", "client_secret_basic"]))).toBe(
      "client_secret_basic",
    );
  });
});

describe("tokens", () => {
  const clients = [{ clientId: "c", clientSecret: "s" }];
  const client = { id: "c", secret: "s", authMethod: undefined };

  it("AUT-14: are bound to a key, with the nonce that the issuer wants", async () => {
    await using place = await open({ clients, dpop: "required", dpopNonce: true });
    const { session } = await createDpopKey();
    const tokens = await requestTokens({ ...place.request, client, dpop: session });
    expect(tokens.token_type).toMatch(/^dpop$/i);
    expect(place.auth.verify(tokens.access_token)).toMatchObject({
      isValid: true,
      boundTo: expect.any(String) as string,
    });
  });

  it.each([
    ["token-junk-crlf", "auth_failed"],
    ["token-junk-type", "auth_failed"],
    ["token-junk-object", "auth_failed"],
    ["token-error-html", "auth_endpoint_unreachable"],
  ] as const)("G8: that no header can carry are refused: %s", async (attack, code) => {
    await using place = await open({ clients, attack });
    const failure: unknown = await requestTokens({ ...place.request, client }).catch(
      (error: unknown) => error,
    );
    expect(failure).toMatchObject({ code });
    expect(JSON.stringify(failure)).not.toMatch(/access-|X-Injected|<script/);
  });

  it("AUT-09: that are refused name who refused and why", async () => {
    await using place = await open({ clients });
    await expect(
      requestTokens({ ...place.request, client: { ...client, secret: "wrong" } }),
    ).rejects.toMatchObject({
      code: "auth_client_rejected",
      details: { oauthError: "invalid_client" },
    });
    const params = { grant_type: "refresh_token", refresh_token: "unknown" };
    await expect(requestTokens({ ...place.request, client, params })).rejects.toMatchObject({
      details: { oauthError: "invalid_grant" },
    });
  });

  it("are given back, and an issuer that does not take them is told of", async () => {
    await using place = await open({ clients });
    const { access_token: token } = await requestTokens({ ...place.request, client });
    const request = { ...place.request, client };
    const endpoint = `${place.auth.issuer}/revoke`;
    await revokeToken(request, endpoint, token, "access_token");
    expect(place.auth.isTokenValid(token)).toBe(false);
    await expect(
      revokeToken(request, `${place.auth.issuer}/nowhere`, token, "access_token"),
    ).rejects.toMatchObject({ code: "auth_failed", details: { status: 404 } });
  });
});
