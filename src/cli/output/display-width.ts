/** Characters that take two columns: East Asian scripts, full-width forms and emoji. */
const wideCharacters =
  /[\u1100-\u115F\u2E80-\u303E\u3041-\uA4CF\uAC00-\uD7A3\uF900-\uFAFF\uFE30-\uFE6F\uFF00-\uFF60\uFFE0-\uFFE6\u{1F300}-\u{1FAFF}\u{20000}-\u{3FFFD}]/u;

/** At least as many columns as a terminal needs for the text. */
export function displayWidth(text: string): number {
  let width = 0;
  for (const character of text) width += wideCharacters.test(character) ? 2 : 1;
  return width;
}

/** The longest beginning of the text that needs no more than `columns` columns. */
export function cutToWidth(text: string, columns: number): string {
  if (displayWidth(text) <= columns) return text;
  let cut = "";
  let width = 0;
  for (const character of text) {
    width += wideCharacters.test(character) ? 2 : 1;
    if (width > columns) break;
    cut += character;
  }
  return cut;
}
