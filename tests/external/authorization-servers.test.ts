import { execFile } from "node:child_process";
import { generateKeyPairSync } from "node:crypto";
import { mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { promisify } from "node:util";

import { createHost, type McpHost, type ServerEntry } from "plugboard";
import { describe, expect, it } from "vitest";

import { browse } from "./authorization-servers/browse.ts";
import { GuardedServer, type Issuer } from "./authorization-servers/guarded-server.ts";
import { startOAuth2Server } from "./authorization-servers/oauth2-server.mjs";
import { startOidcProvider } from "./authorization-servers/oidc-provider.mjs";

type Auth = Extract<ServerEntry["auth"], object>;

interface StartedIssuer extends Issuer {
  readonly grants: readonly string[];
  readonly refusals: readonly string[];
  readonly registrations: number;
  close(): Promise<void>;
}

/** Somebody's authorization server, a server that asks it about tokens, and the hosts of one person. */
class Place implements AsyncDisposable {
  readonly issuer: StartedIssuer;
  readonly server: GuardedServer;
  readonly home = mkdtempSync(path.join(tmpdir(), "issuers-"));
  readonly #hosts: McpHost[] = [];

  private constructor(issuer: StartedIssuer, server: GuardedServer) {
    this.issuer = issuer;
    this.server = server;
  }

  static async open(starting: Promise<StartedIssuer>): Promise<Place> {
    const issuer = await starting;
    return new Place(issuer, await GuardedServer.open(issuer));
  }

  entry(auth: Partial<Auth> = {}): ServerEntry {
    return { url: this.server.url, auth: { type: "oauth", ...auth } };
  }

  async host(auth?: Partial<Auth>): Promise<McpHost> {
    const host = await createHost({
      config: false,
      home: this.home,
      store: path.join(this.home, "store.db"),
      servers: { app: this.entry(auth) },
      logger: false,
    });
    this.#hosts.push(host);
    return host;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.all(this.#hosts.map((host) => host.close()));
    await this.server[Symbol.asyncDispose]();
    await this.issuer.close();
  }
}

const person = {
  present: async ({ url }: { readonly url: string }): Promise<undefined> => {
    expect(await browse(url)).toBe(200);
  },
};

async function echo(host: McpHost): Promise<unknown> {
  const session = host.session({ level: "yolo" });
  const { app } = await session.ready();
  if (app?.ready === false) return app.error;
  const outcome = await session.call("mcp__app__echo", { message: "hello" });
  return outcome.ok ? outcome.text : outcome.error;
}

const byHand = [
  ["secret in a header", { clientId: "header", clientSecret: "header-s3cret" }],
  [
    "secret in the body",
    { clientId: "body", clientSecret: "body-s3cret", clientAuthMethod: "client_secret_post" },
  ],
  ["no secret", { clientId: "public" }],
] as const;

describe.each([
  ["oidc-provider", startOidcProvider],
  ["@node-oauth/oauth2-server", startOAuth2Server],
])("%s", (_name, start) => {
  it("AUT-03 AUT-14: a client registers itself once, and a person signs in", async () => {
    await using place = await Place.open(start());
    const host = await place.host();
    await expect(host.connect("app")).rejects.toMatchObject({ code: "auth_required" });
    await host.login("app", person);
    expect(await echo(host)).toBe("hello");
    await host.login("app", { ...person, force: true });
    expect(await echo(host)).toBe("hello");
    expect(place.issuer).toMatchObject({ registrations: 1, refusals: [] });
  });

  it.each(byHand)("AUT-03: a client that was registered by hand, with %s", async (_title, auth) => {
    await using place = await Place.open(start({ hasRegistration: false }));
    const host = await place.host(auth);
    await host.login("app", person);
    expect(await echo(host)).toBe("hello");
    await host.login("app", { rotate: true });
    expect(await echo(host)).toBe("hello");
    expect(place.issuer.grants).toEqual(["authorization_code", "refresh_token"]);
    expect(place.issuer.refusals).toEqual([]);
    expect(place.server.tokens.size).toBe(2);
  });

  it("AUT-03: without registration and without a client of its own, the person is told", async () => {
    await using place = await Place.open(start({ hasRegistration: false }));
    const host = await place.host();
    await expect(host.login("app", person)).rejects.toMatchObject({
      code: "auth_client_rejected",
      hint: expect.stringContaining("clientId"),
    });
  });

  it("AUT-05: a page without PKCE is refused, and ours has it", async () => {
    await using place = await Place.open(start());
    const host = await place.host({ clientId: "public" });
    let withoutPkce: Promise<Response> | undefined;
    await host.login("app", {
      present: async ({ url }) => {
        const plain = new URL(url);
        plain.searchParams.delete("code_challenge");
        plain.searchParams.delete("code_challenge_method");
        withoutPkce = fetch(plain, { redirect: "manual" });
        expect(await browse(url)).toBe(200);
        return undefined;
      },
    });
    const refused = await withoutPkce;
    const told = `${refused?.headers.get("location") ?? ""} ${(await refused?.text()) ?? ""}`;
    expect(told).toContain("invalid_request");
    expect(await echo(host)).toBe("hello");
  });

  it("AUT-07 AUT-17: two processes renew a token that lasts a second, and none is used twice", async () => {
    await using place = await Place.open(start({ tokenSeconds: 1 }));
    const auth = { clientId: "public" };
    const host = await place.host(auth);
    await host.login("app", person);
    const program = path.join(import.meta.dirname, "authorization-servers/calling-host.mjs");
    const options = JSON.stringify({ home: place.home, entry: place.entry(auth), renewals: 4 });
    const run = promisify(execFile);
    const ran = await Promise.all(
      [1, 2].map(() => run(process.execPath, [program, options], { encoding: "utf8" })),
    );
    expect(ran.map(({ stdout }) => JSON.parse(stdout) as unknown)).toEqual([["hello"], ["hello"]]);
    expect(place.issuer.refusals).toEqual([]);
    const renewals = place.issuer.grants.filter((grant) => grant === "refresh_token").length;
    expect(renewals).toBeGreaterThanOrEqual(4);
    // What was shared is still good.
    expect(await echo(host)).toBe("hello");
  });

  it("after the logout no token is good any more", async () => {
    await using place = await Place.open(start());
    const host = await place.host({ clientId: "header", clientSecret: "header-s3cret" });
    await host.login("app", person);
    expect(await echo(host)).toBe("hello");
    const [token = ""] = place.server.tokens;
    expect(await place.issuer.introspect(token)).toMatchObject({ active: true });
    expect(await host.logout("app")).toEqual({ wasSignedIn: true });
    expect(await place.issuer.introspect(token)).toMatchObject({ active: false });
    expect(await echo(host)).toMatchObject({ code: "auth_required" });
  });
});

describe("oidc-provider alone", () => {
  it("AUT-14: a token is for the server that it was asked for", async () => {
    await using place = await Place.open(startOidcProvider());
    const host = await place.host({ clientId: "public" });
    await host.login("app", person);
    expect(await echo(host)).toBe("hello");
    const [token = ""] = place.server.tokens;
    expect(await place.issuer.introspect(token)).toMatchObject({ resource: place.server.url });
  });

  it("AUT-13: a program signs in with its secret, or with a key", async () => {
    const { privateKey, publicKey } = generateKeyPairSync("rsa", { modulusLength: 2_048 });
    const robotKey = publicKey.export({ format: "jwk" });
    await using place = await Place.open(startOidcProvider({ robotKey }));
    const grant = "client_credentials";
    const secret = await place.host({ grant, clientId: "robot", clientSecret: "robot-s3cret" });
    expect(await echo(secret)).toBe("hello");
    const pem = privateKey.export({ type: "pkcs8", format: "pem" }).toString();
    const key = await place.host({ grant, clientId: "signing-robot", privateKey: pem });
    expect(await echo(key)).toBe("hello");
    expect(place.issuer.grants).toEqual([grant, grant]);
    expect(place.issuer.refusals).toEqual([]);
  });

  it("tokens are bound to a key, and proofs carry the nonce that is demanded", async () => {
    await using place = await Place.open(startOidcProvider({ needsDpop: true }));
    const auth = { clientId: "header", clientSecret: "header-s3cret", dpop: true };
    const host = await place.host(auth);
    await host.login("app", person);
    expect(await echo(host)).toBe("hello");
    await host.login("app", { rotate: true });
    expect(await echo(host)).toBe("hello");
    expect(place.issuer.refusals).toEqual([]);
    for (const token of place.server.tokens)
      expect(await place.issuer.introspect(token)).toMatchObject({
        thumbprint: expect.any(String),
      });
    const later = await place.host(auth);
    expect(await echo(later)).toBe("hello");
  });
});
