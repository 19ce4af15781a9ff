import fc from "fast-check";
import { describe, expect, it } from "vitest";

import { sanitizeLine } from "./sanitize-line.ts";

const secret = "correct-horse-battery";

describe("one line of server output", () => {
  it("A18: a secret broken up by escape sequences is still recognised", () => {
    expect(sanitizeLine("a correct-\u001B[31mhorse-battery b", 100, [secret])).toBe(
      "a [redacted] b",
    );
    expect(sanitizeLine(`x gh\u001B[0mp_${"a".repeat(36)}`, 100, [])).toBe("x [redacted]");
  });

  it("A18: no part of a secret is shown, wherever the line is cut and whatever stands before it", () => {
    const filler = fc.constantFrom("x", "\u001B[31m", "\u202E", " ", "\u001B]0;t\u0007");
    fc.assert(
      fc.property(
        fc.array(filler, { maxLength: 700 }),
        fc.integer({ min: 1, max: 80 }),
        (parts, maxChars) => {
          const shown = sanitizeLine(`${parts.join("")} ${secret} ${"z".repeat(600)}`, maxChars, [
            secret,
          ]);
          expect(shown).not.toContain(secret.slice(0, 4));
          expect(shown.length).toBeLessThanOrEqual(maxChars);
        },
      ),
      { numRuns: 300 },
    );
  });

  it("a short line is shown whole, a long one with a mark where it was cut", () => {
    expect(sanitizeLine("as it is", 100, [])).toBe("as it is");
    expect(sanitizeLine("y".repeat(2_000), 10, [])).toBe("yyyyyyyyy…");
  });
});
