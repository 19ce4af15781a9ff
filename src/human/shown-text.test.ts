import { describe, expect, it } from "vitest";

import { isUnseen, noteSeen, showText, trackShown } from "./shown-text.ts";

describe("a text in a question", () => {
  it("L4: is shown as it is, with an escape for what could not be seen", () => {
    const shown = showText("token=abc\u202E\u001B[2J");
    expect(shown).toMatchObject({ text: String.raw`token=abc\u202e\u001b[2J`, omittedChars: 0 });
    expect(isUnseen(shown)).toBe(false);
  });

  it("L4: is cut when it is long, and seen when the whole was there", async () => {
    const raw = `${"x".repeat(100_000)}\u202E😀`;
    const shown = showText(raw);
    expect(shown.text).toBe("x".repeat(4_000));
    expect(shown.omittedChars).toBe(raw.length - 4_000);
    const whole = shown.whole();
    expect(isUnseen(shown)).toBe(true);
    expect(await whole).toBe(`${"x".repeat(100_000)}${String.raw`\u202e`}😀`);
    expect(isUnseen(shown)).toBe(false);
  });

  it("never splits a pair of surrogates, neither at the cut nor between pieces", async () => {
    const raw = `x${"😀".repeat(20_000)}`;
    const shown = showText(raw, { maxChars: 4 });
    expect(shown).toMatchObject({ text: "x😀", omittedChars: raw.length - 3 });
    expect(await shown.whole()).toBe(raw);
    for (const pair of ["\u{10000}", "\u{10FFFF}"])
      expect(showText(`x${pair}y`, { maxChars: 2 })).toMatchObject({ text: "x", omittedChars: 3 });
    expect(showText("xx\uFFFD", { maxChars: 2 })).toMatchObject({ text: "xx", omittedChars: 1 });
  });

  it("is not cut where it just fits, whatever it ends with", () => {
    const raw = "xxx\uD83D";
    expect(showText(raw, { maxChars: 4 })).toMatchObject({ omittedChars: 0 });
  });

  it("L4: handed over in another form it is seen as well", () => {
    const shown = showText("x".repeat(5_000));
    noteSeen(shown);
    expect(isUnseen(shown)).toBe(false);
  });

  it("L4: a whole that could not be made was not seen", async () => {
    const whole = () => Promise.reject(new Error("gone"));
    const shown = trackShown({ text: "", omittedChars: 1, whole });
    await expect(shown.whole()).rejects.toThrow("gone");
    expect(isUnseen(shown)).toBe(true);
  });

  it("a text of megabytes lets other work have its turn", async () => {
    const shown = showText("\u202E".repeat(2_000_000));
    let turns = 0;
    let isDone = false;
    const count = (): void => {
      turns += 1;
      if (!isDone) setImmediate(count);
    };
    setImmediate(count);
    expect(await shown.whole()).toHaveLength(12_000_000);
    isDone = true;
    expect(turns).toBeGreaterThan(1);
  });
});
