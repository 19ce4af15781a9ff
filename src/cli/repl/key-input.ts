import { PassThrough } from "node:stream";
import { StringDecoder } from "node:string_decoder";

import { neutralize } from "../../text/untrusted/neutralize.ts";

/** What keys mean that are no part of a line. */
export interface KeyMeanings {
  interrupt(): void;
  /** Ctrl-D; false leaves it to the line, where it deletes a character. */
  end(): boolean;
  suspend(): void;
  /** Text that was pasted: it may have several lines, and nothing of it was typed. */
  paste(text: string): void;
}

/** A terminal that hands over keys before it shows them. */
export type KeySource = NodeJS.ReadableStream & { setRawMode(isRaw: boolean): unknown };

const keys = { interrupt: "\u0003", end: "\u0004", suspend: "\u001A" } as const;
const pasteBegins = "\u001B[200~";
const pasteEnds = "\u001B[201~";
const meant = new RegExp(`[${keys.interrupt}${keys.end}${keys.suspend}]|\u001B\\[200~`);
/** A paste that is longer is cut. */
const maxPastedChars = 1_000_000;

/**
 * The keys of a terminal on their way to an editor of lines. It gets them as they are, but for the few that mean
 * something wherever the cursor is, and for pasted text: a newline in that ends no line, and no escape sequence in it
 * reaches the screen.
 */
export class KeyInput extends PassThrough {
  readonly isTTY = true;
  readonly #source: KeySource;
  readonly #meanings: KeyMeanings;
  readonly #decoder = new StringDecoder("utf8");
  #rest = "";
  /** What was pasted so far; undefined outside of a paste. */
  #pasted: string | undefined;

  constructor(source: KeySource, meanings: KeyMeanings) {
    super();
    this.#source = source;
    this.#meanings = meanings;
    source.once("end", () => this.end());
    this.listen();
  }

  /** What an editor of lines calls when it begins and ends. */
  setRawMode(isRaw: boolean): this {
    this.#source.setRawMode(isRaw);
    return this;
  }

  listen(): void {
    this.#source.on("data", this.#take);
    this.#source.resume();
  }

  /** Leaves the terminal to another program until `listen` is called. */
  stopListening(): void {
    this.#source.off("data", this.#take);
    this.#source.pause();
  }

  readonly #take = (chunk: Buffer | string): void => {
    this.#rest += typeof chunk === "string" ? chunk : this.#decoder.write(chunk);
    while (this.#rest !== "" && this.#takeNext());
  };

  /** False when the rest waits for what comes next. */
  #takeNext(): boolean {
    const rest = this.#rest;
    if (this.#pasted !== undefined) return this.#takePasted(rest, this.#pasted);
    const { index, 0: found } = meant.exec(rest) ?? { index: undefined, 0: "" };
    if (index === undefined) {
      const held = beginningOf(pasteBegins, rest);
      this.#rest = rest.slice(rest.length - held);
      if (rest.length > held) this.write(rest.slice(0, rest.length - held));
      return false;
    }
    if (index > 0) this.write(rest.slice(0, index));
    this.#rest = rest.slice(index + found.length);
    this.#mean(found);
    return true;
  }

  #mean(found: string): void {
    if (found === pasteBegins) this.#pasted = "";
    else if (found === keys.interrupt) this.#meanings.interrupt();
    else if (found === keys.suspend) this.#meanings.suspend();
    else if (!this.#meanings.end()) this.write(found);
  }

  #takePasted(rest: string, pasted: string): boolean {
    const end = rest.indexOf(pasteEnds);
    const taken = end === -1 ? rest.length - beginningOf(pasteEnds, rest) : end;
    const all = (pasted + rest.slice(0, taken)).slice(0, maxPastedChars);
    this.#rest = rest.slice(end === -1 ? taken : end + pasteEnds.length);
    this.#pasted = end === -1 ? all : undefined;
    if (end === -1) return false;
    this.#meanings.paste(neutralize(all.replaceAll(/\r\n?/g, "\n").replaceAll("\t", " ")));
    return true;
  }
}

/** How many of the last characters may be the beginning of the sequence. One alone is a key that was pressed. */
function beginningOf(sequence: string, text: string): number {
  for (let length = Math.min(sequence.length - 1, text.length); length > 1; length -= 1)
    if (text.endsWith(sequence.slice(0, length))) return length;
  return 0;
}
