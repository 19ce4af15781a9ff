import { generateKeyPairSync } from "node:crypto";

import { describe, expect, it } from "vitest";

import { connectClient } from "../../src/entries/client.ts";
import { startAuthorizationServer } from "../../src/testing/index.ts";
import { ScriptedServer } from "../fixtures/http/scripted-server.ts";
import { echo, SignInPlace } from "../fixtures/oauth/sign-in-place.ts";

describe("an authorization server", () => {
  it.each([
    ["as OAuth says", {}],
    ["as OpenID says", { discovery: "openid" }],
    ["as OpenID says, for a tenant", { discovery: "openid-appended", issuerPath: "/tenant" }],
    ["for a tenant", { issuerPath: "/tenant" }],
    ["that answers in forms", { answers: "form" }],
    ["that does not say how long a token lives", { expiresIn: false }],
    ["that names no issuer in its answer", { issParameter: false }],
    ["that gives no refresh token", { refresh: "none" }],
  ] as const)("AUT-14: described %s is found and used", async (_name, options) => {
    await using place = await SignInPlace.open(options);
    const host = await place.host();
    await host.login("app", place.browser);
    expect(await echo(host)).toBe("hello");
  });

  it.each(["header-only", "well-known", "root"] as const)(
    "AUT-14: is found where the server says so: %s",
    async (metadata) => {
      await using place = await SignInPlace.open({}, { metadata });
      const host = await place.host();
      await host.login("app", place.browser);
      expect(await echo(host)).toBe("hello");
    },
  );

  it("AUT-14: that nobody describes is asked at the usual places, as in 2025-03-26", async () => {
    await using place = await SignInPlace.open(
      { discovery: "none", resource: "optional" },
      { metadata: "none" },
    );
    const host = await place.host();
    await host.login("app", place.browser);
    expect(await echo(host)).toBe("hello");
  });

  it("AUT-03 AUT-12 C-29: that an entry names is used as it is named", async () => {
    const redirectUris = ["http://127.0.0.1/callback"];
    await using place = await SignInPlace.open({
      registration: "none",
      clients: [{ clientId: "kuse", redirectUris }],
      resource: "optional",
      discovery: "none",
    });
    const host = await place.host({
      clientId: "kuse",
      authUrl: `${place.auth.issuer}/authorize`,
      tokenUrl: `${place.auth.issuer}/token`,
    });
    await host.login("app", place.browser);
    expect(await echo(host)).toBe("hello");
    const asked = place.auth.requests.map(({ path }) => path);
    expect(asked.filter((path) => path.includes("well-known"))).toEqual([]);
    expect(place.browser.pages[0]?.url).toContain("code_challenge_method=S256");
  });

  it("AUT-09: that registers no such client says why", async () => {
    await using place = await SignInPlace.open({ registration: "dynamic" });
    const host = await place.host({ redirectUri: "http://app.example/callback" });
    await expect(host.login("app", place.browser)).rejects.toMatchObject({
      code: "auth_redirect_mismatch",
      message: expect.stringContaining(
        "(invalid_redirect_uri: redirect_uris must be https or loopback addresses.)",
      ),
    });
    expect(place.browser.pages).toEqual([]);
  });

  it("AUT-15: that the server moves away from gets nothing of the old tokens, and the new one asks", async () => {
    await using place = await SignInPlace.open();
    await using elsewhere = await startAuthorizationServer();
    const host = await place.host();
    await host.login("app", place.browser);
    expect(await echo(host)).toBe("hello");
    place.server.moveTo(elsewhere);
    expect(await echo(host)).toMatchObject({ code: "auth_required" });
    await host.login("app", place.browser);
    expect(await echo(host)).toBe("hello");
    expect(place.auth.counts.token).toEqual({ authorization_code: 1 });
    expect(elsewhere.counts).toMatchObject({ register: 1, token: { authorization_code: 1 } });
  });

  it("AUT-15: to which the server moves does not get the secret of an entry", async () => {
    const client = {
      clientId: "by-hand",
      clientSecret: "s3cret-of-entry",
      redirectUris: ["http://127.0.0.1/callback"],
    };
    await using place = await SignInPlace.open({ registration: "none", clients: [client] });
    await using thief = await startAuthorizationServer({ clients: [client] });
    const host = await place.host({ clientId: "by-hand", clientSecret: "s3cret-of-entry" });
    await host.login("app", place.browser);
    place.server.moveTo(thief);
    await echo(host);
    await expect(host.login("app", place.browser)).rejects.toMatchObject({
      code: "auth_failed",
      hint: expect.stringContaining("logout app"),
    });
    expect(thief.counts.token).toEqual({});
    expect(JSON.stringify(thief.requests)).not.toContain("s3cret-of-entry");
  });
});

describe("tokens", () => {
  it("AUT-14: bound to a key of this host are proven with every request, nonces included", async () => {
    await using place = await SignInPlace.open({ dpop: "required", dpopNonce: true });
    const first = await place.host({ dpop: true });
    await first.login("app", place.browser);
    expect(await echo(first)).toBe("hello");
    place.auth.expire();
    place.auth.renewNonces();
    expect(await echo(first)).toBe("hello");
    // The key outlives the process.
    const second = await place.host({ dpop: true });
    expect(await echo(second)).toBe("hello");
    expect(place.browser.pages).toHaveLength(1);
  });

  it("AUT-17: are renewed once for a hundred calls that find out together", async () => {
    await using place = await SignInPlace.open({ refresh: "rotate-strict" });
    const host = await place.host();
    await host.login("app", place.browser);
    const session = host.session({ level: "yolo" });
    await session.ready();
    place.auth.expire();
    const calls = Array.from({ length: 100 }, (_, index) =>
      session.call("mcp__app__echo", { message: String(index) }),
    );
    const texts = (await Promise.all(calls)).map((outcome) => outcome.text);
    expect(texts).toEqual(texts.map((_, index) => String(index)));
    expect(place.auth.counts).toMatchObject({ invalidGrant: 0, token: { refresh_token: 1 } });
  });

  it("AUT-07: are renewed before they end, when the issuer says when that is", async () => {
    let now = Date.now();
    const clock = {
      now: () => now,
      monotonic: () => performance.now(),
      schedule: (delayMs: number, task: () => void) => {
        const timer = setTimeout(task, delayMs);
        return { cancel: () => clearTimeout(timer) };
      },
    };
    await using place = await SignInPlace.open({ tokenLifetimeMs: 600_000, clock });
    const host = await place.host(undefined, { clock });
    await host.login("app", place.browser);
    expect(await echo(host)).toBe("hello");
    now += 580_000;
    expect(await echo(host)).toBe("hello");
    expect(place.auth.counts.token).toMatchObject({ refresh_token: 1 });
    const refused = place.server.requests.filter(
      ({ headers, status }) => Boolean(headers["authorization"]) && status === 401,
    );
    expect(refused).toEqual([]);
  });

  it("AUT-07: that cannot be renewed lead to a sign-in, with the command and without a loop", async () => {
    await using place = await SignInPlace.open({ refresh: "none" });
    const host = await place.host();
    await host.login("app", place.browser);
    expect(await echo(host)).toBe("hello");
    place.auth.revokeAll();
    const before = place.server.requests.length;
    for (let round = 0; round < 3; round += 1)
      expect(await echo(host)).toMatchObject({
        code: "auth_required",
        hint: expect.stringContaining("plugboard login app"),
      });
    expect(host.server("app")).toMatchObject({ state: "needs_auth" });
    expect(place.server.requests.length - before).toBeLessThan(20);
    await host.login("app", place.browser);
    expect(await echo(host)).toBe("hello");
    expect(host.server("app")).toMatchObject({ state: "connected", lastError: undefined });
  });

  it("AUT-06: that lack a scope are told as such, and the next sign-in asks for it as well", async () => {
    await using place = await SignInPlace.open(
      { scopes: ["mcp", "say"] },
      { scopes: ["mcp"], toolScopes: { echo: ["say"] } },
    );
    const host = await place.host();
    await host.login("app", place.browser);
    expect(await echo(host)).toMatchObject({
      code: "auth_scope_missing",
      message: "the sign-in lacks what this needs: mcp say",
    });
    await host.login("app", place.browser);
    expect(place.browser.pages[1]?.scopes).toEqual(["mcp", "say"]);
    expect(await echo(host)).toBe("hello");
    // Nothing was refused meanwhile, so nobody demands anything.
    await host.login("app", { present: place.browser.present, force: true });
    expect(place.browser.pages[2]?.scopes).toEqual(["mcp", "say"]);
    expect(await echo(host)).toBe("hello");
  });

  it("AUT-07: can be exchanged by hand for new ones, and given back", async () => {
    await using place = await SignInPlace.open();
    const host = await place.host();
    await host.login("app", place.browser);
    expect(await host.login("app", { rotate: true })).toMatchObject({ canRenew: true });
    expect(place.auth.counts.token).toMatchObject({ refresh_token: 1 });
    expect(await host.logout("app")).toEqual({ wasSignedIn: true });
    expect(place.auth.counts.revoke).toBe(2);
    expect(await host.signIn("app")).toBeUndefined();
    expect(await echo(host)).toMatchObject({ code: "auth_required" });
    expect(await host.logout("app")).toEqual({ wasSignedIn: false });
  });

  it("AUT-02: that a person brings are kept and shown as they are", async () => {
    await using place = await SignInPlace.open();
    await using other = await SignInPlace.open({}, {});
    const donor = await place.host();
    await donor.login("app", place.browser);
    await echo(donor);
    const header = place.server.requests.findLast(({ headers }) => headers["authorization"]);
    const token = header?.headers["authorization"] ?? "";
    const host = await other.host(undefined, { servers: { app: { url: place.server.url } } });
    expect(await host.login("app", { token })).toMatchObject({ grant: "pasted" });
    expect(await echo(host)).toBe("hello");
    await expect(host.login("app", { token: "two words" })).rejects.toMatchObject({
      code: "invalid_arguments",
    });
  });
});

describe("signing in without a person", () => {
  it.each(["ec", "rsa"] as const)("AUT-13: by a signed assertion (%s)", async (type) => {
    const { privateKey, publicKey } =
      type === "ec"
        ? generateKeyPairSync("ec", { namedCurve: "P-256" })
        : generateKeyPairSync("rsa", { modulusLength: 2048 });
    const pem = publicKey.export({ type: "spki", format: "pem" }).toString();
    await using place = await SignInPlace.open({
      grants: ["client_credentials"],
      clients: [{ clientId: "robot", authMethod: "private_key_jwt", publicKey: pem }],
    });
    const host = await place.host({
      grant: "client_credentials",
      clientId: "robot",
      privateKey: privateKey.export({ type: "pkcs8", format: "pem" }).toString(),
    });
    expect(await echo(host)).toBe("hello");
  });

  it("AUT-13: by the identity provider of a company", async () => {
    await using identity = await startAuthorizationServer({
      grants: ["urn:ietf:params:oauth:grant-type:token-exchange"],
      clients: [
        { clientId: "agent", clientSecret: "idp-s3cret", authMethod: "client_secret_post" },
      ],
    });
    const trusted = { issuer: identity.issuer, publicKey: identity.publicKey };
    await using place = await SignInPlace.open({
      grants: ["urn:ietf:params:oauth:grant-type:jwt-bearer"],
      clients: [{ clientId: "agent", clientSecret: "s3cret" }],
      trustedIssuers: [trusted],
    });
    const host = await place.host({
      grant: "enterprise",
      clientId: "agent",
      clientSecret: "s3cret",
      identityProvider: identity.issuer,
      idToken: identity.signIdToken("me@example.com", "agent"),
      idpClientId: "agent",
      idpClientSecret: "idp-s3cret",
    });
    expect(await echo(host)).toBe("hello");
    expect(place.auth.counts.token).toEqual({ "urn:ietf:params:oauth:grant-type:jwt-bearer": 1 });
  });

  it.each([
    ["describes no more than where it gives assertions", "", "hello"],
    ["claims to be another one", "/other", { code: "auth_failed" }],
  ])("AUT-13: by an identity provider that %s", async (_name, claimed, expected) => {
    await using identity = await startAuthorizationServer({
      grants: ["urn:ietf:params:oauth:grant-type:token-exchange"],
      clients: [{ clientId: "agent", clientSecret: "idp", authMethod: "client_secret_post" }],
    });
    await using description = await ScriptedServer.start(({ target, headers }, response) => {
      response.statusCode = target === "/.well-known/openid-configuration" ? 200 : 404;
      const issuer = `http://${headers.host ?? ""}${claimed}`;
      response.end(JSON.stringify({ issuer, token_endpoint: `${identity.issuer}/token` }));
    });
    await using place = await SignInPlace.open({
      grants: ["urn:ietf:params:oauth:grant-type:jwt-bearer"],
      clients: [{ clientId: "agent", clientSecret: "s3cret" }],
      trustedIssuers: [{ issuer: identity.issuer, publicKey: identity.publicKey }],
    });
    const host = await place.host({
      grant: "enterprise",
      clientId: "agent",
      clientSecret: "s3cret",
      identityProvider: new URL(description.url).origin,
      idToken: identity.signIdToken("me@example.com", "agent"),
      idpClientId: "agent",
      idpClientSecret: "idp",
    });
    const outcome = await echo(host);
    if (typeof expected === "string") expect(outcome).toBe(expected);
    else expect(outcome).toMatchObject(expected);
    expect(identity.requests).toHaveLength(typeof expected === "string" ? 1 : 0);
  });

  it("AUT-13: with a secret that is wrong fails as such, once for each try", async () => {
    const clients = [{ clientId: "robot", clientSecret: "right" }];
    await using place = await SignInPlace.open({ clients, grants: ["client_credentials"] });
    const auth = { grant: "client_credentials", clientId: "robot", clientSecret: "wrong" } as const;
    const host = await place.host(auth);
    expect(await echo(host)).toMatchObject({ code: "auth_client_rejected" });
    expect(place.server.requests.filter(({ path }) => path === "/mcp")).toEqual([]);
  });
});

describe("a client without a host", () => {
  it("AUT-13: signs in for itself, and leaves a person's sign-in to hosts", async () => {
    const clients = [{ clientId: "robot", clientSecret: "s3cret" }];
    await using place = await SignInPlace.open({ clients, grants: ["client_credentials"] });
    const entry = { name: "app", url: place.server.url };
    const auth = {
      type: "oauth",
      grant: "client_credentials",
      clientId: "robot",
      clientSecret: "s3cret",
    } as const;
    const client = await connectClient({ ...entry, auth });
    expect((await client.callTool("echo", { message: "hello" })).toText()).toBe("hello");
    await client.close();
    await expect(connectClient({ ...entry, auth: { type: "oauth" } })).rejects.toMatchObject({
      code: "auth_required",
      message: expect.stringContaining("needs a host; nothing was sent"),
    });
  });
});
