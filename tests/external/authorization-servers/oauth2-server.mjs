import { randomUUID } from "node:crypto";
import { once } from "node:events";
import { createServer } from "node:http";
import { text } from "node:stream/consumers";

import OAuth2Server from "@node-oauth/oauth2-server";

const { Request, Response } = OAuth2Server;

/** Whoever signs in; all tokens of one sign-in are a family. */
const person = () => ({ id: "ada@example.com", family: randomUUID() });
const personGrants = ["authorization_code", "refresh_token"];

/**
 * The grants of `@node-oauth/oauth2-server` on a free port. What the library leaves to its user is here: what is
 * stored, the description (RFC 8414), registration (RFC 7591) and revocation (RFC 7009).
 *
 * @param {{ tokenSeconds?: number, hasRegistration?: boolean }} [options]
 */
export async function startOAuth2Server({ tokenSeconds = 3_600, hasRegistration = true } = {}) {
  const server = createServer();
  await once(server.listen(0, "127.0.0.1"), "listening");
  const address = /** @type {import("node:net").AddressInfo} */ (server.address());
  const issuer = `http://127.0.0.1:${address.port}`;
  const memory = new Memory();
  const oauth = new OAuth2Server({ model: memory.model });

  /** @type {string[]} */
  const grants = [];
  /** @type {string[]} */
  const refusals = [];
  let registrations = 0;

  const routes = {
    "GET /.well-known/oauth-authorization-server": () => ({
      status: 200,
      body: {
        issuer,
        authorization_endpoint: `${issuer}/authorize`,
        token_endpoint: `${issuer}/token`,
        revocation_endpoint: `${issuer}/revoke`,
        ...(hasRegistration && { registration_endpoint: `${issuer}/register` }),
        response_types_supported: ["code"],
        grant_types_supported: personGrants,
        code_challenge_methods_supported: ["S256"],
        token_endpoint_auth_methods_supported: [
          "client_secret_basic",
          "client_secret_post",
          "none",
        ],
      },
    }),
    "POST /register": ({ body }) => {
      if (!hasRegistration) return { status: 404 };
      registrations += 1;
      const id = randomUUID();
      const { redirect_uris: redirectUris } = JSON.parse(body);
      memory.clients.set(id, { id, grants: personGrants, redirectUris });
      return { status: 201, body: { ...JSON.parse(body), client_id: id } };
    },
    "GET /authorize": async ({ request }) => {
      // The library takes codes without PKCE, too.
      if (request.query.code_challenge_method !== "S256")
        return { status: 400, body: { error: "invalid_request" } };
      const response = new Response();
      await oauth.authorize(request, response, { authenticateHandler: { handle: person } });
      return response;
    },
    "POST /token": async ({ request }) => {
      const response = new Response();
      await oauth.token(request, response, {
        accessTokenLifetime: tokenSeconds,
        requireClientAuthentication: { refresh_token: false },
      });
      grants.push(request.body.grant_type);
      return response;
    },
    "POST /revoke": ({ request }) => {
      memory.endFamily(request.body.token);
      return { status: 200 };
    },
    "POST /check": async ({ request }) => {
      await oauth.authenticate(request, new Response());
      return { status: 200 };
    },
  };

  const respond = async (incoming, outgoing) => {
    const { pathname, searchParams } = new URL(incoming.url ?? "", issuer);
    const body = await text(incoming);
    const isForm = incoming.headers["content-type"]?.startsWith(
      "application/x-www-form-urlencoded",
    );
    const request = new Request({
      method: incoming.method,
      headers: incoming.headers,
      query: Object.fromEntries(searchParams),
      body: isForm ? Object.fromEntries(new URLSearchParams(body)) : {},
    });
    const route = routes[`${incoming.method} ${pathname}`] ?? (() => ({ status: 404 }));
    try {
      const answer = await route({ request, body });
      outgoing.writeHead(answer.status, { "content-type": "application/json", ...answer.headers });
      outgoing.end(JSON.stringify(answer.body ?? {}));
    } catch (error) {
      if (pathname === "/token") refusals.push(error.name);
      outgoing.writeHead(error.code, { "content-type": "application/json" });
      outgoing.end(JSON.stringify({ error: error.name, error_description: error.message }));
    }
  };
  server.on("request", (incoming, outgoing) => void respond(incoming, outgoing));

  return {
    issuer,
    /** The grants that were given, and the words in which others were refused. */
    grants,
    refusals,
    get registrations() {
      return registrations;
    },
    /** @param {string} token */
    async introspect(token) {
      const headers = { authorization: `Bearer ${token}` };
      const { ok } = await fetch(`${issuer}/check`, { method: "POST", headers });
      // The library knows nothing of resources and keys.
      return { active: ok, resource: undefined, thumbprint: undefined };
    },
    async close() {
      server.close();
      server.closeAllConnections();
      await once(server, "close");
    },
  };
}

/** What is stored. A refresh token that is used twice ends all tokens of its family. */
class Memory {
  clients = new Map(
    [
      { id: "header", secret: "header-s3cret" },
      { id: "body", secret: "body-s3cret" },
      { id: "public" },
    ].map((client) => {
      const redirectUris = ["http://127.0.0.1/callback"];
      return [client.id, { ...client, grants: personGrants, redirectUris }];
    }),
  );
  codes = new Map();
  /** Tokens of both kinds. */
  tokens = new Map();
  endedFamilies = new Set();

  endFamily(token) {
    const family = this.tokens.get(token)?.user.family;
    if (family !== undefined) this.endedFamilies.add(family);
  }

  model = {
    getClient: (id, secret) => {
      const client = this.clients.get(id);
      // A page is asked for without a secret, a token never.
      return secret === null || client?.secret === secret ? client : undefined;
    },
    validateRedirectUri: (uri, { redirectUris }) => {
      // Native programs listen wherever a port is free (RFC 8252).
      const { origin, port, pathname } = new URL(uri);
      const plain = `${origin.replace(`:${port}`, "")}${pathname}`;
      return redirectUris.includes(uri) || redirectUris.includes(plain);
    },
    saveAuthorizationCode: (code, client, user) => {
      const saved = { ...code, client, user };
      this.codes.set(code.authorizationCode, saved);
      return saved;
    },
    getAuthorizationCode: (code) => this.codes.get(code),
    revokeAuthorizationCode: ({ authorizationCode }) => this.codes.delete(authorizationCode),
    validateScope: () => ["mcp"],
    saveToken: (token, client, user) => {
      const saved = { ...token, client, user };
      this.tokens.set(token.accessToken, saved);
      this.tokens.set(token.refreshToken, saved);
      return saved;
    },
    getAccessToken: (accessToken) => this.#unlessEnded(this.tokens.get(accessToken)),
    getRefreshToken: (refreshToken) => {
      const token = this.tokens.get(refreshToken);
      if (token?.isUsed) this.endFamily(refreshToken);
      return this.#unlessEnded(token);
    },
    revokeToken: ({ refreshToken }) => {
      this.tokens.get(refreshToken).isUsed = true;
      return true;
    },
    verifyScope: () => true,
  };

  #unlessEnded(token) {
    return this.endedFamilies.has(token?.user.family) ? undefined : token;
  }
}
