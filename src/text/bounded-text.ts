import { neutralize, neutralizeLine } from "./neutralize.ts";
import { truncate } from "./truncate.ts";

/** Escape sequences and runs of spaces are read and not shown; so much more than is shown is read. */
const readPerShown = 4;

/** Server text made safe to show, at most `limit` characters of it; the work does not grow with the text. */
export function boundedText(text: string, limit: number): string {
  return bound(text, limit, neutralize);
}

/** The same on one line. */
export function boundedLine(text: string, limit: number): string {
  return bound(text, limit, neutralizeLine);
}

function bound(text: string, limit: number, makeSafe: (text: string) => string): string {
  const read = text.length <= limit ? text : text.slice(0, limit * readPerShown);
  const safe = makeSafe(read);
  return truncate(read.length < text.length ? `${safe}…` : safe, limit);
}
