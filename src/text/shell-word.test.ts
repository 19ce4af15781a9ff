import { execFileSync } from "node:child_process";

import fc from "fast-check";
import { describe, expect, it } from "vitest";

import { shellWord } from "./shell-word.ts";

describe("a word for a shell", () => {
  it.each(["files", "a.b", "./x", "@scope/name", "key=value"])("%j stays as it is", (text) => {
    expect(shellWord(text)).toBe(text);
  });

  it.each([
    ["", "''"],
    ["a b", "'a b'"],
    ["x; touch owned #", "'x; touch owned #'"],
    ["$(id)", "'$(id)'"],
    ["it's", String.raw`'it'\''s'`],
    ["~", "'~'"],
  ])("%j is quoted", (text, word) => {
    expect(shellWord(text)).toBe(word);
  });

  it.skipIf(process.platform === "win32")("a shell reads exactly the text", () => {
    const text = fc
      .string({ unit: "grapheme", maxLength: 40 })
      .filter((one) => !one.includes("\0"));
    const texts = fc.sample(text, { numRuns: 300, seed: 1 });
    const script = `printf '%s\\0' ${texts.map((one) => shellWord(one)).join(" ")}`;
    const read = execFileSync("sh", ["-c", script], { encoding: "utf8" }).split("\0").slice(0, -1);
    expect(read).toEqual(texts);
  });
});
