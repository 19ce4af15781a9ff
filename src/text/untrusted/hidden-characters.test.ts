import { assert, constantFrom, nat, property, string, stringMatching } from "fast-check";
import { describe, expect, it } from "vitest";

import { boundedLine, boundedText } from "./bounded-text.ts";
import { findInstructionSigns } from "./instruction-signs.ts";
import { neutralize, neutralizeLine } from "./neutralize.ts";

const flagged = "invisible or direction-changing characters";
/** Every code point that Unicode calls ignorable or a bidirectional control; assigned or not. */
const ignorable = Array.from({ length: 0x11_0000 }, (_, code) => code).filter((code) =>
  /[\p{Default_Ignorable_Code_Point}\p{Bidi_Control}]/u.test(String.fromCodePoint(code)),
);
const honestTexts = [
  "⚠️ **MANDATORY**",
  "🛡️ Guardrails",
  "1️⃣ #️⃣ ©️ ❤︎",
  "👩‍👩‍👧‍👦 👩🏽‍💻 🏳️‍🌈 ❤️‍🔥 🏴‍☠️ 🧑‍🦰",
  // Persian, Hindi, Bengali and Sinhala words that are written with a non-joiner or a joiner.
  "می‌خواهم",
  "क्‌ष क्‍ष",
  "র‍্যাব",
  "ක්‍රම",
];

describe("hidden characters", () => {
  it("RES-18: every ignorable character and bidirectional control is seen, U+061C included", () => {
    expect(ignorable.length).toBeGreaterThan(4_000);
    expect(ignorable).toContain(0x06_1c);
    const missed = ignorable.filter((code) => {
      const hidden = String.fromCodePoint(code);
      return ["", "a", " ", "漢", "1", "\n"].some((beside) => {
        const text = `${beside}${hidden}${beside}`;
        const isShown = neutralize(text) === `${beside}\uFFFD${beside}`;
        return !isShown || !findInstructionSigns(text).includes(flagged);
      });
    });
    expect(missed).toEqual([]);
  });

  it("RES-18: nothing else but a control character is touched", () => {
    // oxlint-disable-next-line no-control-regex -- control characters are touched, too
    const other = /[\p{Default_Ignorable_Code_Point}\u0000-\u001F\u007F-\u009F]/gu;
    for (let start = 0; start < 0x11_0000; start += 0x1000) {
      const codes = Array.from({ length: 0x1000 }, (_, index) => start + index);
      const text = codes
        .map((code) => `a${String.fromCodePoint(code)}`)
        .join("")
        .replace(other, "");
      expect(neutralize(text)).toBe(text);
      expect(findInstructionSigns(text)).toEqual([]);
    }
  });

  it.each(honestTexts)(
    "RES-18: what is part of an emoji or of a joined script stays: %s",
    (text) => {
      expect(neutralize(text)).toBe(text);
      expect(neutralizeLine(text)).toBe(text);
      expect(findInstructionSigns(text)).toEqual([]);
    },
  );

  it.each([
    ["a joiner between Latin letters", "ig\u200Cnore", "ig\uFFFDnore"],
    ["a joiner at the end", "می\u200C", "می\uFFFD"],
    ["a second one", "می\u200C\u200Cخ", "می\uFFFD\uFFFDخ"],
    ["a selector on a letter", "a\uFE0F", "a\uFFFD"],
    ["a second selector", "⚠\uFE0F\uFE0F", "⚠\uFE0F\uFFFD"],
    ["a selector on a digit that is no key", "1\uFE0F", "1\uFFFD"],
    ["a joiner behind a selector that is gone", "a\uFE0F\u200D❤", "a\uFFFD\uFFFD❤"],
    ["a joiner beside an ignorable vowel", "\u17B4\u200Cក", "\uFFFD\uFFFDក"],
    ["bytes in the selectors of an emoji", "😀\u{E0141}\u{E0142}", "😀\uFFFD\uFFFD"],
    ["a flag of tags", "🏴\u{E0067}\u{E007F}", "🏴\uFFFD\uFFFD"],
  ])("RES-18: %s is marked and flagged", (_what, text, shown) => {
    expect(neutralize(text)).toBe(shown);
    expect(findInstructionSigns(text)).toEqual([flagged]);
  });
});

describe("boundedText", () => {
  const plain = ["a", " ", "\n", "\u001B[31m", "\u001B]0;t", "\u0007", "\u061C", "\u{E0041}"];
  const joined = ["⚠️", "1️⃣", "👩🏽‍💻", "می‌خ", "क्‍ष", "\u200D", "\u200C", "\uFE0F"];
  const units = constantFrom(...plain, ...joined);

  it("RES-18: what is cut is as safe as the whole and never longer than asked for", () => {
    assert(
      property(string({ unit: units }), nat(30), (text, limit) => {
        for (const shown of [boundedText(text, limit), boundedLine(text, limit)]) {
          expect(shown.length).toBeLessThanOrEqual(Math.max(1, limit));
          expect(neutralize(shown)).toBe(shown);
        }
      }),
      { numRuns: 2_000 },
    );
  });

  it("shows a short text whole and says when something is left out", () => {
    expect(boundedLine("a\n b", 10)).toBe("a b");
    expect(boundedText("a\nb", 10)).toBe("a\nb");
    expect(boundedLine("x".repeat(11), 10)).toBe(`${"x".repeat(9)}…`);
    expect(boundedLine(`shown\u001B]0;${"x".repeat(100)}`, 10)).toBe("shown…");
    assert(
      property(stringMatching(/^[a-z ]{0,40}$/), nat(40), (text, limit) => {
        expect(boundedText(text, limit).endsWith("…")).toBe(text.length > limit);
      }),
    );
  });
});
