import fc from "fast-check";
import { describe, expect, it } from "vitest";

import { MemoryVault } from "../secrets/memory-vault.ts";
import {
  isExpired,
  isFresh,
  missingScopes,
  readSignIn,
  type SignInRecord,
  writeSignIn,
} from "./sign-in-record.ts";

const record: SignInRecord = {
  issuer: "https://auth.example.com",
  resource: undefined,
  client: { id: "c", secret: undefined, authMethod: "none" },
  tokenEndpoint: "https://auth.example.com/token",
  revocationEndpoint: undefined,
  grant: "authorization_code",
  accessToken: "t",
  tokenType: "bearer",
  refreshToken: "r",
  expiresAt: undefined,
  issuedAt: 1_000_000,
  signedInAt: 1_000_000,
  requestedScopes: ["a", "b", "offline_access"],
  scopes: ["a"],
  account: undefined,
  dpopKey: undefined,
};

function lasting(lifetimeMs: number): SignInRecord {
  return { ...record, expiresAt: record.issuedAt + lifetimeMs };
}

describe("a token", () => {
  it.each([
    ["of an hour is renewed half a minute before its end", 3_600_000, 3_570_000],
    ["of a minute is renewed after nine tenths of it", 60_000, 54_000],
    ["of a second is renewed after nine tenths of it", 1_000, 900],
  ])("AUT-07: %s", (_title, lifetimeMs, renewedAfterMs) => {
    const { issuedAt } = record;
    expect(isFresh(lasting(lifetimeMs), issuedAt + renewedAfterMs - 1)).toBe(true);
    expect(isFresh(lasting(lifetimeMs), issuedAt + renewedAfterMs)).toBe(false);
    expect(isExpired(lasting(lifetimeMs), issuedAt + renewedAfterMs)).toBe(false);
    expect(isExpired(lasting(lifetimeMs), issuedAt + lifetimeMs)).toBe(true);
  });

  it("AUT-07: without an end is good until the server says otherwise", () => {
    expect(isFresh(record, Number.MAX_SAFE_INTEGER)).toBe(true);
    expect(isExpired(record, Number.MAX_SAFE_INTEGER)).toBe(false);
  });

  it("J5: that is fresh now was fresh before, and is never fresh after its end", () => {
    const times = fc.integer({ min: -1e12, max: 1e12 });
    fc.assert(
      fc.property(fc.nat({ max: 1e9 }), times, times, (lifetimeMs, one, other) => {
        const [earlier, later] = [Math.min(one, other), Math.max(one, other)];
        const token = lasting(lifetimeMs);
        if (isFresh(token, later)) expect(isFresh(token, earlier)).toBe(true);
        if (isExpired(token, earlier)) expect(isFresh(token, later)).toBe(false);
      }),
    );
  });
});

describe("a record", () => {
  it("AUT-08: comes back as it was kept", async () => {
    const vault = new MemoryVault();
    await writeSignIn(vault, "sign-in/x", lasting(1_000));
    expect(await readSignIn(vault, "sign-in/x")).toEqual(lasting(1_000));
    expect(await readSignIn(vault, "sign-in/y")).toBeUndefined();
  });

  it("of another version is left alone", async () => {
    const vault = new MemoryVault();
    for (const text of [JSON.stringify({ ...record, version: 2 }), "[]", "null", '"text"']) {
      await vault.write("sign-in/x", text);
      expect(await readSignIn(vault, "sign-in/x")).toBeUndefined();
    }
  });

  it("AUT-06: says which scopes were not given; to stay signed in is none of them", () => {
    expect(missingScopes(record)).toEqual(["b"]);
  });
});
