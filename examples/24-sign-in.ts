// The three kinds of authentication that a server over HTTP can want: none, a token that somebody was given, and a
// sign-in in a browser; and why a sign-in fails.
import { createHost, McpError } from "plugboard";
import {
  createTestServer,
  serveHttp,
  serveProtected,
  startAuthorizationServer,
} from "plugboard/testing";

// Stand-ins for somebody's services, and for those who issue tokens for them.
const authorization = await startAuthorizationServer({
  registration: "none",
  clients: [
    { clientId: "your-client-id", redirectUris: ["http://127.0.0.1/callback"] },
    { clientId: "your-other-id", clientSecret: "right" },
  ],
  scopes: ["read", "write"],
  grantedScopes: ["read"],
  grants: ["authorization_code", "client_credentials"],
});
const local = await serveHttp(createTestServer());
const api = await serveProtected(createTestServer(), { authorization });
const service = await serveProtected(createTestServer(), { authorization });
const given = await fetch(`${authorization.issuer}/token`, {
  method: "POST",
  headers: { authorization: `Basic ${btoa("your-other-id:right")}` },
  body: new URLSearchParams({ grant_type: "client_credentials", resource: api.url }),
});
const { access_token: token } = (await given.json()) as { access_token: string };

const oauth = {
  type: "oauth",
  clientId: "your-client-id",
  authUrl: `${authorization.issuer}/authorize`,
  tokenUrl: `${authorization.issuer}/token`,
  scopes: ["read", "write"],
} as const;
const rejected = { ...oauth, clientId: "your-other-id", clientSecret: "wrong" };
const remote = { url: service.url, transport: "http" } as const;
const host = await createHost({
  config: false,
  logger: false,
  env: { API_TOKEN: token },
  servers: [
    { name: "local-server", url: local.url, transport: "http" },
    {
      name: "api-server",
      url: api.url,
      transport: "http",
      auth: { type: "bearer", token: "${API_TOKEN}" },
    },
    { name: "oauth-server", ...remote, auth: oauth },
    // The same with a mistake each.
    {
      name: "wrong-secret",
      ...remote,
      auth: { ...rejected, grant: "client_credentials" },
    },
    { name: "wrong-address", ...remote, auth: { ...oauth, tokenUrl: "http://127.0.0.1:1/token" } },
    { name: "wrong-redirect", ...remote, auth: oauth },
  ],
});

for (const name of ["local-server", "api-server", "oauth-server"])
  try {
    console.log(`${name}: ${(await host.connect(name)).state}`);
  } catch (error) {
    console.log(`${name}: ${McpError.is(error) ? error.code : "failed"}`);
  }

// A program with a person before it would open the page: `present` is where it learns which one.
const signedIn = await host.login("oauth-server", {
  present: async ({ url }) => {
    console.log(`PKCE: ${new URL(url).searchParams.get("code_challenge_method") ?? "none"}`);
    await fetch(url);
    return undefined;
  },
});
console.log(
  `granted: ${signedIn?.scopes.join(" ")}, and not: ${signedIn?.missingScopes.join(" ")}`,
);
const session = host.session({ agent: "main", level: "yolo" });
await session.ready({ servers: ["oauth-server"] });
const outcome = await session.call("mcp__oauth-server__echo", { message: "signed in" });
console.log(outcome.ok ? outcome.text : outcome.error.message);
console.log(await host.logout("oauth-server"));

const addresses: Record<string, string | undefined> = {
  // Not the address that the browser was told to return to.
  "wrong-redirect": "https://elsewhere.example.com/callback?code=1",
};
for (const name of ["wrong-secret", "wrong-address", "wrong-redirect"])
  try {
    await host.login(name, {
      present: async ({ url }) => addresses[name] ?? (await fetch(url), undefined),
    });
  } catch (error) {
    console.log(`${name}: ${McpError.is(error) ? error.code : "failed"}`);
  }

await host.close();
await Promise.all([local, api, service, authorization].map((server) => server.close()));

// Output:
// local-server: connected
// api-server: connected
// oauth-server: auth_required
// PKCE: S256
// granted: read, and not: write
// signed in
// { wasSignedIn: true }
// wrong-secret: auth_client_rejected
// wrong-address: auth_endpoint_unreachable
// wrong-redirect: auth_redirect_mismatch
