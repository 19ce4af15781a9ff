/** What a line holds: its words, and whether a quote of the last one is still open. */
export interface LineWords {
  readonly words: readonly string[];
  /** Where the last word begins in the line; its end, when the line ends with a blank. */
  readonly lastAt: number;
  readonly isOpen: boolean;
}

/** How an escape inside of `$'…'` is written. */
const escapes: Readonly<Record<string, string>> = {
  n: "\n",
  t: "\t",
  r: "\r",
  "\\": "\\",
  "'": "'",
};
const blank = /\s/;
const unicodeEscape = /^u\{([0-9a-f]{1,6})\}/i;

/**
 * Takes a line apart as a shell would: blanks part words; '…' is text as it stands; "…" is text in which a backslash
 * saves a quote or a backslash; `$'…'` knows `\n`, `\t`, `\'` and `\u{…}`; a backslash saves the next character.
 * Nothing is expanded, and nothing is run.
 */
export function splitLine(line: string): LineWords {
  const words: string[] = [];
  let word: string | undefined;
  let lastAt = line.length;
  let at = 0;
  while (at < line.length) {
    const character = line[at] ?? "";
    if (blank.test(character)) {
      if (word !== undefined) words.push(word);
      word = undefined;
      at += 1;
      continue;
    }
    if (word === undefined) lastAt = at;
    const piece = readPiece(line, at);
    word = (word ?? "") + piece.text;
    at = piece.end;
    if (piece.isOpen) return { words: [...words, word], lastAt, isOpen: true };
  }
  if (word === undefined) return { words, lastAt: line.length, isOpen: false };
  return { words: [...words, word], lastAt, isOpen: false };
}

interface Piece {
  readonly text: string;
  readonly end: number;
  readonly isOpen?: boolean;
}

function readPiece(line: string, at: number): Piece {
  const character = line[at] ?? "";
  if (character === "'") {
    const end = line.indexOf("'", at + 1);
    if (end === -1) return { text: line.slice(at + 1), end: line.length, isOpen: true };
    return { text: line.slice(at + 1, end), end: end + 1 };
  }
  if (character === '"') return readQuoted(line, at + 1, '"', saved);
  if (character === "$" && line[at + 1] === "'") return readQuoted(line, at + 2, "'", readEscape);
  if (character !== "\\") return { text: character, end: at + 1 };
  const next = line[at + 1];
  // A backslash at the end wants another line.
  if (next === undefined) return { text: "", end: at + 1, isOpen: true };
  return { text: next === "\n" ? "" : next, end: at + 2 };
}

/** Gives what an escape stands for, by the text behind its backslash, and how long that is. */
type ReadEscape = (rest: string) => { readonly text: string; readonly length: number };

function readQuoted(line: string, from: number, quote: string, escape: ReadEscape): Piece {
  let text = "";
  let at = from;
  while (at < line.length) {
    const character = line[at] ?? "";
    if (character === quote) return { text, end: at + 1 };
    if (character === "\\" && at + 1 < line.length) {
      const read = escape(line.slice(at + 1, at + 12));
      text += read.text;
      at += 1 + read.length;
    } else {
      text += character;
      at += 1;
    }
  }
  return { text, end: line.length, isOpen: true };
}

const saved: ReadEscape = (rest) => {
  const [next = ""] = rest;
  return { text: next === '"' || next === "\\" ? next : `\\${next}`, length: 1 };
};

const readEscape: ReadEscape = (rest) => {
  const [next = ""] = rest;
  const known = escapes[next];
  if (known !== undefined) return { text: known, length: 1 };
  const [match, code = ""] = unicodeEscape.exec(rest) ?? [];
  const point = Number.parseInt(code, 16);
  if (match === undefined || point > 0x10_ff_ff) return { text: `\\${next}`, length: 1 };
  return { text: String.fromCodePoint(point), length: match.length };
};

const plainWord = /^[\w@%+=:,./{}[\]?&#~*-]+$/;
/** Letters, digits and signs of any script that show what they are; neither spaces but " " nor marks that reorder text. */
const visibleText = /^[\p{L}\p{N}\p{P}\p{S} ]*$/u;

/** Writes one word so that `splitLine` reads exactly it, and a screen shows nothing but what it is. */
export function lineWord(word: string): string {
  if (plainWord.test(word)) return word;
  if (visibleText.test(word) && !word.includes("'")) return `'${word}'`;
  let text = "";
  for (const character of word) {
    if (character === "'" || character === "\\") text += `\\${character}`;
    else if (visibleText.test(character)) text += character;
    else text += `\\u{${(character.codePointAt(0) ?? 0).toString(16)}}`;
  }
  return `$'${text}'`;
}
