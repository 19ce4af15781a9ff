import { describe, expect, it } from "vitest";

import {
  type HandOptions,
  type TokenReply,
  signInByHand,
} from "../../../tests/fixtures/oauth/sign-in-by-hand.ts";
import { ManualClock } from "../../../tests/fixtures/protocol/manual-clock.ts";
import { createTestServer } from "../test-server.ts";
import { type AuthorizationAttack, authorizationAttacks, hostileText } from "./attacks.ts";
import type { AuthorizationServerOptions } from "./authorization-options.ts";
import { type AuthorizationServer, startAuthorizationServer } from "./authorization-server.ts";
import {
  type ProtectedServer,
  type ServeProtectedOptions,
  serveProtected,
} from "./serve-protected.ts";

interface Site extends AsyncDisposable {
  readonly auth: AuthorizationServer;
  readonly server: ProtectedServer;
  readonly origin: string;
  /** The metadata of the authorization server. */
  metadata(): Promise<Record<string, unknown>>;
  /** The metadata of the protected server. */
  resource(): Promise<Record<string, unknown>>;
  /** One call of a tool, with a token of a correct sign-in unless told otherwise. */
  call(token?: string): Promise<Response>;
  signIn(options?: HandOptions): ReturnType<typeof signInByHand>;
}

type SiteOptions = AuthorizationServerOptions &
  Pick<ServeProtectedOptions, "scopes" | "toolScopes">;

async function openSite({ toolScopes, ...options }: SiteOptions): Promise<Site> {
  const auth = await startAuthorizationServer({ scopes: ["mcp", "files:read"], ...options });
  const server = await serveProtected(createTestServer(), {
    authorization: auth,
    scopes: ["mcp"],
    toolScopes,
  });
  const { origin } = new URL(server.url);
  const json = async (url: string) => (await (await fetch(url)).json()) as Record<string, unknown>;
  return {
    auth,
    server,
    origin,
    metadata: () => json(metadataUrl(auth)),
    resource: () => json(resourceUrl(origin)),
    signIn: (given) => signInByHand(auth.issuer, { resource: server.url, ...given }),
    call: (token) =>
      fetch(server.url, {
        method: "POST",
        headers: {
          "content-type": "application/json",
          accept: "application/json, text/event-stream",
          ...(token !== undefined && { authorization: `Bearer ${token}` }),
        },
        body: JSON.stringify({
          jsonrpc: "2.0",
          id: 1,
          method: "tools/call",
          params: { name: "echo", arguments: { message: "hello" } },
        }),
      }),
    async [Symbol.asyncDispose]() {
      await server.close();
      await auth.close();
    },
  };
}

const metadataUrl = (auth: AuthorizationServer): string =>
  `${auth.url}/.well-known/oauth-authorization-server`;
const resourceUrl = (origin: string): string =>
  `${origin}/.well-known/oauth-protected-resource/mcp`;

const challengeOf = (response: Response): string => response.headers.get("www-authenticate") ?? "";

/** Where something leads, and that a client who goes there is seen. */
async function expectTrap({ auth }: Site, address: unknown): Promise<void> {
  expect(new URL(String(address)).origin).not.toBe(auth.url);
  expect(auth.trapRequests).toEqual([]);
  await fetch(String(address));
  expect(auth.trapRequests).toHaveLength(1);
}

async function expectRedirect(site: Site, url: string): Promise<void> {
  const response = await fetch(url, { redirect: "manual" });
  expect(response.status).toBe(302);
  await expectTrap(site, response.headers.get("location"));
}

async function expectHuge(url: string): Promise<void> {
  const response = await fetch(url);
  let size = 0;
  for await (const chunk of response.body ?? []) size += (chunk as Uint8Array).byteLength;
  expect(size).toBeGreaterThan(50 * 1_024 * 1_024);
  expect(response.headers.get("content-type")).toBe("application/json");
}

/** Nothing is answered while the server lives; closing it ends the request. */
async function expectSilence(site: Site, url: string, seen: () => number): Promise<void> {
  let isAnswered = false;
  const pending = fetch(url).then(
    () => (isAnswered = true),
    () => {},
  );
  await expect.poll(seen).toBe(1);
  // Whatever else is asked meanwhile is answered, and this one is not.
  await fetch(`${site.auth.url}/jwks`);
  expect(isAnswered).toBe(false);
  await site[Symbol.asyncDispose]();
  await pending;
}

async function expectTrickle(site: Site, clock: ManualClock, url: string): Promise<void> {
  const reader = (await fetch(url)).body?.getReader();
  for (const _ of [1, 2, 3]) {
    const read = reader?.read();
    await expect.poll(() => clock.pending).toBe(1);
    await clock.advance(100);
    expect(new TextDecoder().decode((await read)?.value as Uint8Array)).toMatch(/^ +$/);
  }
  await site[Symbol.asyncDispose]();
}

async function expectAuthorizeAt(site: Site, endpoint: string | RegExp): Promise<void> {
  expect((await site.metadata())["authorization_endpoint"]).toMatch(endpoint);
}

async function tokenOf(site: Site): Promise<TokenReply["body"]> {
  const { reply } = await site.signIn();
  expect(reply.status).toBe(200);
  return reply.body;
}

/** What each attack does, as somebody sees it who falls for everything. */
const effects: Readonly<
  Record<AuthorizationAttack, (site: Site, clock: ManualClock) => Promise<void>>
> = {
  "ssrf-resource-metadata": async (site) => {
    const [, place] = /resource_metadata="([^"]+)"/.exec(challengeOf(await site.call())) ?? [];
    await expectTrap(site, place);
  },
  "ssrf-authorization-server": async (site) => {
    const [place] = (await site.resource())["authorization_servers"] as readonly string[];
    await expectTrap(site, place);
  },
  "ssrf-endpoints": async (site) => {
    const { token_endpoint, registration_endpoint, issuer } = await site.metadata();
    expect(issuer).toBe(site.auth.issuer);
    expect(registration_endpoint).toBe(token_endpoint);
    await expectTrap(site, token_endpoint);
  },
  "redirect-metadata": (site) => expectRedirect(site, metadataUrl(site.auth)),
  "redirect-resource-metadata": (site) => expectRedirect(site, resourceUrl(site.origin)),
  "redirect-token": async (site) => {
    const { reply } = await site.signIn();
    expect(reply.status).toBe(307);
    await expectTrap(site, reply.headers.get("location"));
  },
  "huge-metadata": (site) => expectHuge(metadataUrl(site.auth)),
  "huge-resource-metadata": (site) => expectHuge(resourceUrl(site.origin)),
  "slow-metadata": (site) =>
    expectSilence(site, metadataUrl(site.auth), () => site.auth.requests.length),
  "slow-resource-metadata": (site) =>
    expectSilence(site, resourceUrl(site.origin), () => site.server.requests.length),
  "trickle-metadata": (site, clock) => expectTrickle(site, clock, metadataUrl(site.auth)),
  "trickle-resource-metadata": (site, clock) =>
    expectTrickle(site, clock, resourceUrl(site.origin)),
  "js-url": (site) => expectAuthorizeAt(site, /^javascript:/),
  "file-url": (site) => expectAuthorizeAt(site, /^file:\/\//),
  "flag-url": (site) => expectAuthorizeAt(site, /^--/),
  "cmd-url": async (site) => {
    await expectAuthorizeAt(site, /\$\(touch [^)]+\).*&.*`.*\|/);
    // A client that writes the address anew gets a code: only a shell would have run it.
    const url = new URL(String((await site.metadata())["authorization_endpoint"]));
    expect(url.origin).toBe(site.auth.url);
    expect(url.pathname).toBe("/authorize");
  },
  "http-endpoints": async (site) => {
    const { authorization_endpoint, token_endpoint } = await site.metadata();
    for (const endpoint of [authorization_endpoint, token_endpoint])
      expect(endpoint).toMatch(/^http:\/\/(?!127\.|localhost)/);
  },
  "no-pkce": async (site) => {
    expect(await site.metadata()).not.toHaveProperty("code_challenge_methods_supported");
  },
  "plain-pkce": async (site) => {
    expect((await site.metadata())["code_challenge_methods_supported"]).toEqual(["plain"]);
  },
  "issuer-mismatch": async (site) => {
    expect((await site.metadata())["issuer"]).not.toBe(site.auth.issuer);
  },
  mixup: async (site) => {
    const { callback } = await site.signIn();
    expect(callback.get("iss")).toBe("https://other.example.com");
    expect(callback.get("code")).not.toBeNull();
  },
  "iss-missing": async (site) => {
    expect((await site.metadata())["authorization_response_iss_parameter_supported"]).toBe(true);
    expect((await site.signIn()).callback.get("iss")).toBeNull();
  },
  "iss-normalized": async (site) => {
    expect((await site.signIn()).callback.get("iss")).toBe(`${site.auth.issuer}/`);
  },
  "state-forge": async (site) => {
    expect((await site.signIn()).callback.get("state")).toBe("forged-state");
  },
  "state-missing": async (site) => {
    expect((await site.signIn()).callback.get("state")).toBeNull();
  },
  "resource-mismatch": async (site) => {
    const { resource } = await site.resource();
    expect(new URL(String(resource)).origin).not.toBe(site.origin);
  },
  "error-html": async (site) => {
    const { callback } = await site.signIn();
    expect(callback.get("error_description")).toBe(hostileText);
    expect(callback.get("error")).toBe(hostileText);
    expect(callback.get("code")).toBeNull();
  },
  "token-error-html": async (site) => {
    const { reply } = await site.signIn();
    expect(reply.headers.get("content-type")).toBe("text/html");
    expect(reply.text).toContain(hostileText);
  },
  "token-error-text": async (site) => {
    const { reply } = await site.signIn();
    expect(reply.body["error_description"]).toBe(hostileText);
  },
  "scope-greed": async (site) => {
    expect((await site.resource())["scopes_supported"]).toContain("admin");
    expect(challengeOf(await site.call())).toMatch(/scope="[^"]*admin/);
    expect((await tokenOf(site))["scope"]).toContain("admin");
  },
  "scope-short": async (site) => {
    const { reply } = await site.signIn({ scope: "mcp files:read" });
    expect(reply.body["scope"]).toBe("mcp");
  },
  "stepup-loop": async (site) => {
    let scope = "mcp";
    for (const step of [1, 2, 3]) {
      const { accessToken } = await site.signIn({ scope });
      const refused = await site.call(accessToken);
      expect(refused.status).toBe(403);
      expect(challengeOf(refused)).toContain('error="insufficient_scope"');
      [, scope = ""] = /scope="([^"]+)"/.exec(challengeOf(refused)) ?? [];
      expect(scope).toBe(`mcp step:${step}`);
    }
  },
  "401-loop": async (site) => {
    for (const _ of [1, 2]) {
      const { accessToken } = await site.signIn();
      expect(site.auth.isTokenValid(accessToken)).toBe(true);
      expect((await site.call(accessToken)).status).toBe(401);
    }
  },
  "token-junk-crlf": async (site) => {
    expect((await tokenOf(site))["access_token"]).toMatch(/\r\nX-Injected: yes$/);
  },
  "token-junk-spaces": async (site) => {
    expect((await tokenOf(site))["access_token"]).toMatch(/^ \S+ and more $/);
  },
  "token-junk-huge": async (site) => {
    expect(String((await tokenOf(site))["access_token"])).toHaveLength(1_024 * 1_024);
  },
  "token-junk-object": async (site) => {
    expect((await tokenOf(site))["access_token"]).toBeTypeOf("object");
  },
  "token-junk-missing": async (site) => {
    expect(await tokenOf(site)).not.toHaveProperty("access_token");
  },
  "token-junk-type": async (site) => {
    expect((await tokenOf(site))["token_type"]).toMatch(/\r\n/);
  },
  "token-junk-lifetime": async (site) => {
    expect((await tokenOf(site))["expires_in"]).toBe("-1e400");
  },
};

describe("an attack", () => {
  const names = Object.keys(authorizationAttacks) as AuthorizationAttack[];

  it.each(names)("%s does what it says", async (attack) => {
    const clock = new ManualClock();
    await using site = await openSite({ attack, clock });
    await effects[attack](site, clock);
  });

  it.each(names.filter((name) => !/pkce|token|redirect-token|error|scope|loop/.test(name)))(
    "%s leaves everything else as it should be",
    async (attack) => {
      await using site = await openSite({ attack });
      const { reply, accessToken } = await site.signIn();
      // A callback with an error has no code to exchange; all others are those of a correct server.
      expect(reply.status).toBe(200);
      expect((await site.call(accessToken)).status).toBe(200);
    },
  );

  it("leads where it is told to", async () => {
    const trapUrl = "http://10.0.0.1/latest";
    await using site = await openSite({ attack: "redirect-metadata", trapUrl });
    const response = await fetch(metadataUrl(site.auth), { redirect: "manual" });
    expect(response.headers.get("location")).toBe(trapUrl);
  });

  it("mixup names another issuer although none is promised", async () => {
    await using site = await openSite({ attack: "mixup", issParameter: false });
    const { callback } = await site.signIn();
    expect(callback.get("iss")).toBe("https://other.example.com");
  });

  it("stepup-loop is about the tools with scopes where there are some", async () => {
    const toolScopes = { add: ["files:read"] };
    await using site = await openSite({ attack: "stepup-loop", toolScopes });
    const { accessToken } = await site.signIn();
    expect((await site.call(accessToken)).status).toBe(200);
  });
});
