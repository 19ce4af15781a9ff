import { mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";

import { describe, expect, it } from "vitest";

import type { ServerEntry } from "../../src/config/keys/config-keys.ts";
import { createHost, type McpHost } from "../../src/index.ts";
import {
  type AuthorizationServer,
  type AuthorizationServerOptions,
  createTestServer,
  type ProtectedServer,
  serveProtected,
  type ServeProtectedOptions,
  startAuthorizationServer,
} from "../../src/testing/index.ts";
import { TestBrowser } from "../fixtures/oauth/browser.ts";

type Auth = Extract<ServerEntry["auth"], object>;

/** A protected server, whoever issues its tokens, and a person with a browser. */
class Place implements AsyncDisposable {
  readonly browser = new TestBrowser();
  readonly #hosts: McpHost[] = [];
  readonly #home = mkdtempSync(path.join(tmpdir(), "sign-in-"));

  readonly auth: AuthorizationServer;
  readonly server: ProtectedServer;

  private constructor(auth: AuthorizationServer, server: ProtectedServer) {
    this.auth = auth;
    this.server = server;
  }

  static async open(
    authorization: AuthorizationServerOptions = {},
    options: Omit<ServeProtectedOptions, "authorization"> = {},
  ): Promise<Place> {
    const auth = await startAuthorizationServer(authorization);
    const server = await serveProtected(createTestServer(), {
      authorization: auth,
      ...options,
    });
    return new Place(auth, server);
  }

  /** A host of the same person; all of them share one store. */
  async host(auth?: Partial<Auth>, transport: ServerEntry["transport"] = "http"): Promise<McpHost> {
    const entry = {
      url: this.server.url,
      transport,
      ...(auth && { auth: { type: "oauth", ...auth } }),
    };
    const host = await createHost({
      config: false,
      home: this.#home,
      store: path.join(this.#home, "store.db"),
      servers: { app: entry as ServerEntry },
      logger: false,
    });
    this.#hosts.push(host);
    return host;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.all(this.#hosts.map((host) => host.close()));
    await this.server.close();
    await this.auth.close();
  }
}

async function echo(host: McpHost): Promise<unknown> {
  const session = host.session({ level: "yolo" });
  const { app } = await session.ready();
  if (app?.ready === false) return app.error;
  const outcome = await session.call("mcp__app__echo", { message: "hello" });
  return outcome.ok ? outcome.text : outcome.error;
}

describe("signing in with a browser", () => {
  it.each(["http", "streamable-http", "sse", "http-post", "rest"] as const)(
    "AUT-03 AUT-05 AUT-14: over %s a person signs in once, and every later host is signed in",
    async (transport) => {
      const kind = transport === "streamable-http" ? "http" : transport;
      await using place = await Place.open({}, { kind });
      const first = await place.host(undefined, transport);
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

      const second = await place.host(undefined, transport);
      expect(await echo(second)).toBe("hello");
      await second.login("app", { present });
      expect(place.browser.pages).toHaveLength(1);
      expect(place.auth.counts).toMatchObject({ authorize: 1, register: 1 });
    },
  );

  it("AUT-04 AUT-15 AUT-16: the page is shown with its host, and asks for what the server demands", async () => {
    await using place = await Place.open({ scopes: ["mcp", "files"] }, { scopes: ["files"] });
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
    await using place = await Place.open();
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
