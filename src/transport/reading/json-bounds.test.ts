import fc from "fast-check";
import { describe, expect, it } from "vitest";

import { BoundScan, brokenBound, type JsonBounds } from "./json-bounds.ts";

function exceedsJsonDepth(json: string, maxJsonDepth: number): boolean {
  return brokenBound(json, { maxJsonDepth, maxJsonValues: 1_000_000 }) === "deep";
}

function depthOf(value: unknown): number {
  if (typeof value !== "object" || value === null) return 0;
  return 1 + Math.max(0, ...Object.values(value).map(depthOf));
}

describe("the depth of JSON text", () => {
  it("A11: agrees with the depth of the parsed value", () => {
    const value = fc.jsonValue({ maxDepth: 8, depthSize: "max" });
    fc.assert(
      fc.property(value, fc.nat(9), fc.boolean(), (parsed, maxDepth, isPretty) => {
        const text = JSON.stringify(parsed, null, isPretty ? 2 : 0);
        expect(exceedsJsonDepth(text, maxDepth)).toBe(depthOf(JSON.parse(text)) > maxDepth);
      }),
    );
  });

  it("A11: allows exactly the limit and finds a hundred thousand levels", () => {
    const nested = (depth: number): string => "[".repeat(depth) + "]".repeat(depth);
    expect(exceedsJsonDepth(nested(200), 200)).toBe(false);
    expect(exceedsJsonDepth(nested(201), 200)).toBe(true);
    expect(exceedsJsonDepth('{"a":'.repeat(100_000) + "1" + "}".repeat(100_000), 200)).toBe(true);
  });

  it("brackets in strings do not count, whatever escapes stand around them", () => {
    const text = JSON.stringify({ a: '\\"[[[[{{{{', b: "\\\\", c: ["]]}}"], d: "[".repeat(50) });
    expect(exceedsJsonDepth(text, 2)).toBe(false);
    expect(exceedsJsonDepth(text, 1)).toBe(true);
  });
});

function valuesOf(value: unknown): number {
  if (typeof value !== "object" || value === null) return 1;
  const inner = Object.values(value).map(valuesOf);
  const keys = Array.isArray(value) ? 0 : inner.length;
  return 1 + keys + inner.reduce((sum, count) => sum + count, 0);
}

describe("the number of values in JSON text", () => {
  it("A22: is never above the limit when the text passes, and near it when it does not", () => {
    fc.assert(
      fc.property(fc.jsonValue(), fc.integer({ min: 1, max: 60 }), (parsed, maxJsonValues) => {
        const text = JSON.stringify(parsed);
        const broken = brokenBound(text, { maxJsonDepth: 1_000, maxJsonValues });
        const values = valuesOf(JSON.parse(text));
        if (broken === undefined) expect(values).toBeLessThanOrEqual(2 * maxJsonValues);
        else expect(values).toBeGreaterThan(maxJsonValues / 2);
      }),
    );
  });

  it("A22: text of any size is one value, whatever it is about", () => {
    const text = JSON.stringify({ text: '{"a":[1,2,3]},'.repeat(100_000) });
    expect(brokenBound(text, { maxJsonDepth: 10, maxJsonValues: 1_000 })).toBeUndefined();
    const list = JSON.stringify(Array.from({ length: 1_001 }, () => ({})));
    expect(brokenBound(list, { maxJsonDepth: 10, maxJsonValues: 1_000 })).toBe("dense");
  });
});

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
