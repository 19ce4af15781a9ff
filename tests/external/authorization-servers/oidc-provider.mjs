import { createHash, generateKeyPairSync } from "node:crypto";
import { once } from "node:events";
import { createServer } from "node:http";

import { Provider } from "oidc-provider";

/** The server that asks whether a token is good. */
const checker = { id: "resource-server", secret: "checker-s3cret" };

const person = "ada@example.com";
const personGrants = {
  application_type: "native",
  redirect_uris: ["http://127.0.0.1/callback"],
  grant_types: ["authorization_code", "refresh_token"],
  response_types: ["code"],
};
const machineGrants = {
  redirect_uris: [],
  response_types: [],
  grant_types: ["client_credentials"],
};

/**
 * `oidc-provider` on a free port, with everybody agreeing to everything.
 *
 * @param {{
 *   tokenSeconds?: number,
 *   hasRegistration?: boolean,
 *   needsDpop?: boolean,
 *   robotKey?: import("node:crypto").JsonWebKey,
 * }} [options]
 */
export async function startOidcProvider(options = {}) {
  const { tokenSeconds = 3_600, hasRegistration = true, needsDpop = false, robotKey } = options;
  const server = createServer();
  await once(server.listen(0, "127.0.0.1"), "listening");
  const address = /** @type {import("node:net").AddressInfo} */ (server.address());
  const issuer = `http://127.0.0.1:${address.port}`;
  const signing = generateKeyPairSync("rsa", { modulusLength: 2_048 }).privateKey;
  const bound = { dpop_bound_access_tokens: needsDpop };
  const provider = new Provider(issuer, {
    clients: [
      { client_id: "header", client_secret: "header-s3cret", ...personGrants, ...bound },
      {
        client_id: "body",
        client_secret: "body-s3cret",
        token_endpoint_auth_method: "client_secret_post",
        ...personGrants,
      },
      { client_id: "public", token_endpoint_auth_method: "none", ...personGrants },
      { client_id: "robot", client_secret: "robot-s3cret", ...machineGrants },
      {
        client_id: "signing-robot",
        token_endpoint_auth_method: "private_key_jwt",
        jwks: { keys: robotKey === undefined ? [] : [robotKey] },
        ...machineGrants,
      },
      {
        client_id: checker.id,
        client_secret: checker.secret,
        ...machineGrants,
        grant_types: [],
      },
    ],
    jwks: { keys: [{ ...signing.export({ format: "jwk" }), kid: "signing" }] },
    cookies: { keys: ["loopback"] },
    findAccount: (_ctx, sub) => ({ accountId: sub, claims: () => ({ sub }) }),
    interactions: { url: (_ctx, interaction) => `/interaction/${interaction.uid}` },
    pkce: { required: () => true },
    rotateRefreshToken: true,
    features: {
      devInteractions: { enabled: false },
      registration: { enabled: hasRegistration },
      introspection: { enabled: true },
      revocation: { enabled: true },
      clientCredentials: { enabled: true },
      dPoP: {
        enabled: true,
        nonceSecret: createHash("sha256").update(issuer).digest(),
        requireNonce: () => needsDpop,
      },
      resourceIndicators: {
        enabled: true,
        getResourceServerInfo: (_ctx, resource) => ({
          scope: "mcp",
          audience: resource,
          accessTokenFormat: "opaque",
          accessTokenTTL: tokenSeconds,
        }),
      },
    },
  });

  /** @type {string[]} */
  const grants = [];
  /** @type {string[]} */
  const refusals = [];
  let registrations = 0;
  provider.on("grant.success", (ctx) => grants.push(ctx.oidc.params.grant_type));
  provider.on("grant.error", (_ctx, error) => refusals.push(error.error));
  provider.on("registration_create.success", () => (registrations += 1));

  const answer = provider.callback();
  server.on("request", (request, response) => {
    if (request.url?.startsWith("/interaction/")) void agree(provider, request, response);
    else void answer(request, response);
  });

  return {
    issuer,
    /** The grants that were given, and the words in which others were refused. */
    grants,
    /** A nonce is demanded by a refusal, which is no failure. */
    get refusals() {
      return refusals.filter((error) => error !== "use_dpop_nonce");
    },
    get registrations() {
      return registrations;
    },
    /** @param {string} token */
    async introspect(token) {
      const response = await fetch(`${issuer}/token/introspection`, {
        method: "POST",
        headers: { authorization: `Basic ${btoa(`${checker.id}:${checker.secret}`)}` },
        body: new URLSearchParams({ token }),
      });
      const { active, aud, cnf } = await response.json();
      return { active: active === true, resource: aud, thumbprint: cnf?.jkt };
    },
    async close() {
      server.close();
      server.closeAllConnections();
      await once(server, "close");
    },
  };
}

/** Answers a page as a person would who agrees: with their name, then with all that is asked for. */
async function agree(provider, request, response) {
  const { prompt, params, session, grantId } = await provider.interactionDetails(request, response);
  if (prompt.name === "login") {
    const result = { login: { accountId: person } };
    await provider.interactionFinished(request, response, result);
    return;
  }
  const grant =
    (grantId && (await provider.Grant.find(grantId))) ||
    new provider.Grant({ accountId: session?.accountId, clientId: params.client_id });
  const { missingOIDCScope = [], missingResourceScopes = {} } = prompt.details;
  if (missingOIDCScope.length > 0) grant.addOIDCScope(missingOIDCScope.join(" "));
  for (const [resource, scopes] of Object.entries(missingResourceScopes))
    grant.addResourceScope(resource, scopes.join(" "));
  const result = { consent: { grantId: await grant.save() } };
  await provider.interactionFinished(request, response, result, { mergeWithLastSubmission: true });
}
