import { describe, expect, it } from "vitest";

import { isUtf8Locale, toAsciiGlyphs } from "./glyphs.ts";

describe("glyphs", () => {
  it("have stand-ins in plain ASCII", () => {
    const shown = toAsciiGlyphs("✓ ✗ ● ◐ ⏸ ⚠ ○ → · – — … █░");
    expect(shown).toBe("+ x * ~ = ! o -> - - - ... #.");
  });

  it.each([
    [{ LANG: "en_US.UTF-8" }, true],
    [{ LANG: "C.utf8" }, true],
    [{ LANG: "C" }, false],
    [{}, false],
    [{ LC_ALL: "C", LANG: "en_US.UTF-8" }, false],
    [{ LC_ALL: "", LC_CTYPE: "de_DE.UTF-8", LANG: "C" }, true],
  ])("are used according to the locale %j", (env, expected) => {
    expect(isUtf8Locale(env, "linux")).toBe(expected);
  });

  it("are used on Windows, which has no such variables", () => {
    expect(isUtf8Locale({}, "win32")).toBe(true);
  });
});
