import { loadOnce } from "../async/load-once.ts";
import { TimeSlice } from "../async/time-slice.ts";
import { escapeInvisible } from "../text/untrusted/escape-invisible.ts";

/**
 * A text that a person decides on: as it is, nothing masked, and safe to print, because what could not be
 * seen is written as an escape. A long one is cut. A yes to a question counts only if all of its texts
 * were shown: where `omittedChars` is not 0, `whole` has to be asked for before.
 */
export interface ShownText {
  readonly text: string;
  /** How many characters `text` leaves out; a surface has to say so. */
  readonly omittedChars: number;
  /** All of it, however long. */
  readonly whole: () => Promise<string>;
}

interface ShowOptions {
  /** How a piece of the text is written; pieces are written one by one. */
  readonly write?: ((piece: string) => string) | undefined;
  readonly maxChars?: number | undefined;
}

/** The longest text that people still read in a question. */
export const maxShownChars = 4_000;
/** A piece is written in well under a millisecond. */
const pieceChars = 16 * 1024;

/** Texts that are cut and that nobody has asked for as a whole. */
const unseen = new WeakSet<ShownText>();

export function showText(raw: string, options?: ShowOptions): ShownText {
  return trackShown(cutText(raw, options));
}

/** Cuts a text without tracking it: for a part of something that is tracked as a whole. */
export function cutText(raw: string, options: ShowOptions = {}): ShownText {
  const { write = escapeInvisible, maxChars = maxShownChars } = options;
  const shownChars = wholeCharacters(raw, maxChars);
  return {
    text: write(raw.slice(0, shownChars)),
    omittedChars: raw.length - shownChars,
    whole: () => writeWhole(raw, write),
  };
}

/** Tracks whether the whole of a cut text was asked for: of the object it gives, not of a copy. */
export function trackShown<Shown extends ShownText>(shown: Shown): Shown {
  if (shown.omittedChars === 0) return shown;
  const load = loadOnce(() => shown.whole());
  const tracked = {
    ...shown,
    whole: async () => {
      const text = await load();
      unseen.delete(tracked);
      return text;
    },
  };
  unseen.add(tracked);
  return tracked;
}

/** Whether nobody has asked for the whole of a text that is cut. */
export function isUnseen(shown: ShownText): boolean {
  return unseen.has(shown);
}

/** Marks a text as seen, because the whole was handed over in another form. */
export function noteSeen(shown: ShownText): void {
  unseen.delete(shown);
}

/** Writes piece by piece, so that a text of megabytes does not hold the event loop. */
export async function writeWhole(raw: string, write: (piece: string) => string): Promise<string> {
  const slice = new TimeSlice();
  let text = "";
  for (let start = 0; start < raw.length;) {
    if (slice.isOver) await slice.next();
    const end = start + wholeCharacters(raw.slice(start, start + pieceChars + 1), pieceChars);
    text += write(raw.slice(start, end));
    start = end;
  }
  return text;
}

/** Counts how many of the first `limit` units can be taken without cutting a surrogate pair. */
function wholeCharacters(text: string, limit: number): number {
  if (text.length <= limit) return text.length;
  const last = text.charCodeAt(limit - 1);
  return last >= 0xd800 && last <= 0xdbff ? limit - 1 : limit;
}
