import fc from "fast-check";
import { describe, expect, it } from "vitest";

import { parseChallenges, scopesIn, tokenChallenge } from "./challenge.ts";

describe("the challenge of a server", () => {
  it.each([
    ["a scheme alone", "Bearer", [{ scheme: "bearer" }]],
    [
      "with quoted and plain values",
      'Bearer error="invalid_token", scope="a b" , resource_metadata=https://x.example/m',
      [
        {
          scheme: "bearer",
          error: "invalid_token",
          scope: "a b",
          resourceMetadata: "https://x.example/m",
        },
      ],
    ],
    [
      "with quoted characters",
      String.raw`Bearer scope="a\"b\\c"`,
      [{ scheme: "bearer", scope: 'a"b\\c' }],
    ],
    [
      "with spaces around its signs",
      'Bearer  error = "x" ,, scope = y',
      [{ scheme: "bearer", error: "x", scope: "y" }],
    ],
    [
      "of several in one header",
      'Basic realm="x, Bearer y", Bearer error="e", DPoP algs="ES256", error="f"',
      [{ scheme: "basic" }, { scheme: "bearer", error: "e" }, { scheme: "dpop", error: "f" }],
    ],
    [
      "in several headers",
      ['Basic realm="x"', 'Bearer error="e"'],
      [{ scheme: "basic" }, { scheme: "bearer", error: "e" }],
    ],
    [
      "of a scheme with a token",
      "Negotiate abc==, Bearer",
      [{ scheme: "negotiate" }, { scheme: "bearer" }],
    ],
    [
      "whose value is said twice: the first counts",
      'Bearer error="one", error="two"',
      [{ scheme: "bearer", error: "one" }],
    ],
    [
      "up to what cannot be read",
      'Bearer error="e", \u0001 scope="s"',
      [{ scheme: "bearer", error: "e" }],
    ],
    [
      "whose quote never ends",
      'Bearer error="e", scope="never',
      [{ scheme: "bearer", error: "e", scope: "" }],
    ],
    ["of nothing", undefined, []],
    ["that is empty", "", []],
    ["that begins with a value", 'error="e"', []],
  ])("AUT-14: is read: %s", (_title, header, expected) => {
    expect(parseChallenges(header)).toEqual(expected);
  });

  it("cannot name what is no part of it", () => {
    const hostile = 'Bearer scheme="basic", __proto__="x", constructor="y", toString="z"';
    expect(parseChallenges(hostile)).toEqual([{ scheme: "bearer" }]);
    expect(Object.prototype).not.toHaveProperty("x");
  });

  it("is read up to 8 KB and 8 schemes", () => {
    expect(parseChallenges(`Bearer ${" ".repeat(8_192)}error="late"`)).toEqual([
      { scheme: "bearer" },
    ]);
    expect(parseChallenges("Bearer, ".repeat(1_000))).toHaveLength(8);
  });

  it("G6: never throws, and yields nothing longer than the header", () => {
    const parts = ["Bearer", "DPoP", " ", "\t", ",", "=", '"', "\\", 'a="b"', "a=b", "\u0000", "é"];
    const run = fc.tuple(fc.constantFrom(...parts), fc.nat({ max: 3_000 }));
    const headers = fc
      .array(run, { maxLength: 6 })
      .map((runs) => runs.map(([part, times]) => part.repeat(times)).join(""));
    fc.assert(
      fc.property(headers, (header) => {
        for (const { scheme, ...more } of parseChallenges(header)) {
          expect(scheme).toMatch(/^\S{1,40}$/);
          for (const value of Object.values(more)) expect(value.length).toBeLessThan(8_192);
        }
      }),
    );
  });

  it("AUT-14: that a token can answer is found among the others", () => {
    const all = parseChallenges('Basic realm="x", DPoP error="d", Bearer error="b"');
    expect(tokenChallenge(all)).toEqual({ scheme: "dpop", error: "d" });
    expect(tokenChallenge(parseChallenges("Basic"))).toBeUndefined();
  });
});

it("scopes are told apart once, in their order", () => {
  expect(scopesIn("b a", undefined, " a  c ")).toEqual(["b", "a", "c"]);
});
