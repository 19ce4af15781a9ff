import { Terminal, type TerminalOptions } from "../terminal/terminal.ts";

const previewLines = 30;
const previewChars = 4_000;

/** A terminal that shows the beginning of a long result, and keeps the whole of the last one. */
export class PreviewTerminal extends Terminal {
  readonly #isCut: boolean;
  #last: string | undefined;

  /** `isCut: false` prints results whole: a program reads them. */
  constructor(options: TerminalOptions, { isCut }: { readonly isCut: boolean }) {
    super(options);
    this.#isCut = isCut;
  }

  /** The last result that was printed, whole. */
  get last(): string | undefined {
    return this.#last;
  }

  override data(text: string): void {
    this.#last = text;
    const shown = this.#isCut ? beginningOf(text) : text;
    super.data(shown);
    if (shown.length === text.length) return;
    const lines = countLines(text.slice(shown.length));
    const chars = (text.length - shown.length).toLocaleString("en");
    this.note(
      `  … ${chars} more characters, ${lines} more ${lines === 1 ? "line" : "lines"}: /last`,
    );
  }

  /** Prints the last result, however long it is. False when there was none. */
  showLast(): boolean {
    if (this.#last === undefined) return false;
    super.data(this.#last);
    return true;
  }
}

function beginningOf(text: string): string {
  let end = 0;
  for (let line = 0; line < previewLines; line += 1) {
    const next = text.indexOf("\n", end);
    if (next === -1) return wholeCharacters(text, Math.min(text.length, previewChars));
    end = next + 1;
    if (end > previewChars) return wholeCharacters(text, previewChars);
  }
  return text.slice(0, end);
}

/** No character is cut in two. */
function wholeCharacters(text: string, length: number): string {
  const last = text.charCodeAt(length - 1);
  return text.slice(0, last >= 0xd8_00 && last <= 0xdb_ff ? length - 1 : length);
}

function countLines(text: string): number {
  return text.replace(/\n$/, "").split("\n").length;
}
