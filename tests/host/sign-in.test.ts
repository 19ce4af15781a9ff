import { describe, expect, it } from "vitest";

import { echo, SignInPlace } from "../fixtures/oauth/sign-in-place.ts";

describe("signing in with a browser", () => {
  it.each(["http", "streamable-http", "sse", "http-post", "rest"] as const)(
    "AUT-03 AUT-05 AUT-14: over %s a person signs in once, and every later host is signed in",
    async (transport) => {
      const kind = transport === "streamable-http" ? "http" : transport;
      await using place = await SignInPlace.open({}, { kind });
      const first = await place.host(undefined, { transport });
      await expect(first.connect("app")).rejects.toMatchObject({
        code: "auth_required",
        message: expect.stringMatching(
          /^sign-in needed \(HTTP 401; authorization server: 127\.0\.0\.1:\d+\)$/,
        ),
        hint: expect.stringContaining("plugboard login app"),
      });
      expect(first.server("app").state).toBe("needs_auth");
      expect(await first.signIn("app")).toBeUndefined();

      const { present } = place.browser;
      expect(await first.login("app", { present })).toMatchObject({
        grant: "authorization_code",
        scopes: ["mcp"],
        canRenew: true,
      });
      expect(await echo(first)).toBe("hello");
      expect(place.browser.ends).toMatchObject([{ status: 200 }]);

      const second = await place.host(undefined, { transport });
      expect(await echo(second)).toBe("hello");
      await second.login("app", { present });
      expect(place.browser.pages).toHaveLength(1);
      expect(place.auth.counts).toMatchObject({ authorize: 1, register: 1 });
    },
  );

  it("AUT-04 AUT-15 AUT-16: the page is shown with its host, and asks for what the server demands", async () => {
    await using place = await SignInPlace.open({ scopes: ["mcp", "files"] }, { scopes: ["files"] });
    const host = await place.host();
    await host.login("app", place.browser);
    const [page] = place.browser.pages;
    const url = new URL(page?.url ?? "");
    expect(page).toMatchObject({
      serverName: "app",
      host: url.host,
      scopes: ["files"],
      isAwaited: true,
    });
    expect(Object.fromEntries(url.searchParams)).toMatchObject({
      response_type: "code",
      code_challenge_method: "S256",
      resource: place.server.url,
      redirect_uri: page?.redirectUri,
      scope: "files",
    });
    expect(page?.redirectUri).toMatch(/^http:\/\/127\.0\.0\.1:\d+\/callback$/);
  });

  it("AUT-07: a token that has ended is renewed, and nobody is asked", async () => {
    await using place = await SignInPlace.open();
    const host = await place.host();
    await host.login("app", place.browser);
    for (let round = 0; round < 3; round += 1) {
      place.auth.expire();
      expect(await echo(host)).toBe("hello");
    }
    expect(place.auth.counts.token).toMatchObject({ authorization_code: 1, refresh_token: 3 });
    expect(place.browser.pages).toHaveLength(1);
  });
});

/** Any port will do (RFC 8252). */
const redirectUris = ["http://127.0.0.1/callback"];

describe("clients", () => {
  it.each([
    ["client_secret_basic", "a+b/c=:d é".slice(0, 8)],
    ["client_secret_post", "s3cret"],
  ] as const)(
    "AUT-14: one that was registered by hand shows its secret by %s",
    async (method, secret) => {
      const known = { clientId: "by-hand", clientSecret: secret, redirectUris };
      const clients = [{ ...known, authMethod: method }];
      await using place = await SignInPlace.open({ registration: "none", clients });
      const host = await place.host({
        clientId: "by-hand",
        clientSecret: secret,
        clientAuthMethod: method,
      });
      await host.login("app", place.browser);
      expect(await echo(host)).toBe("hello");
      place.auth.expire();
      expect(await echo(host)).toBe("hello");
      expect(place.auth.counts).toMatchObject({ register: 0, token: { refresh_token: 1 } });
    },
  );

  it("AUT-09: a wrong secret is told as such, and nothing is kept", async () => {
    const clients = [{ clientId: "by-hand", clientSecret: "right", redirectUris }];
    await using place = await SignInPlace.open({ registration: "none", clients });
    const host = await place.host({ clientId: "by-hand", clientSecret: "wr0ng-s3cret" });
    const failure = host.login("app", place.browser);
    await expect(failure).rejects.toMatchObject({
      code: "auth_client_rejected",
      message: expect.stringMatching(/^127\.0\.0\.1:\d+ refused a token \(invalid_client/),
      hint: expect.stringContaining("clientSecret"),
    });
    expect(JSON.stringify(await failure.catch((error: unknown) => error))).not.toContain("wr0ng");
    expect(await host.signIn("app")).toBeUndefined();
    await expect.poll(() => place.browser.ends).toMatchObject([{ status: 400 }]);
  });

  it("AUT-14: a document describes the client where its address is configured", async () => {
    await using place = await SignInPlace.open({ registration: "metadata-document" });
    const clientMetadataUrl = "https://agent.example.com/client.json";
    const host = await place.host({ clientMetadataUrl });
    await host.login("app", place.browser);
    expect(await echo(host)).toBe("hello");
    expect(place.browser.pages[0]?.url).toContain(encodeURIComponent(clientMetadataUrl));
  });

  it("AUT-14: none can be had where the issuer registers none, and the error says what to do", async () => {
    await using place = await SignInPlace.open({ registration: "none" });
    const host = await place.host();
    await expect(host.login("app", place.browser)).rejects.toMatchObject({
      code: "auth_client_rejected",
      hint: expect.stringContaining("clientId"),
    });
  });

  it("AUT-14: one that the issuer has forgotten is registered again by the next sign-in", async () => {
    await using place = await SignInPlace.open();
    const host = await place.host();
    await host.login("app", place.browser);
    place.auth.forgetClients();
    place.auth.expire();
    expect(await echo(host)).toMatchObject({ code: "auth_required" });
    await host.login("app", place.browser);
    expect(await echo(host)).toBe("hello");
    expect(place.auth.counts.register).toBe(2);
  });

  it("AUT-04: a fixed port is used as it is written, and must be free", async () => {
    await using place = await SignInPlace.open();
    await using taken = await SignInPlace.open();
    const host = await place.host({ callbackPort: Number(new URL(taken.server.url).port) });
    await expect(host.login("app", place.browser)).rejects.toMatchObject({
      code: "config_invalid",
      message: expect.stringContaining("already in use"),
    });
  });
});

describe("signing in without a person", () => {
  it("AUT-13: by the secret of the client, at the first request and whenever a token has ended", async () => {
    const clients = [{ clientId: "robot", clientSecret: "s3cret" }];
    await using place = await SignInPlace.open({ clients, grants: ["client_credentials"] });
    const host = await place.host({
      grant: "client_credentials",
      clientId: "robot",
      clientSecret: "s3cret",
    });
    expect(await echo(host)).toBe("hello");
    place.auth.expire();
    expect(await echo(host)).toBe("hello");
    expect(place.auth.counts.token).toEqual({ client_credentials: 2 });
    const messages = place.server.requests.filter(({ path }) => path === "/mcp");
    expect(messages.filter(({ headers }) => !("authorization" in headers))).toEqual([]);
  });
});
