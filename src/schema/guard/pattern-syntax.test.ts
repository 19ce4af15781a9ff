import fc from "fast-check";
import { RE2JS } from "re2js";
import { describe, expect, it } from "vitest";

import { toLinearPattern } from "./pattern-syntax.ts";

function matches(pattern: string, text: string): boolean | undefined {
  const linear = toLinearPattern(pattern);
  return linear === undefined ? undefined : RE2JS.compile(linear.source).test(text);
}

describe("toLinearPattern", () => {
  it.each([
    [String.raw`^\d{4}-\d{2}-\d{2}$`, "2024-01-02", "2024-1-2"],
    [String.raw`^https?:\/\/`, "https://example.test", "ftp://example.test"],
    [String.raw`^[\w.-]+@[\w-]+(?:\.[a-z]{2,})+$`, "a.b@example.co", "a@b"],
    [String.raw`^\p{Lu}\p{L}*$`, "Ärger", "ärger"],
    [String.raw`^\u{1F600}\uD83D\uDE00$`, "😀😀", "😀"],
    [String.raw`^(?<year>\d+)?$`, "2024", "x"],
    [String.raw`^a{2}$`, "aa", "aaa"],
    [String.raw`^.$`, "😀", "\n"],
    [String.raw`^[^a-c]$`, "d", "b"],
    [String.raw`^[\s-x]$`, "-", "y"],
    [String.raw`^[+--]$`, ",", "."],
    [String.raw`^[]$|^[^]$`, "\n", "ab"],
    [String.raw`^\cJ\x41\0$`, "\nA\0", "A"],
    [String.raw`\bcat\b`, "a cat!", "concatenate"],
    ["a{,2}", "a{,2}", "aa"],
    ["", "anything", undefined],
  ])("BRG-21: %s means what it means in ECMAScript", (pattern, accepted, refused) => {
    expect(matches(pattern, accepted)).toBe(true);
    if (refused !== undefined) expect(matches(pattern, refused)).toBe(false);
  });

  it.each([
    ["\u00A0", true],
    ["\uFEFF", true],
    ["\v", true],
    ["\u2028", true],
    ["\u180E", false],
    ["_", false],
  ])("BRG-21: white space is ECMAScript's, not RE2's: %j", (text, isSpace) => {
    expect(matches(String.raw`^\s$`, text)).toBe(isSpace);
    expect(matches(String.raw`^\S$`, text)).toBe(!isSpace);
    expect(matches(String.raw`^[\s]$`, text)).toBe(isSpace);
    expect(matches(String.raw`^[\S]$`, text)).toBe(!isSpace);
  });

  it.each([
    ["look-ahead", "^(?=a)b"],
    ["negative look-ahead", "^(?!a)b"],
    ["look-behind", "(?<=a)b"],
    ["a back-reference", String.raw`(a)\1`],
    ["a named back-reference", String.raw`(?<x>a)\k<x>`],
    ["an unknown property", String.raw`\p{Nonsense}`],
    ["a lone surrogate", String.raw`\uD800`],
    ["a huge count", "a{2000}"],
    ["counts that multiply", "(a{100}){100}"],
    ["a huge program", "(?:abcdefghijklmnop){900}"],
    ["an unclosed group", "(a"],
    ["an unclosed class", "[a"],
    ["a stray quantifier", "*a"],
    ["an inline flag", "(?i)a"],
    ["more text than is sensible", "a".repeat(5_000)],
  ])("BRG-21: leaves %s to the server", (_name, pattern) => {
    expect(toLinearPattern(pattern)).toBeUndefined();
  });

  it("estimates the size with counts multiplied out", () => {
    expect(toLinearPattern("abc")?.size).toBe(3);
    expect(toLinearPattern("(?:ab){10}")?.size).toBeGreaterThanOrEqual(20);
    expect(toLinearPattern("[a-z]{50}")?.size).toBeGreaterThanOrEqual(50);
  });

  it("BRG-21: agrees with ECMAScript on generated patterns and texts", () => {
    const atom = fc.oneof(
      fc.constantFrom("a", "b", "é", "😀", ".", "[ab]", "[^a]", "[a-c1-3]", "[^\\s]", "[\\w-]"),
      fc.constantFrom(
        "\\d",
        "\\D",
        "\\w",
        "\\W",
        "\\s",
        "\\S",
        "\\.",
        "\\-",
        "\\/",
        "\\p{L}",
        "^",
        "$",
      ),
    );
    const quantifier = fc.constantFrom("", "", "*", "+", "?", "{2}", "{1,}", "{0,2}", "*?", "+?");
    const { pattern } = fc.letrec<{ pattern: string; piece: string }>((tie) => ({
      piece: fc.oneof(
        { maxDepth: 3 },
        fc
          .tuple(atom, quantifier)
          .map(([text, times]) => (text === "^" || text === "$" ? text : text + times)),
        fc
          .tuple(fc.constantFrom("(", "(?:", "(?<g>"), tie("pattern"), quantifier)
          .map(([open, inner, times]) => `${open}${inner})${times}`),
      ),
      pattern: fc
        .array(fc.array(tie("piece"), { maxLength: 4 }), { minLength: 1, maxLength: 2 })
        .map((branches) => branches.map((pieces) => pieces.join("")).join("|")),
    }));
    const text = fc
      .array(fc.constantFrom("a", "b", "c", "1", "é", "😀", " ", "\n", ".", "-", "/", "\u00A0"), {
        maxLength: 6,
      })
      .map((parts) => parts.join(""));
    let compared = 0;
    fc.assert(
      fc.property(pattern, fc.array(text, { minLength: 5, maxLength: 5 }), (source, texts) => {
        let reference: RegExp;
        try {
          reference = new RegExp(source, "u");
        } catch {
          return; // Two groups of one name, or an escape that the `u` flag forbids.
        }
        const linear = toLinearPattern(source);
        expect(linear).toBeDefined();
        if (linear === undefined) return;
        const compiled = RE2JS.compile(linear.source);
        for (const candidate of texts) {
          expect(compiled.test(candidate)).toBe(reference.test(candidate));
          compared += 1;
        }
      }),
      { numRuns: 1_500 },
    );
    expect(compared).toBeGreaterThan(1_000);
  });
});
