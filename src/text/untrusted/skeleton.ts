// Letters that most typefaces draw like a Latin one, after compatibility forms and accents are gone.
const lookalikes: Readonly<Record<string, string>> = {
  a: "аαɑ",
  b: "ЬƄ",
  c: "сϲ",
  d: "ԁɗ",
  e: "еҽє",
  g: "ɡց",
  h: "һհ",
  i: "іıɩι",
  j: "јϳ",
  k: "кκ",
  l: "ӏǀⅼ",
  m: "м",
  n: "ոп",
  o: "оοօσ",
  p: "рρ",
  q: "ԛգ",
  r: "гᴦ",
  s: "ѕꜱ",
  t: "тτ",
  u: "υսц",
  v: "νѵ",
  w: "ԝѡω",
  x: "хχ",
  y: "уүγ",
  z: "ᴢ",
  "-": "‐‑‒–—―−⁃",
  _: "‿⁀",
};
const latin = new Map(
  Object.entries(lookalikes).flatMap(([letter, others]) =>
    Array.from(others, (other): [string, string] => [other.toLowerCase(), letter]),
  ),
);
const plainAscii = /^[\u0020-\u007E]*$/;

/** What is left of a name once everything is gone that the eye does not tell apart. Equal for names that look alike. */
export function skeleton(name: string): string {
  const visible = plainAscii.test(name) ? name : toLatin(name);
  return visible
    .trim()
    .toLowerCase()
    .replace(/[i1|]/g, "l")
    .replaceAll("0", "o")
    .replaceAll("rn", "m")
    .replaceAll("vv", "w");
}

function toLatin(name: string): string {
  // Outside of the function, the expression would be read with each start.
  const unseen = /[\p{M}\p{C}\p{Default_Ignorable_Code_Point}]/gu;
  const decomposed = name.normalize("NFKD").replace(unseen, "").toLowerCase();
  return decomposed.replace(/[^\u0020-\u007E]/gu, (letter) => latin.get(letter) ?? letter);
}
