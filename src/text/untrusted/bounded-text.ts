import { redact } from "../secrets/redact.ts";
import { truncate } from "../truncate.ts";
import { neutralize, neutralizeLine } from "./neutralize.ts";

/** Escape sequences and runs of spaces are read and not shown; so much more than is shown is read. */
const readPerShown = 4;

const maxReasonText = 500;

/** Server text made safe to show, at most `limit` characters of it; the work does not grow with the text. */
export function boundedText(text: string, limit: number): string {
  return bound(text, limit, neutralize);
}

/** Server text on one line, otherwise like `boundedText`. */
export function boundedLine(text: string, limit: number): string {
  return bound(text, limit, neutralizeLine);
}

/** Server text as a message may quote it: a `boundedLine` without credentials. */
export function serverText(text: string, limit = 300): string {
  // More than is shown: a credential that is cut in the middle has no shape to recognise it by.
  return truncate(redact(boundedLine(text, limit * 4)), limit);
}

/** Says in one line that may be shown why code of the program failed: anybody may have written what it threw. */
export function reasonText(thrown: unknown): string {
  const reason = thrown instanceof Error ? thrown.message : "unknown reason";
  return serverText(reason, maxReasonText);
}

function bound(text: string, limit: number, makeSafe: (text: string) => string): string {
  const read = text.length <= limit ? text : text.slice(0, limit * readPerShown);
  const safe = makeSafe(read);
  return truncate(read.length < text.length ? `${safe}…` : safe, limit);
}
