import { randomUUID } from "node:crypto";

import type { JsonObject } from "../../text/json-object.ts";
import { attackTokenRequest, attackTokens } from "./attacks.ts";
import { type GrantType, type TrustedIssuer, grantTypes } from "./authorization-options.ts";
import type { AuthorizationSite } from "./authorization-site.ts";
import { checkResource, grantScopes } from "./authorize-endpoint.ts";
import type { ServerClient } from "./client-registry.ts";
import {
  type ArrivedRequest,
  type Refusal,
  isForm,
  isRefusal,
  membersOf,
  refusalResponse,
  refuse,
  uncached,
} from "./oauth-answer.ts";
import { type ReadJwt, isSignedBy, readJwt } from "./signed-jwt.ts";
import { type IssueOptions, type TokenGrant, challengeOf, newToken } from "./token-book.ts";

interface TokenRequest {
  readonly form: Readonly<Record<string, string>>;
  readonly client: ServerClient;
  /** The key the client proved to have. */
  readonly provenKey: string | undefined;
}

type TokenAnswer = JsonObject | Refusal;

export interface TokenResponse {
  readonly response: Response;
  /** Set when the request was refused. */
  readonly error?: string | undefined;
}

/** The token endpoint: one grant becomes tokens, or an error in the words of OAuth. */
export function answerToken(site: AuthorizationSite, arrived: ArrivedRequest): TokenResponse {
  const attacked = attackTokenRequest(site.attack, site.trapUrl);
  if (attacked !== undefined) return { response: attacked };
  const answer = exchange(site, arrived);
  if (isRefusal(answer)) return { response: refusalResponse(answer), error: answer.error };
  const sent = attackTokens(site.attack, answer);
  const { nonce } = site.proofs;
  const headers = { ...uncached, ...(nonce !== undefined && { "dpop-nonce": nonce }) };
  if (site.options.answers !== "form") return { response: Response.json(sent, { headers }) };
  const form = new URLSearchParams(
    Object.entries(sent).map(([name, value]): [string, string] => [name, String(value)]),
  );
  return { response: new Response(form, { headers }) };
}

/** Which grant a request is for, as far as this server knows it. */
export function grantTypeOf(arrived: ArrivedRequest): GrantType | undefined {
  const asked = membersOf(arrived)["grant_type"];
  return grantTypes.find((grant) => grant === asked);
}

function exchange(site: AuthorizationSite, arrived: ArrivedRequest): TokenAnswer {
  if (arrived.method !== "POST" || !isForm(arrived.headers))
    return refuse("invalid_request", "The request must be a POST of a form.");
  const form = membersOf(arrived) as Readonly<Record<string, string>>;
  const grantType = grantTypeOf(arrived);
  if (form["grant_type"] === undefined) return refuse("invalid_request", "grant_type is missing.");
  if (grantType === undefined || !site.grants.includes(grantType))
    return refuse("unsupported_grant_type", "This server does not know the grant.");
  const provenKey = proveKey(site, arrived);
  if (provenKey !== undefined && isRefusal(provenKey)) return provenKey;
  const client = authenticate(site, arrived, grantType);
  if (isRefusal(client)) return client;
  return exchanges[grantType](site, { form, client, provenKey: provenKey?.thumbprint });
}

function proveKey(
  site: AuthorizationSite,
  { headers, method }: ArrivedRequest,
): ReturnType<AuthorizationSite["proofs"]["check"]> | undefined {
  const { dpop = "off" } = site.options;
  const proof = headers["dpop"];
  if (dpop === "off" || (proof === undefined && dpop === "optional")) return undefined;
  if (proof === undefined) return refuse("invalid_dpop_proof", "The DPoP proof is missing.");
  return site.proofs.check({ proof, method, url: `${site.issuer}/token` });
}

function authenticate(
  site: AuthorizationSite,
  arrived: ArrivedRequest,
  grantType: GrantType,
): ServerClient | Refusal {
  const { authorization } = arrived.headers;
  const form = membersOf(arrived);
  const isNamed = authorization !== undefined || "client_id" in form || "client_assertion" in form;
  // The assertion of this grant says who asks, so that a client need not say it again (RFC 7521).
  if (grantType === jwtBearer && !isNamed)
    return { clientId: "", redirectUris: [], authMethod: "none" };
  const audiences = [site.issuer, `${site.issuer}/token`];
  return site.clients.authenticate({ authorization, form, audiences });
}

const jwtBearer = "urn:ietf:params:oauth:grant-type:jwt-bearer";
const tokenExchange = "urn:ietf:params:oauth:grant-type:token-exchange";

const exchanges: Readonly<
  Record<GrantType, (site: AuthorizationSite, request: TokenRequest) => TokenAnswer>
> = {
  authorization_code: exchangeCode,
  refresh_token: refreshTokens,
  client_credentials: giveToClient,
  [jwtBearer]: takeAssertion,
  [tokenExchange]: giveAssertion,
};

function exchangeCode(
  site: AuthorizationSite,
  { form, client, provenKey }: TokenRequest,
): TokenAnswer {
  const taken = site.tokens.takeCode(form["code"] ?? "");
  if (isRefusal(taken)) return taken;
  const { grant, redirectUri, challenge } = taken.terms;
  if (grant.clientId !== client.clientId)
    return refuse("invalid_grant", "The code was given to another client.");
  if (form["redirect_uri"] !== redirectUri)
    return refuse("invalid_grant", "The redirect_uri is not that of the authorization request.");
  const verifier = form["code_verifier"];
  if (
    site.pkce !== "missing" &&
    (verifier === undefined || challengeOf(verifier, site.pkce) !== challenge)
  )
    return refuse("invalid_grant", "The code_verifier does not fit the code_challenge.");
  const refusal = checkResource(site, form["resource"]);
  if (refusal !== undefined) return refusal;
  if (form["resource"] !== undefined && form["resource"] !== grant.resource)
    return refuse("invalid_target", "The resource is not that of the authorization request.");
  if (grant.boundTo !== undefined && grant.boundTo !== provenKey)
    return refuse("invalid_dpop_proof", "The code is bound to another key.");
  return give(site, { ...grant, boundTo: provenKey, family: taken.family }, { canRefresh: true });
}

function refreshTokens(
  site: AuthorizationSite,
  { form, client, provenKey }: TokenRequest,
): TokenAnswer {
  const from = form["refresh_token"] ?? "";
  const grant = site.tokens.takeRefreshToken(from, client.clientId);
  if (isRefusal(grant)) return grant;
  if (grant.boundTo !== undefined && grant.boundTo !== provenKey)
    return refuse("invalid_dpop_proof", "The refresh token is bound to another key.");
  if (form["resource"] !== undefined && form["resource"] !== grant.resource)
    return refuse("invalid_target", "The resource is not that of the grant.");
  const asked = form["scope"]?.split(" ") ?? grant.scopes;
  if (!asked.every((scope) => grant.scopes.includes(scope)))
    return refuse("invalid_scope", "A refresh cannot add scopes.");
  return give(site, grant, { canRefresh: true, from, scopes: asked });
}

function giveToClient(
  site: AuthorizationSite,
  { form, client, provenKey }: TokenRequest,
): TokenAnswer {
  if (client.authMethod === "none")
    return refuse(
      "unauthorized_client",
      "Only a client that proves itself gets tokens of its own.",
    );
  const scopes = grantScopes(site, form["scope"]);
  if (isRefusal(scopes)) return scopes;
  const { resource } = form;
  const refusal = checkResource(site, resource);
  if (refusal !== undefined) return refusal;
  const grant = { clientId: client.clientId, scopes, resource, boundTo: provenKey };
  return give(site, { ...grant, family: newToken("family") }, { canRefresh: false });
}

/** A JWT of a trusted issuer becomes a token (RFC 7523, and ID-JAG of the enterprise extension). */
function takeAssertion(
  site: AuthorizationSite,
  { form, client, provenKey }: TokenRequest,
): TokenAnswer {
  const jwt = readJwt(form["assertion"] ?? "");
  if (jwt === undefined) return refuse("invalid_grant", "The assertion is no JWT.");
  const refusal = checkAssertion(site, jwt);
  if (refusal !== undefined) return refusal;
  const { claims, header } = jwt;
  if (header["typ"] === idJagType && claims["client_id"] !== client.clientId)
    return refuse("invalid_grant", "The assertion was given to another client.");
  const claimed = typeof claims["resource"] === "string" ? claims["resource"] : undefined;
  const resource = form["resource"] ?? claimed;
  if (claimed !== undefined && resource !== claimed)
    return refuse("invalid_target", "The assertion is for another resource.");
  const badResource = checkResource(site, resource);
  if (badResource !== undefined) return badResource;
  const claimedScope = typeof claims["scope"] === "string" ? claims["scope"] : undefined;
  const scopes = grantScopes(site, form["scope"] ?? claimedScope);
  if (isRefusal(scopes)) return scopes;
  const clientId = client.clientId === "" ? String(claims["sub"]) : client.clientId;
  const grant = { clientId, scopes, resource, boundTo: provenKey, family: newToken("family") };
  return give(site, grant, { canRefresh: false });
}

const idJagType = "oauth-id-jag+jwt";

function checkAssertion(site: AuthorizationSite, jwt: ReadJwt): Refusal | undefined {
  const { iss, sub, aud, exp, jti } = jwt.claims;
  const trusted = (site.options.trustedIssuers ?? []).find(({ issuer }) => issuer === iss);
  if (trusted === undefined || !isSignedBy(jwt, trusted.publicKey))
    return refuse("invalid_grant", "The assertion is not signed by a trusted issuer.");
  const audiences = new Set<unknown>([site.issuer, `${site.issuer}/token`]);
  if (![aud].flat().some((each) => audiences.has(each)))
    return refuse("invalid_grant", "The assertion is for another server.");
  if (typeof sub !== "string") return refuse("invalid_grant", "The assertion has no subject.");
  if (typeof exp !== "number" || exp * 1_000 <= site.clock.now())
    return refuse("invalid_grant", "The assertion has expired.");
  if (typeof jti === "string") {
    if (site.usedAssertions.has(jti))
      return refuse("invalid_grant", "The assertion was used before.");
    site.usedAssertions.add(jti);
  }
  return undefined;
}

/** An identity token of this server becomes an assertion for another one (RFC 8693). */
function giveAssertion(site: AuthorizationSite, { form, client }: TokenRequest): TokenAnswer {
  if (form["requested_token_type"] !== "urn:ietf:params:oauth:token-type:id-jag")
    return refuse("invalid_request", "Only the token type id-jag can be asked for.");
  if (form["subject_token_type"] !== "urn:ietf:params:oauth:token-type:id_token")
    return refuse("invalid_request", "The subject token must be an id_token.");
  const { audience, resource, scope } = form;
  if (audience === undefined) return refuse("invalid_target", "The audience is missing.");
  const jwt = readJwt(form["subject_token"] ?? "");
  const self: TrustedIssuer = { issuer: site.issuer, publicKey: site.key.publicKey };
  const isOwn = jwt?.claims["iss"] === self.issuer && isSignedBy(jwt, self.publicKey);
  if (!isOwn) return refuse("invalid_grant", "The subject token is not of this server.");
  const now = Math.floor(site.clock.now() / 1_000);
  const assertion = site.key.sign(
    {
      iss: site.issuer,
      sub: jwt.claims["sub"],
      aud: audience,
      client_id: client.clientId,
      ...(resource !== undefined && { resource }),
      ...(scope !== undefined && { scope }),
      iat: now,
      exp: now + assertionSeconds,
      jti: randomUUID(),
    },
    idJagType,
  );
  return {
    issued_token_type: "urn:ietf:params:oauth:token-type:id-jag",
    access_token: assertion,
    token_type: "N_A",
    expires_in: assertionSeconds,
  };
}

const assertionSeconds = 300;

function give(site: AuthorizationSite, grant: TokenGrant, how: IssueOptions): JsonObject {
  const { scopes = ["mcp"], tokenLifetimeMs = 3_600_000, expiresIn = true } = site.options;
  const isOffline = !scopes.includes("offline_access") || grant.scopes.includes("offline_access");
  const canRefresh = how.canRefresh && isOffline && site.grants.includes("refresh_token");
  const { accessToken, refreshToken } = site.tokens.issue(grant, { ...how, canRefresh });
  return {
    access_token: accessToken,
    token_type: grant.boundTo === undefined ? "Bearer" : "DPoP",
    ...(expiresIn && { expires_in: Math.floor(tokenLifetimeMs / 1_000) }),
    ...(refreshToken !== undefined && { refresh_token: refreshToken }),
    scope: (how.scopes ?? grant.scopes).join(" "),
  };
}
