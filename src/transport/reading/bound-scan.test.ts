import fc from "fast-check";
import { describe, expect, it } from "vitest";

import { BoundScan, type JsonBounds } from "./bound-scan.ts";
import { brokenBound } from "./json-bounds.ts";

function feed(text: string, bounds: JsonBounds, pieceBytes: number): "deep" | "dense" | undefined {
  const scan = new BoundScan(bounds);
  const bytes = Buffer.from(text);
  for (let start = 0; start < bytes.length; start += pieceBytes) {
    const broken = scan.feed(bytes.subarray(start, start + pieceBytes));
    if (broken !== undefined) return broken;
  }
  return undefined;
}

describe("BoundScan", () => {
  const string = fc
    .array(fc.constantFrom('"', "\\", "[", "}", ",", ":", "é", "a".repeat(40)), { maxLength: 20 })
    .map((parts) => parts.join(""));
  const { tree: value } = fc.letrec((tie) => ({
    tree: fc.oneof(
      { maxDepth: 6 },
      string,
      fc.integer(),
      fc.array(tie("tree"), { maxLength: 4 }),
      fc.dictionary(string, tie("tree"), { maxKeys: 4 }),
    ),
  }));

  it("A11 A22: finds in pieces of any size what is found in the whole text", () => {
    const bound = fc.integer({ min: 1, max: 60 });
    fc.assert(
      fc.property(value, bound, bound, fc.nat(70), (parsed, maxJsonDepth, maxJsonValues, extra) => {
        const text = JSON.stringify(parsed);
        const deep = { maxJsonDepth: maxJsonDepth % 7, maxJsonValues: 1_000_000 };
        const dense = { maxJsonDepth: 1_000, maxJsonValues };
        // The quick look at a whole text may pass one that is just above a bound, and never one that is not.
        for (const bounds of [deep, dense])
          expect(feed(text, bounds, extra + 1)).toBe(feed(text, bounds, text.length * 4));
        expect(feed(text, deep, extra + 1)).toBe(brokenBound(text, deep));
        if (brokenBound(text, dense) === "dense")
          expect(feed(text, dense, extra + 1)).toBe("dense");
      }),
      { numRuns: 1_000 },
    );
  });

  it("A22: a string of any length counts as one value, however it is cut", () => {
    const text = JSON.stringify({ text: `${'{"a":[1,2]},'.repeat(2_000)}${"\\".repeat(501)}` });
    for (const pieceBytes of [1, 7, 100, 65_536])
      expect(feed(text, { maxJsonDepth: 1, maxJsonValues: 3 }, pieceBytes)).toBeUndefined();
  });
});
