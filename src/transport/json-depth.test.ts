import fc from "fast-check";
import { describe, expect, it } from "vitest";

import { exceedsJsonDepth } from "./json-depth.ts";

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
