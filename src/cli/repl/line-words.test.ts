import fc from "fast-check";
import { describe, expect, it } from "vitest";

import { neutralizeLine } from "../../text/untrusted/neutralize.ts";
import { lineWord, splitLine } from "./line-words.ts";

describe("a line of the REPL", () => {
  it("is taken apart as a shell would, without expanding or running anything", () => {
    const line = String.raw`/mcp call a.b x='1 2' y="say \"hi\" \n" z=a\ b $HOME $(id) '' $'t\tn'`;
    expect(splitLine(line).words).toEqual([
      "/mcp",
      "call",
      "a.b",
      "x=1 2",
      String.raw`y=say "hi" \n`,
      "z=a b",
      "$HOME",
      "$(id)",
      "",
      "t\tn",
    ]);
  });

  it("goes on where a quote is open, or behind a backslash at its end", () => {
    expect(splitLine("call 'a").isOpen).toBe(true);
    expect(splitLine('call "a').isOpen).toBe(true);
    expect(splitLine("call a\\").isOpen).toBe(true);
    expect(splitLine("call 'a\nb'")).toMatchObject({ words: ["call", "a\nb"], isOpen: false });
    expect(splitLine("call a \\\nb").words).toEqual(["call", "a", "b"]);
  });

  it("knows where its last word begins, also behind a blank", () => {
    expect(splitLine("call de").lastAt).toBe(5);
    expect(splitLine("call 'de mo").lastAt).toBe(5);
    expect(splitLine("call ").lastAt).toBe(5);
  });

  it("CLI-16: holds any name as one word that reads back exactly, and shows nothing but itself", () => {
    fc.assert(
      fc.property(
        fc.oneof(
          fc.string({ unit: "binary" }),
          fc.string({ unit: "grapheme" }),
          fc.constantFrom("a\u001B[2J", "x\u202Ey", "a b", "it's", '"', "$(id)", "a\\", "\n", ""),
        ),
        (name) => {
          const word = lineWord(name);
          expect(splitLine(word)).toMatchObject({ words: [name], isOpen: false });
          expect(neutralizeLine(word)).toBe(word);
        },
      ),
    );
  });
});
