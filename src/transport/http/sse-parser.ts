const space = 0x20;
const lineFeed = 0x0a;
const mark = 0xfe_ff;
/** So many pieces and lines are joined at a time: most of them may hold next to nothing. */
const partsPerJoin = 1_024;

export interface SseEvent {
  readonly id: string | undefined;
  readonly event: string | undefined;
  /** Undefined when nothing but an id was sent. */
  readonly data: string | undefined;
}

export interface SseParserOptions {
  /** The most characters that the lines of data of an event, and a line whose end has not come, may have together. */
  readonly maxCharacters: number;
  readonly onEvent: (event: SseEvent) => void;
  readonly onRetry: (delayMs: number) => void;
}

/**
 * Reads a stream of events as the HTML standard defines it. Time and memory are linear in the text,
 * whatever a server puts into it: lines nobody knows cost no more than others, any line end is found
 * once, and empty lines of data do not pile up.
 */
export class SseParser {
  readonly #options: SseParserOptions;
  /** A line whose end has not come yet: what was joined of it, and the pieces that came since. */
  #line = "";
  readonly #pieces: string[] = [];
  readonly #lines: string[] = [];
  /** What came before `#lines`. */
  #data: string | undefined;
  #event: string | undefined;
  #id: string | undefined;
  /** Characters in lines of data and in pieces. */
  #kept = 0;
  #isFirst = true;
  #endedInReturn = false;

  constructor(options: SseParserOptions) {
    this.#options = options;
  }

  /** False when an event grows larger than allowed: nothing more may be fed then. */
  feed(text: string): boolean {
    if (text === "") return true;
    let start = this.#skipped(text.charCodeAt(0));
    let feedAt = text.indexOf("\n", start);
    let returnAt = text.indexOf("\r", start);
    while (feedAt !== -1 || returnAt !== -1) {
      const isReturn = returnAt !== -1 && (feedAt === -1 || returnAt < feedAt);
      const end = isReturn ? returnAt : feedAt;
      this.#endLine(text.slice(start, end));
      start = end + 1;
      if (isReturn && start === text.length) this.#endedInReturn = true;
      else if (isReturn && text.charCodeAt(start) === lineFeed) start += 1;
      if (this.#kept > this.#options.maxCharacters) return false;
      if (feedAt !== -1 && feedAt < start) feedAt = text.indexOf("\n", start);
      if (returnAt !== -1 && returnAt < start) returnAt = text.indexOf("\r", start);
    }
    if (start < text.length) this.#addPiece(text.slice(start));
    return this.#kept <= this.#options.maxCharacters;
  }

  /** What does not count at the beginning: a byte order mark, the second half of a line end. */
  #skipped(first: number): number {
    const isSkipped = this.#isFirst ? first === mark : this.#endedInReturn && first === lineFeed;
    this.#isFirst = false;
    this.#endedInReturn = false;
    return Number(isSkipped);
  }

  #addPiece(piece: string): void {
    this.#pieces.push(piece);
    this.#kept += piece.length;
    if (this.#pieces.length >= partsPerJoin) this.#joinPieces();
  }

  #joinPieces(): void {
    this.#line += this.#pieces.join("");
    this.#pieces.length = 0;
  }

  #endLine(rest: string): void {
    if (this.#pieces.length > 0) this.#joinPieces();
    const begun = this.#line;
    if (begun === "") return this.#takeLine(rest);
    this.#line = "";
    this.#kept -= begun.length;
    this.#takeLine(begun + rest);
  }

  #takeLine(line: string): void {
    if (line === "") return this.#dispatch();
    const colon = line.indexOf(":");
    // A comment.
    if (colon === 0) return;
    const name = colon === -1 ? line : line.slice(0, colon);
    const from = line.charCodeAt(colon + 1) === space ? colon + 2 : colon + 1;
    const value = colon === -1 ? "" : line.slice(from);
    switch (name) {
      case "data":
        this.#kept += line.length + 1;
        return this.#addData(value);
      case "event":
        this.#event = value;
        return;
      case "id":
        if (value.includes("\0")) return;
        this.#id = value;
        return;
      case "retry":
        if (/^\d+$/.test(value)) this.#options.onRetry(Number(value));
        return;
      default:
    }
  }

  #addData(value: string): void {
    this.#lines.push(value);
    if (this.#lines.length >= partsPerJoin) this.#joinLines();
  }

  #joinLines(): void {
    const joined = this.#lines.join("\n");
    this.#data = this.#data === undefined ? joined : `${this.#data}\n${joined}`;
    this.#lines.length = 0;
  }

  #dispatch(): void {
    if (this.#lines.length > 0) this.#joinLines();
    const id = this.#id;
    const event = this.#event === "" ? undefined : this.#event;
    const data = this.#data;
    this.#data = undefined;
    this.#event = undefined;
    this.#id = undefined;
    this.#kept = 0;
    if (data !== undefined || id !== undefined) this.#options.onEvent({ id, event, data });
  }
}
