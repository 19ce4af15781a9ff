// Everything beyond ASCII that the command line itself writes. Layouts count on one column each for
// the signs of states, so those stand-ins are one character long.
const standIns: Readonly<Record<string, string>> = {
  "✓": "+",
  "✗": "x",
  "●": "*",
  "◐": "~",
  "⏸": "=",
  "⚠": "!",
  "○": "o",
  "▲": "^",
  "→": "->",
  "·": "-",
  "–": "-",
  "—": "-",
  "…": "...",
  "█": "#",
  "░": ".",
};
const pattern = new RegExp(`[${Object.keys(standIns).join("")}]`, "gu");

/** The text for a terminal whose locale is not UTF-8. */
export function toAsciiGlyphs(text: string): string {
  return text.replace(pattern, (glyph) => standIns[glyph] ?? glyph);
}

type Environment = Readonly<Record<string, string | undefined>>;

/** By the rules of POSIX the first of the three that is set decides; none means plain ASCII. */
export function isUtf8Locale(env: Environment, platform: NodeJS.Platform): boolean {
  const locale = env["LC_ALL"] || env["LC_CTYPE"] || env["LANG"];
  // Windows has no such variables, and its terminals show Unicode.
  if (locale === undefined || locale === "") return platform === "win32";
  return /utf-?8/i.test(locale);
}
