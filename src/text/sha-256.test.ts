import { createHash } from "node:crypto";

import { describe, expect, it } from "vitest";

import { canonicalHash, canonicalJson, entryHash, expectFewEntries } from "./canonical-hash.ts";
import { sha256 } from "./sha-256.ts";

const expected = (text: string): string => createHash("sha256").update(text).digest("hex");

describe("sha256", () => {
  it("is what Node computes, for texts of every length around its blocks", () => {
    for (let length = 0; length <= 260; length += 1) {
      const text = Array.from({ length }, (_, index) => String.fromCharCode(index * 7)).join("");
      expect(sha256(text)).toBe(expected(text));
    }
    for (const text of ["é".repeat(1_000), "\u{1F600}", "\uD800", "\0"])
      expect(sha256(text)).toBe(expected(text));
  });
});

describe("entryHash", () => {
  it("is the same for the first entries of a short process and for all others", () => {
    expectFewEntries();
    for (let index = 0; index < 200; index += 1) {
      const value = { b: index, a: "x".repeat(index * 5) };
      expect(entryHash(value)).toBe(expected(canonicalJson(value)));
      expect(canonicalHash(value)).toBe(entryHash(value));
    }
  });
});
