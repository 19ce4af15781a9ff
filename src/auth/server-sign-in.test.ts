import { describe, expect, it } from "vitest";

import { OpenedSignIn } from "../../tests/fixtures/oauth/opened-sign-in.ts";
import { SignInPlace } from "../../tests/fixtures/oauth/sign-in-place.ts";
import { McpError } from "../errors/mcp-error.ts";
import { systemClock } from "../ports/clock.ts";
import type { RefusalVerdict } from "./request-authorization.ts";

const dayMs = 86_400_000;

async function open(): Promise<{
  readonly place: SignInPlace;
  readonly opened: OpenedSignIn;
  /** Refuses a request with these fields. */
  readonly refuse: (fields: readonly string[], repeats?: number) => Promise<RefusalVerdict>;
  readonly renewals: () => number;
}> {
  const place = await SignInPlace.open();
  const opened = new OpenedSignIn({ url: place.server.url });
  await opened.login();
  return {
    place,
    opened,
    refuse: (fields, repeats = 0) =>
      opened.signIn.refused({
        status: 401,
        challenge: 'Bearer error="invalid_token"',
        dpopNonce: undefined,
        fields,
        repeats,
      }),
    renewals: () => place.auth.counts.token.refresh_token ?? 0,
  };
}

describe("requests that are refused", () => {
  it("AUT-17 G10: at once are sent with the next token, which is fetched once", async () => {
    const { place, opened, refuse, renewals } = await open();
    await using _ = place;
    const sent = await Promise.all(Array.from({ length: 20 }, () => opened.fields()));
    expect(new Set(sent.map(([, value]) => value)).size).toBe(1);
    opened.signIn.accepted(sent[0] ?? []);
    const verdicts = await Promise.all(sent.slice(1).map((fields) => refuse(fields)));
    expect(verdicts).toEqual(sent.slice(1).map(() => "next"));
    expect(renewals()).toBe(1);
    expect(await opened.fields()).not.toEqual(sent[0]);
  });

  it("G10: because others have used the token up are never taken for a server that takes none", async () => {
    const { place, opened, refuse, renewals } = await open();
    await using _ = place;
    for (let round = 1; round <= 5; round += 1) {
      const first = await opened.fields({ isRepeated: round > 1 });
      const second = await opened.fields({ isRepeated: round > 1 });
      const third = await opened.fields();
      // The refusals are here before the answer of the request that was let in.
      expect(await refuse(third)).toBe("next");
      expect(await refuse(second)).toBe("next");
      opened.signIn.accepted(first);
      expect(renewals()).toBe(round);
    }
  });

  it("G7: each with the first use of a new token end after one renewal, and later ones without any", async () => {
    const { place, opened, refuse, renewals } = await open();
    await using _ = place;
    expect(await refuse(await opened.fields())).toBe("again");
    const repeated = await opened.fields({ isRepeated: true });
    expect(await refuse(repeated, 1)).toMatchObject({ code: "auth_failed" });
    for (let later = 0; later < 3; later += 1)
      expect(await refuse(await opened.fields())).toMatchObject({ code: "auth_failed" });
    expect(renewals()).toBe(1);
  });

  it("G7: for their own sake end, though others are let in with every token", async () => {
    const { place, opened, refuse, renewals } = await open();
    await using _ = place;
    let verdict: RefusalVerdict = "next";
    let repeats = 0;
    for (let sendings = 0; !McpError.is(verdict) && sendings < 20; sendings += 1) {
      const other = await opened.fields();
      const fields = await opened.fields({ isRepeated: sendings > 0 });
      opened.signIn.accepted(other);
      verdict = await refuse(fields, repeats);
      if (verdict === "again") repeats += 1;
    }
    expect(verdict).toMatchObject({ code: "auth_failed" });
    expect(renewals()).toBeLessThanOrEqual(3);
  });

  it("G7: for another nonce each time end", async () => {
    const { place, opened } = await open();
    await using _ = place;
    const refusal = {
      status: 401,
      challenge: 'DPoP error="use_dpop_nonce"',
      dpopNonce: "another",
      fields: await opened.fields(),
    };
    expect(await opened.signIn.refused({ ...refusal, repeats: 0 })).toBe("again");
    expect(await opened.signIn.refused({ ...refusal, repeats: 1 })).toBe("again");
    expect(await opened.signIn.refused({ ...refusal, repeats: 2 })).toMatchObject({
      code: "auth_failed",
    });
  });
});

it.each([0, -60])(
  "AUT-17: a lifetime of %i s is none: a token is not renewed for every request",
  async (lifetimeS) => {
    await using place = await SignInPlace.open({ tokenLifetimeMs: lifetimeS * 1_000 });
    const opened = new OpenedSignIn({ url: place.server.url });
    await opened.login();
    for (let request = 0; request < 5; request += 1) await opened.fields();
    expect(place.auth.counts.token.refresh_token ?? 0).toBe(0);
  },
);

describe("a clock that jumps", () => {
  it.each([
    ["ahead by a day", dayMs, 1],
    ["back by a day", -dayMs, 0],
  ])("J5: %s renews a token once at most", async (_title, jumpMs, expected) => {
    await using place = await SignInPlace.open();
    let offsetMs = 0;
    const clock = { ...systemClock, now: () => systemClock.now() + offsetMs };
    const opened = new OpenedSignIn({ url: place.server.url, clock });
    await opened.login();
    for (const jump of [jumpMs, 0, jumpMs, 0]) {
      offsetMs = jump;
      for (let request = 0; request < 10; request += 1)
        opened.signIn.accepted(await opened.fields());
    }
    // What is too old by the clock of one moment was issued for the clock of the next.
    expect(place.auth.counts.token.refresh_token ?? 0).toBe(expected);
  });
});
