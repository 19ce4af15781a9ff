import fc from "fast-check";
import { describe, expect, it } from "vitest";

import { createDecimalWriter } from "./decimal-writer.ts";

describe("createDecimalWriter", () => {
  it("writes every whole number as the engine does, in whatever order they come", () => {
    const write = createDecimalWriter();
    // Beyond them, a number and the next one may be the same.
    const numbers = fc.oneof(fc.nat(3_000), fc.nat(Number.MAX_SAFE_INTEGER - 3));
    fc.assert(
      fc.property(fc.array(fc.tuple(numbers, fc.nat(3)), { maxLength: 50 }), (runs) => {
        for (const [start, length] of runs)
          for (let number = start; number < start + length; number += 1)
            expect(write(number)).toBe(String(number));
      }),
    );
    for (const number of [0, 9, 99, 100, 999, 1_000, 1_001, 1_999, 2_000, 999_999, 1_000_000])
      expect(write(number)).toBe(String(number));
  });
});
