/** A text without any invisible character. It is spared the expression for them, which takes a process 2 ms to build. */
const printable = /^[ -~]*$/;

/** Writes every invisible character of `text` as an escape and leaves nothing out. Safe for a terminal. */
export function escapeInvisible(text: string): string {
  if (printable.test(text)) return text;
  // Characters that are invisible, look like a plain blank, or move the text around them: controls, formats
  // such as bidirectional marks, fillers, other blanks. Outside of a function it would be read with each start.
  const invisible = /[\p{C}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}]|(?! )\p{Zs}/gu;
  return text.replace(invisible, (character) =>
    Array.from({ length: character.length }, (_, index) => escapeUnit(character, index)).join(""),
  );
}

/** Quotes a word of a command line where a blank or a quote would hide where it ends. */
export function quoteWord(word: string): string {
  return /^[\w@%+=:,./~-]+$/.test(word) ? word : escapeInvisible(JSON.stringify(word));
}

function escapeUnit(text: string, index: number): string {
  return `\\u${text.charCodeAt(index).toString(16).padStart(4, "0")}`;
}
