import { describe, expect, it } from "vitest";

import { escapeInvisible, quoteWord } from "./escape-invisible.ts";

describe("text with nothing left out", () => {
  it.each([
    ["plain text, ünïcode, 日本 🎉", "plain text, ünïcode, 日本 🎉"],
    ["a\u001B[2Kb\r\n\t", "a\\u001b[2Kb\\u000d\\u000a\\u0009"],
    ["a\u202Eb\u200Bc\uFEFF", "a\\u202eb\\u200bc\\ufeff"],
    ["a\u{E0041}b", "a\\udb40\\udc41b"],
    ["a\u00A0b\u3000c\u3164d", "a\\u00a0b\\u3000c\\u3164d"],
    ["a\uD800b", "a\\ud800b"],
  ])("CLI-16: %j", (text, shown) => {
    expect(escapeInvisible(text)).toBe(shown);
  });

  it.each([
    ["--flag=/a/b", "--flag=/a/b"],
    ["two words", '"two words"'],
    ["", '""'],
    ['"quoted"', '"\\"quoted\\""'],
    ["line\nbreak\u202E", '"line\\nbreak\\u202e"'],
    ["$(rm)", '"$(rm)"'],
  ])("CLI-16: the word %j", (word, shown) => {
    expect(quoteWord(word)).toBe(shown);
  });
});
