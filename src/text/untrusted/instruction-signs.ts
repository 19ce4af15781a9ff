import { hasHiddenCharacter } from "./hidden-characters.ts";

/** One way in which text from a server tries to pass for something else than data. */
interface Sign {
  readonly name: string;
  readonly pattern: { readonly test: (text: string) => boolean };
  /** Of characters and not of words: looked for in the text as it stands. */
  readonly isAsWritten?: boolean;
}

const markup =
  /<\/?(?:system|assistant|important|secret|hidden|tool_(?:result|call|use)|function_(?:results?|calls?)|antml:[a-z_]{1,30})\b[^<>]{0,80}>|<\|[a-z_]{2,30}\|>|\[\/?INST\]|<<\/?SYS>>/i;
/** `--client-secret <secret>`: an option and the placeholder of its value, as usage texts write them. */
const optionPlaceholder = /(--[\w-]{0,40}?(system|assistant|important|secret|hidden))[ =]<\2>/gi;

// Written so that ordinary documentation does not match: "call X before this tool" is fine, "do not
// tell the user" is not. All are bounded, so that no text can make them slow.
const signs: readonly Sign[] = [
  {
    name: "markup of a conversation",
    pattern: {
      test: (text) => markup.test(text) && markup.test(text.replace(optionPlaceholder, "$1")),
    },
  },
  {
    name: "an order to set instructions aside",
    pattern:
      /\b(?:ignore|disregard|forget|override|bypass)\b[^.\n]{0,40}\b(?:previous|prior|above|earlier|existing|all|any|your|other|system|safety)\b[^.\n]{0,40}\b(?:instructions?|prompts?|rules|guidelines|directions|restrictions|constraints)\b/i,
  },
  {
    name: "an order to keep something from the user",
    pattern:
      /\b(?:do not|don['’]t|never|must not|without)\b[^.\n]{0,40}\b(?:tell|telling|mention|mentioning|inform|informing|reveal|revealing|disclose|disclosing|notify|notifying|alert|alerting)\b[^.\n]{0,40}\b(?:user|human|person|owner|operator|anyone|anybody|them)\b/i,
  },
  {
    name: "an order to hand over private files",
    pattern:
      /\b(?:read|open|load|send|include|attach|pass|upload|copy|get|cat)\b[^\n]{0,60}(?:~\/\.|\/etc\/(?:passwd|shadow)|\bid_(?:rsa|ed25519)\b|\.ssh\b|\.aws\/credentials|\.cursor\/mcp\.json|\bmcp\.json\b|(?:^|[\s"'`/])\.env\b)/i,
  },
  {
    name: "a new role for the model",
    pattern:
      /\b(?:you are now|from now on,? you|your new (?:role|task|instructions?|goal)|act as (?:an? )?(?:unrestricted|jailbroken)|new system prompt)\b/i,
  },
  {
    // They carry text that nobody sees, break up a word that is looked for, or make text read as another.
    name: "invisible or direction-changing characters",
    pattern: { test: hasHiddenCharacter },
    isAsWritten: true,
  },
  // eslint-disable-next-line no-control-regex -- an escape sequence is what is looked for
  { name: "terminal escape sequences", pattern: /\u001B[[\]PX^_]|\u009B/ },
];

const maxScanned = 256 * 1024;
/** Takes a few milliseconds at most, whatever the text. */
const pieceChars = 16 * 1024;
/** Longer than anything that a sign matches. */
const overlapChars = 512;
/** In JSON a line break is a letter to whoever looks for words. */
const escapedBlank = /\\[nrt]/g;

/**
 * Which signs of instructions the text carries, in plain words, also in letters that only look like those
 * of a word (full width, mathematical, ligatures); none for almost every honest text. A
 * text too long to look through carries one for that.
 */
export function findInstructionSigns(text: string): readonly string[] {
  const scanned = text.slice(0, maxScanned).replace(escapedBlank, "  ");
  const folded = foldCompatible(scanned);
  const read = folded === scanned ? undefined : folded;
  const found = signs
    .filter(
      ({ pattern, isAsWritten = false }) =>
        pattern.test(scanned) || (read !== undefined && !isAsWritten && pattern.test(read)),
    )
    .map(({ name }) => name);
  const isCut = text.length > maxScanned || folded.length > maxScanned;
  return isCut ? [...found, "more than could be looked through"] : found;
}

/** Short ones, because to normalize a long run of marks takes time that grows with its square. */
const foreignRun = /[\u0080-\u{10FFFF}]{1,32}/gu;

/**
 * The text with compatible characters written as the usual ones. Of one that grows beyond what is looked
 * through (a character may stand for eighteen), only a little more than that.
 */
function foldCompatible(text: string): string {
  if (text.search(foreignRun) < 0) return text;
  let folded = "";
  for (let start = 0; start < text.length && folded.length <= maxScanned;) {
    const last = text.charCodeAt(start + pieceChars - 1);
    const end = start + pieceChars - (last >= 0xd800 && last <= 0xdbff ? 1 : 0);
    folded += text.slice(start, end).replace(foreignRun, (run) => run.normalize("NFKC"));
    start = end;
  }
  return folded;
}

/**
 * The text in pieces, for whoever pauses between them. They overlap, so that a sign is found in one of
 * them, and begin and end at a blank where there is one nearby: no word or emoji is taken apart.
 */
export function* piecesOf(text: string): Generator<string> {
  let start = 0;
  while (text.length - start > pieceChars) {
    const end = blankBefore(text, start + pieceChars);
    yield text.slice(start, end);
    start = blankBefore(text, end - overlapChars);
  }
  yield text.slice(start);
}

function blankBefore(text: string, position: number): number {
  for (let near = position; near > position - overlapChars; near -= 1)
    if (text[near] === " " || text[near] === "\n") return near;
  return position;
}
