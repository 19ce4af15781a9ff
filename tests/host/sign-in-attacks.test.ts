import { afterAll, describe, expect, it } from "vitest";

import { McpError } from "../../src/index.ts";
import type { AuthorizationAttack } from "../../src/testing/index.ts";
import { echo, SignInPlace } from "../fixtures/oauth/sign-in-place.ts";

/** What an attack must come to: nothing opened, nothing sent, nothing kept, unless it says so. */
interface Expected {
  readonly code: string;
  /** Pages that the person was shown. */
  readonly pages?: number;
  /** Requests that reached the token endpoint. */
  readonly tokens?: number;
}

const refusedBefore = (code = "auth_failed"): Expected => ({ code });
const refusedAfter = (code = "auth_failed", tokens = 0): Expected => ({ code, pages: 1, tokens });

const attacks: Readonly<Partial<Record<AuthorizationAttack, Expected>>> = {
  // G1
  "ssrf-resource-metadata": refusedBefore("blocked_address"),
  "ssrf-authorization-server": refusedBefore("blocked_address"),
  "ssrf-endpoints": refusedBefore("blocked_address"),
  "redirect-metadata": refusedBefore("auth_endpoint_unreachable"),
  "redirect-resource-metadata": refusedBefore("auth_endpoint_unreachable"),
  "redirect-token": refusedAfter("auth_endpoint_unreachable", 1),
  // G2
  "huge-metadata": refusedBefore("auth_endpoint_unreachable"),
  "huge-resource-metadata": refusedBefore("auth_endpoint_unreachable"),
  "slow-metadata": refusedBefore("auth_endpoint_unreachable"),
  "slow-resource-metadata": refusedBefore("auth_endpoint_unreachable"),
  "trickle-metadata": refusedBefore("auth_endpoint_unreachable"),
  "trickle-resource-metadata": refusedBefore("auth_endpoint_unreachable"),
  // G3
  "js-url": refusedBefore(),
  "file-url": refusedBefore(),
  "flag-url": refusedBefore(),
  "http-endpoints": refusedBefore(),
  // G4
  "no-pkce": refusedBefore(),
  "plain-pkce": refusedBefore(),
  // G5
  "issuer-mismatch": refusedBefore(),
  "resource-mismatch": refusedBefore(),
  mixup: refusedAfter(),
  "iss-missing": refusedAfter(),
  "iss-normalized": refusedAfter(),
  "state-forge": refusedAfter("timeout"),
  "state-missing": refusedAfter("timeout"),
  // G6
  "error-html": refusedAfter(),
  "token-error-html": refusedAfter("auth_endpoint_unreachable", 1),
  "token-error-text": refusedAfter("auth_failed", 1),
  // G8
  "token-junk-crlf": refusedAfter("auth_failed", 1),
  "token-junk-spaces": refusedAfter("auth_failed", 1),
  "token-junk-huge": refusedAfter("auth_endpoint_unreachable", 1),
  "token-junk-object": refusedAfter("auth_failed", 1),
  "token-junk-missing": refusedAfter("auth_failed", 1),
  "token-junk-type": refusedAfter("auth_failed", 1),
  "token-junk-lifetime": refusedAfter("auth_failed", 1),
};

const figures: string[] = [];
afterAll(() => console.log(figures.join("\n")));

describe("a hostile sign-in", () => {
  it.each(Object.entries(attacks) as [AuthorizationAttack, Expected][])(
    "G1–G8: %s gains nothing",
    async (attack, { code, pages = 0, tokens = 0 }) => {
      const isLost = code === "timeout";
      // An address that nobody may reach, whoever names it; where it is dialled, nothing answers.
      const trapUrl = attack.startsWith("ssrf") ? "https://169.254.169.254/" : undefined;
      await using place = await SignInPlace.open({ attack, trapUrl });
      const limits = { oauthTimeoutMs: 1_500 };
      const host = await place.host(undefined, { limits });
      const timeoutMs = isLost ? 1_500 : 60_000;
      const failure: unknown = await host
        .login("app", { present: place.browser.present, timeoutMs })
        .catch((error: unknown) => error);
      const asked = Object.values(place.auth.counts.token).reduce((sum, count) => sum + count, 0);
      figures.push(
        `${attack}: ${McpError.is(failure) ? failure.code : "no error"}, pages ${place.browser.pages.length}, token requests ${asked}, at the trap ${place.auth.trapRequests.length}`,
      );
      expect(failure).toMatchObject({ code });
      expect({
        pages: place.browser.pages.length,
        tokens: asked,
        trapped: place.auth.trapRequests.length,
        kept: await host.signIn("app"),
      }).toEqual({ pages, tokens, trapped: 0, kept: undefined });
      expect(JSON.stringify(place.browser.ends)).not.toMatch(/<script|<img|\\u001b/i);
      expect(JSON.stringify(failure)).not.toContain("\\u001b");
    },
  );

  it("G3: an address that a shell would run is one address, shown and opened as it is", async () => {
    await using place = await SignInPlace.open({ attack: "cmd-url" });
    const host = await place.host();
    await host
      .login("app", { present: place.browser.present, timeoutMs: 1_500 })
      .catch(() => undefined);
    for (const { url } of place.browser.pages) expect(new URL(url).href).toBe(url);
  });

  it("G7: a server that refuses every token is given up after two sign-ins", async () => {
    await using place = await SignInPlace.open({ attack: "401-loop" });
    const host = await place.host();
    const ends: unknown[] = [];
    for (let round = 0; round < 6; round += 1) {
      await host.login("app", place.browser).catch((error: unknown) => ends.push(error));
      ends.push(await echo(host));
    }
    expect(place.browser.pages).toHaveLength(2);
    expect(ends.at(-1)).toMatchObject({ code: "auth_failed" });
    figures.push(
      `401-loop: pages ${place.browser.pages.length}, refreshes ${place.auth.counts.token.refresh_token ?? 0} in 12 operations`,
    );
    expect(place.auth.counts.token.refresh_token ?? 0).toBeLessThanOrEqual(2);
  });

  it("G7: a server that demands one more scope for ever is given up after two sign-ins", async () => {
    await using place = await SignInPlace.open({ attack: "stepup-loop" });
    const host = await place.host();
    for (let round = 0; round < 6; round += 1) {
      await host.login("app", place.browser).catch(() => undefined);
      await echo(host);
    }
    figures.push(`stepup-loop: pages ${place.browser.pages.length}`);
    expect(place.browser.pages.length).toBeLessThanOrEqual(2);
  });

  it("AUT-06 G7: more or fewer scopes than were asked for are shown as what they are", async () => {
    await using place = await SignInPlace.open(
      { attack: "scope-short", scopes: ["mcp", "files"] },
      {
        scopes: ["mcp", "files"],
      },
    );
    const host = await place.host();
    expect(await host.login("app", place.browser)).toMatchObject({
      scopes: ["mcp"],
      missingScopes: ["files"],
    });
  });
});

describe("a token", () => {
  it("G12: is shown to the server it is for and to nobody else", async () => {
    await using place = await SignInPlace.open();
    await using other = await SignInPlace.open({}, {});
    const host = await place.host(undefined, {
      servers: {
        app: { url: place.server.url },
        other: { url: other.server.url },
      },
    });
    await host.login("app", place.browser);
    await echo(host);
    await host.connect("other").catch(() => undefined);
    const token = place.server.requests
      .map(({ headers }) => headers["authorization"]?.slice("Bearer ".length))
      .findLast((one) => one !== undefined);
    expect(token).toMatch(/\S{16}/);
    const elsewhere = JSON.stringify([other.server.requests, other.auth.requests]);
    expect(elsewhere).not.toContain(token);
  });
});
