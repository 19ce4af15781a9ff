// Everything that is not seen, is seen as something else, or moves what is seen: controls, formats such
// as bidirectional marks, fillers, blanks other than the plain one.
const unseen = /[\p{C}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}]|(?! )\p{Zs}/gu;

/** `text` with nothing left out: what could not be seen is written as an escape. Safe for a terminal. */
export function exactText(text: string): string {
  return text.replace(unseen, (character) =>
    Array.from({ length: character.length }, (_, index) => escapeUnit(character, index)).join(""),
  );
}

/** A word of a command line, quoted where a blank or a quote would blur where it ends. */
export function exactWord(word: string): string {
  return /^[\w@%+=:,./~-]+$/.test(word) ? word : exactText(JSON.stringify(word));
}

function escapeUnit(text: string, index: number): string {
  return `\\u${text.charCodeAt(index).toString(16).padStart(4, "0")}`;
}
