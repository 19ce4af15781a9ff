// Unicode says which characters leave no mark: `Default_Ignorable_Code_Point`, and `Bidi_Control` for
// those that reorder what stands beside them. They carry text that nobody sees, or make text read as
// something else. Two uses are honest, because the character changes what is seen, and at most one
// stands between two visible characters.

/** Scripts whose letters are joined: there a joiner or non-joiner decides how a word is written. */
const joinedScripts =
  "Adlm Arab Bali Beng Deva Gujr Guru Java Khmr Knda Mand Mlym Mong Mymr Nkoo Orya Phag Rohg Sinh Syrc Taml Telu"
    .split(" ")
    .map((script) => String.raw`\p{scx=${script}}`)
    .join("");
/** A letter or a sign on one; three conditions on the same character. */
const joinedLetter = String.raw`(?!\p{Default_Ignorable_Code_Point})(?=[\p{L}\p{M}])[${joinedScripts}]`;
const pictograph = String.raw`\p{Extended_Pictographic}`;

const honest = [
  // As emoji or as text: `⚠️`, and the keys of a telephone, `1️⃣`.
  String.raw`(?<=${pictograph})[\uFE0E\uFE0F]`,
  String.raw`(?<=[0-9#*])\uFE0F(?=\u20E3)`,
  // One picture of several: a family, a profession, a flag.
  String.raw`(?<=${pictograph}\uFE0F?|\p{Emoji_Modifier})\u200D(?=${pictograph})`,
  String.raw`(?<=${joinedLetter})[\u200C\u200D](?=${joinedLetter})`,
];

/**
 * The source of an expression (flag `u`) for one character that hides or reorders text. What stands beside
 * it decides, so a text must not be cut at it: see `truncate`. The time it takes is linear in the text.
 */
const hidden = String.raw`(?!${honest.join("|")})[\p{Default_Ignorable_Code_Point}\p{Bidi_Control}]`;

/** A text of Latin letters, punctuation and symbols alone. It is spared the expressions, which take milliseconds to build. */
// oxlint-disable-next-line no-control-regex -- ranges, which controls lie in
const familiar = /^[\0-\u00AC\u00AE-\u034E\u2010-\u2027\u2030-\u205F\u2070-\u2BFF]*$/;

/** Whether no character may hide something, whatever stands beside it: so in nearly every text. */
function isUnsuspicious(text: string): boolean {
  // Outside of the function, the expression would be read with each start.
  return familiar.test(text) || !/[\p{Default_Ignorable_Code_Point}\p{Bidi_Control}]/u.test(text);
}

let everyHidden: RegExp | undefined;
let anyHidden: RegExp | undefined;

/** Whether the text has a character that hides or reorders text. */
export function hasHiddenCharacter(text: string): boolean {
  if (isUnsuspicious(text)) return false;
  anyHidden ??= new RegExp(hidden, "u");
  return anyHidden.test(text);
}

export function replaceHiddenCharacters(text: string, replacement: string): string {
  if (isUnsuspicious(text)) return text;
  everyHidden ??= new RegExp(hidden, "gu");
  return text.replace(everyHidden, replacement);
}
