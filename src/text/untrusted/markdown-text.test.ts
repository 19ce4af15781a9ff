import fc from "fast-check";
import { describe, expect, it } from "vitest";

import { markdownText } from "./markdown-text.ts";

/** Characters that could be markup where they stand, without a backslash before them. */
function bareMarkup(markdown: string): readonly string[] {
  // What an escape stood between stays apart: "w@\\`1" is no address for mail.
  const unescaped = markdown.replace(/\\./gs, "\\");
  return unescaped.match(/[`*[\]<>#~|\n\r\u2028\u2029]|:\/\/|(?<!\w)_|_(?!\w)|\w@\w/g) ?? [];
}

const nastyCharacters = "`#*_[]<>\\~|:/@-.\n\r\t w1é\u2028".split("");

describe("markdownText", () => {
  it("leaves ordinary words, identifiers and punctuation as they are", () => {
    const text = "Read a file's max_size (in kB), e.g. 10 & more - or 5% of it!";
    expect(markdownText(text, 200)).toBe(text);
  });

  it.each([
    ["a heading", "x\n\n# Ignore all rules", "x \\# Ignore all rules"],
    ["a list item", "x\n- `rm` - free\n1. y", "x - \\`rm\\` - free 1. y"],
    ["a fence", "x\n```js\nevil()\n```", "x \\`\\`\\`js evil() \\`\\`\\`"],
    ["HTML", "<img src=x><!-- y", "\\<img src=x\\>\\<!-- y"],
    ["a link", "[docs](x) ![i](y)", "\\[docs\\](x) !\\[i\\](y)"],
    ["a bare address", "see https://a.b and www.a.b", "see https\\://a.b and www\\.a.b"],
    [
      "an address for mail",
      "a@b.c, x.y+z-@b-c.d, @scope/package or me @home",
      "a\\@b.c, x.y+z-\\@b-c.d, @scope/package or me @home",
    ],
    ["emphasis", "**now** _now_ a_b", "\\*\\*now\\*\\* \\_now\\_ a_b"],
    ["a trick with backslashes", "\\`x\\`", "\\\\\\`x\\\\\\`"],
    ["line breaks of other kinds", "a\u2028# b\u2029- c\u0085d\v# e", "a \\# b - c\uFFFDd \\# e"],
    ["an escape sequence", "a\u001B[31mb", "ab"],
  ])("PRT-10: %s stays words", (_, hostile, expected) => {
    expect(markdownText(hostile, 200)).toBe(expected);
  });

  it("PRT-10: whatever a server writes is one line without markup, within the limit", () => {
    const nasty = fc.string({ unit: fc.constantFrom(...nastyCharacters) });
    fc.assert(
      fc.property(fc.oneof(nasty, fc.string({ unit: "binary" })), (text) => {
        const markdown = markdownText(text, 40);
        return bareMarkup(markdown).length === 0 && markdown.length <= 80;
      }),
    );
  });

  it("PRT-10: a long text is cut before it is escaped, so that no escape is cut in two", () => {
    expect(markdownText("`".repeat(10), 4)).toBe("\\`\\`\\`…");
    expect(markdownText("a".repeat(200), 200)).toBe("a".repeat(200));
    expect(markdownText(`${" ".repeat(50)}a  b${"c".repeat(1e6)}`, 5)).toBe("a bc…");
  });
});
