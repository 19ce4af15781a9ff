import { createPrivateKey } from "node:crypto";

import type {
  AddClientAuthentication,
  AuthorizationServerMetadata,
  DpopSession,
  OAuthClientProvider,
  OAuthTokens,
} from "@modelcontextprotocol/client";

import type { ClientAuthMethod } from "../../config/keys/server-config.ts";
import { createError } from "../../errors/families.ts";
import { McpError } from "../../errors/mcp-error.ts";
import { isJsonObject } from "../../text/json-object.ts";
import { refusalError } from "../auth-error.ts";
import type { SignedInClient } from "../sign-in-record.ts";
import type { SignInSettings } from "../sign-in-settings.ts";
import { hostOf, isSameIssuer, type TokenIssuer } from "./discover.ts";
import type { OAuthHttp } from "./oauth-http.ts";
import { loadOAuth, type OAuthSdk } from "./oauth-sdk.ts";

/** One request for tokens. */
export interface TokenRequest {
  readonly settings: SignInSettings;
  readonly issuer: Pick<TokenIssuer, "issuer" | "metadata">;
  readonly client: SignedInClient;
  /** What the tokens are for (RFC 8707). */
  readonly resource: string | undefined;
  /** The grant and what belongs to it. */
  readonly params: Readonly<Record<string, string>>;
  readonly http: OAuthHttp;
  /** The key that the tokens are bound to. */
  readonly dpop?: DpopSession | undefined;
}

/** Asks the issuer for tokens. Whatever else it answers is thrown as an error of sign-in. */
export async function requestTokens(request: TokenRequest): Promise<OAuthTokens> {
  const { settings, issuer, resource, http } = request;
  const { serverName } = settings;
  const host = hostOf(issuer.metadata.token_endpoint);
  const sdk = await loadOAuth();
  try {
    const tokens = await sdk.fetchToken(providerFor(request, sdk), issuer.issuer, {
      metadata: issuer.metadata,
      fetchFn: http.fetch,
      ...(resource === undefined ? {} : { resource }),
    });
    return checkTokens(tokens, host, serverName);
  } catch (cause) {
    if (McpError.is(cause)) throw cause;
    const { lastStatus = 0 } = http;
    // A server in trouble answers with a page, which the SDK words as an error of OAuth, too.
    if (cause instanceof sdk.OAuthError && lastStatus < 500) {
      const { code: error, message } = cause;
      // For an answer that is no error of OAuth the SDK makes one, with all of the answer in it.
      const description = error === "server_error" ? `HTTP ${lastStatus}` : message;
      throw refusalError({ error, description, host, what: "a token" }, serverName, { cause });
    }
    const code = lastStatus >= 500 ? "auth_endpoint_unreachable" : "auth_failed";
    const message = `${host} gave no token that can be used (HTTP ${lastStatus})`;
    throw createError(code, message, { serverName, details: { host, status: lastStatus }, cause });
  }
}

/**
 * Asks the identity provider of a company for the assertion by which the issuer lets its user in (enterprise-managed
 * authorization): nobody is asked, because the company has decided.
 */
export async function requestEnterpriseAssertion(
  settings: SignInSettings,
  issuer: TokenIssuer,
  scope: string | undefined,
  http: OAuthHttp,
): Promise<string> {
  const { serverName, oauth, url } = settings;
  const { identityProvider = "", idToken = "", idpClientId = "", idpClientSecret } = oauth;
  const sdk = await loadOAuth();
  try {
    const { jwtAuthGrant } = await sdk.requestJwtAuthorizationGrant({
      tokenEndpoint: await assertionEndpoint(settings, sdk, http),
      audience: issuer.issuer,
      resource: issuer.resource ?? url.href,
      idToken,
      clientId: idpClientId,
      ...(idpClientSecret === undefined ? {} : { clientSecret: idpClientSecret }),
      ...(scope === undefined ? {} : { scope }),
      fetchFn: http.fetch,
    });
    return jwtAuthGrant;
  } catch (cause) {
    if (McpError.is(cause)) throw cause;
    const { lastStatus = 0 } = http;
    const host = hostOf(identityProvider);
    throw createError("auth_failed", `${host} refused to vouch for you (HTTP ${lastStatus})`, {
      serverName,
      hint: "check idToken, idpClientId and idpClientSecret in the entry: a token of the identity provider lasts only for a while",
      details: { host, status: lastStatus },
      cause,
    });
  }
}

/**
 * Where an identity provider gives assertions. Its description is read for that alone: not every provider lists all
 * that the SDK wants to see of one that people sign in to with a browser.
 */
async function assertionEndpoint(
  { oauth, serverName }: SignInSettings,
  sdk: OAuthSdk,
  http: OAuthHttp,
): Promise<string> {
  const { identityProvider = "" } = oauth;
  const places = URL.canParse(identityProvider) ? sdk.buildDiscoveryUrls(identityProvider) : [];
  for (const { url } of places) {
    const response = await http.fetch(url, { headers: { accept: "application/json" } });
    const described: unknown = await response.json().catch(() => undefined);
    if (!response.ok || !isJsonObject(described)) continue;
    const { issuer, token_endpoint: endpoint } = described;
    if (typeof issuer !== "string" || !isSameIssuer(issuer, identityProvider)) continue;
    if (typeof endpoint === "string" && URL.canParse(endpoint)) return endpoint;
  }
  const message = `${hostOf(identityProvider)} does not describe itself as the identity provider that the entry names`;
  throw createError("auth_failed", message, {
    serverName,
    hint: "check identityProvider in the entry: it must be the issuer of idToken",
  });
}

/** Gives a token back (RFC 7009); throws when the issuer did not take it. */
export async function revokeToken(
  request: Omit<TokenRequest, "resource" | "params">,
  endpoint: string,
  token: string,
  kind: "access_token" | "refresh_token",
): Promise<void> {
  const sdk = await loadOAuth();
  const { metadata } = request.issuer;
  const headers = new Headers({ "content-type": "application/x-www-form-urlencoded" });
  const params = new URLSearchParams({ token, token_type_hint: kind });
  await clientAuthentication(request, sdk)(headers, params, endpoint, metadata);
  const { status } = await request.http.fetch(endpoint, { method: "POST", headers, body: params });
  if (status < 300) return;
  const { serverName } = request.settings;
  const message = `${hostOf(endpoint)} did not take the token back (HTTP ${status})`;
  throw createError("auth_failed", message, { serverName, details: { status } });
}

function unused(): never {
  throw new Error("a request for tokens needs nothing else");
}

/** The SDK asks a provider for whatever it needs: for a request of tokens that is the client and the grant. */
function providerFor(request: TokenRequest, sdk: OAuthSdk): OAuthClientProvider {
  const { client, issuer, params, dpop } = request;
  return {
    redirectUrl: undefined,
    clientMetadata: { redirect_uris: [] },
    clientInformation: () => ({ client_id: client.id, issuer: issuer.issuer }),
    tokens: () => undefined,
    saveTokens: unused,
    redirectToAuthorization: unused,
    saveCodeVerifier: unused,
    codeVerifier: unused,
    prepareTokenRequest: () => new URLSearchParams({ ...params }),
    addClientAuthentication: clientAuthentication(request, sdk),
    ...(dpop === undefined ? {} : { dpop: () => dpop }),
  };
}

/**
 * Shows who the client is, by the method that it was registered for or that the issuer supports. The SDK's own way
 * leaves out the encoding that RFC 6749 demands of a secret in a header.
 */
function clientAuthentication(
  { client, settings }: Pick<TokenRequest, "client" | "settings">,
  sdk: OAuthSdk,
): AddClientAuthentication {
  return async (headers, params, url, metadata) => {
    const { id, secret } = client;
    switch (authMethodOf(client, metadata)) {
      case "private_key_jwt":
        params.set("client_id", id);
        await sdk.createPrivateKeyJwtAuth({
          issuer: id,
          subject: id,
          ...signingKey(settings),
        })(headers, params, url, metadata);
        return;
      case "client_secret_basic":
        if (secret === undefined) break;
        headers.set("authorization", `Basic ${btoa(`${formEncoded(id)}:${formEncoded(secret)}`)}`);
        return;
      case "client_secret_post":
        if (secret !== undefined) params.set("client_secret", secret);
        break;
      case "none":
    }
    params.set("client_id", id);
  };
}

/** The method by which a client shows who it is: its own, else one that the issuer supports. */
export function authMethodOf(
  { authMethod, secret }: SignedInClient,
  metadata: AuthorizationServerMetadata | undefined,
): ClientAuthMethod {
  if (authMethod !== undefined) return authMethod;
  if (secret === undefined) return "none";
  const supported = metadata?.token_endpoint_auth_methods_supported ?? [];
  const isBasic = supported.length === 0 || supported.includes("client_secret_basic");
  return isBasic ? "client_secret_basic" : "client_secret_post";
}

function formEncoded(text: string): string {
  return new URLSearchParams({ "": text }).toString().slice(1);
}

const curveAlgorithms: Readonly<Record<string, string>> = {
  prime256v1: "ES256",
  secp384r1: "ES384",
  secp521r1: "ES512",
};

/** The key of the entry and the algorithm that it signs with; both decide what the issuer can check. */
function signingKey({ oauth, serverName }: SignInSettings): {
  readonly privateKey: string;
  readonly alg: string;
} {
  const { privateKey = "" } = oauth;
  try {
    const key = createPrivateKey(privateKey);
    const curve = key.asymmetricKeyDetails?.namedCurve ?? "";
    const alg = key.asymmetricKeyType === "rsa" ? "RS256" : curveAlgorithms[curve];
    if (alg !== undefined)
      return { privateKey: key.export({ type: "pkcs8", format: "pem" }).toString(), alg };
  } catch {
    // Nothing of a key may get into a message.
  }
  throw createError("config_invalid", '"auth.privateKey" is no private key that can sign', {
    serverName,
    hint: "it must be an RSA or an elliptic key (P-256, P-384, P-521) in PEM",
  });
}

const maxTokenChars = 64 * 1_024;
const sendable = /^[\u0021-\u007E]+$/;

/** Refuses tokens that no header can carry: nothing of such an answer is kept. */
function checkTokens(tokens: OAuthTokens, host: string, serverName: string): OAuthTokens {
  const { access_token: access, refresh_token: refresh, token_type: type } = tokens;
  const isSendable = (token: string): boolean =>
    token.length <= maxTokenChars && sendable.test(token);
  const isUsable =
    isSendable(access) &&
    (refresh === undefined || refresh.length <= maxTokenChars) &&
    /^(?:bearer|dpop)$/i.test(type);
  if (isUsable) return tokens;
  throw createError("auth_failed", `${host} gave a token that cannot be sent; nothing was kept`, {
    serverName,
    hint: "ask who runs the server",
  });
}
