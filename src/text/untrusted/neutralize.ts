import { replaceHiddenCharacters } from "./hidden-characters.ts";

// Text from a server reaches terminals, logs and pages. Control characters move cursors and forge
// lines, bidirectional controls reorder what a person reads, tag characters hide text altogether.
const escapeSequences =
  // oxlint-disable-next-line no-control-regex -- matching control characters is the purpose
  /\u001B(?:\][^\u0007\u001B]*(?:\u0007|\u001B\\)?|[P^_X][^\u001B]*(?:\u001B\\)?|\[[0-?]*[ -/]*[@-~]?|[ -/]*[0-~]?)/g;
// oxlint-disable-next-line no-control-regex -- as above
const controls = /[\u0000-\u0008\u000B-\u001F\u007F-\u009F]/g;
/** Nothing has to be done about such a text, and most texts are. */
const harmless = /^[\t\n -~]*$/;

/**
 * Server text made safe to show: escape sequences go, other invisible characters become `�`. A hostile
 * megabyte takes a tenth of a second: what may be long goes through `boundedText`.
 */
export function neutralize(text: string): string {
  if (harmless.test(text)) return text;
  const visible = text.replace(escapeSequences, "").replace(controls, "\uFFFD");
  return replaceHiddenCharacters(visible, "\uFFFD");
}

/** The same on one line, for tables and messages. */
export function neutralizeLine(text: string): string {
  // One pass over each run of spaces: `\s*[\r\n\t]+\s*` would be quadratic in its length.
  return neutralize(text.replace(/\s+/g, (run) => (/[\r\n\t\u2028\u2029]/.test(run) ? " " : run)));
}
