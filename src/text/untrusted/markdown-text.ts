import { truncate } from "../truncate.ts";
import { neutralize } from "./neutralize.ts";

// `_` inside a word is no markup, and identifiers are better read without backslashes. Renderers make
// links of bare addresses, too, and of those for mail.
const markup =
  /[\\`*[\]<>#~|]|(?<![A-Za-z0-9])_|_(?![A-Za-z0-9])|:(?=\/\/)|(?<=\b[Ww][Ww][Ww])\.|(?<=[\w.+-])@(?=[\w-])/g;
/** One character of these, and there may be something to do. */
const suspicious = /[^ -~]|[\\`*[\]<>#~|_]|\s\s|:\/\/|www|[\w.+-]@[\w-]/i;
/** Of a text that is mostly space less is shown; a server's text must not cost more than it is worth. */
const charsRead = 2;

/**
 * Text of a stranger as one line of Markdown that says no more than its words: no headings, code, lists,
 * HTML or links, and at most `maxChars` characters before they are escaped.
 */
export function markdownText(text: string, maxChars: number): string {
  const read = text.trimStart().slice(0, maxChars * charsRead);
  if (!suspicious.test(read)) return truncate(read.trim(), maxChars);
  const line = neutralize(read.replace(/\s+/g, " ")).trim();
  return truncate(line, maxChars).replace(markup, "\\$&");
}
