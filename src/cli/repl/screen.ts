import { createInterface, type Interface } from "node:readline";
import { Writable } from "node:stream";

import { readAnswer } from "../human/dialogue.ts";
import type { OutputStream } from "../terminal/terminal.ts";
import { KeyInput, type KeySource } from "./key-input.ts";
import type { LineHistory } from "./line-history.ts";

export interface ScreenOptions {
  readonly stdin: NodeJS.ReadStream;
  readonly stdout: NodeJS.WriteStream;
  readonly stderr: NodeJS.WriteStream;
  /** Somebody sits there, and can be asked. */
  readonly isAttended: boolean;
  /** Lines can be redrawn, and keys be read one by one; else the terminal edits the line. */
  readonly isEditing: boolean;
  readonly history: LineHistory;
  /** What Tab offers, and the text before the cursor that it stands for. */
  readonly complete: (line: string) => Promise<readonly [readonly string[], string]>;
  /** Ctrl-C, where no question is open. */
  readonly interrupted: () => void;
}

/** What the last row of the screen is for. */
type Row = "prompt" | "question" | "hidden" | "output" | "lent";

const pasteOn = "\u001B[?2004h";
const pasteOff = "\u001B[?2004l";
const eraseBelow = "\r\u001B[J";
/** A stop that the system refuses, because no shell could continue it, is over by then. */
const stopPatienceMs = 200;

/** The parts of an editor of lines that its own interface only lets others read. */
interface Edited {
  line: string;
  cursor: number;
  prevRows: number;
}

/**
 * The screen of the REPL: one line that is typed, at a prompt or in answer to a question, and everything else above
 * it. What is typed while a command runs is kept unseen for the next prompt, and is never the answer to a question.
 */
export class Screen {
  readonly stdout: OutputStream;
  readonly stderr: OutputStream;
  readonly #options: ScreenOptions;
  readonly #keys: KeyInput | undefined;
  readonly #readline: Interface & Edited;
  readonly #typedAhead: string[] = [];
  #row: Row = "output";
  #prompt = "";
  #isEnded = false;
  #takeLine: ((line: string | undefined) => void) | undefined;
  #takeAnswer: ((answer: string | undefined) => void) | undefined;

  constructor(options: ScreenOptions) {
    const { stdin, stdout, stderr, isEditing } = options;
    this.#options = options;
    this.stdout = this.#above(stdout);
    this.stderr = this.#above(stderr);
    this.#keys = isEditing ? this.#readKeys(stdin) : undefined;
    this.#readline = createInterface(
      this.#keys === undefined
        ? { input: stdin, terminal: false }
        : {
            input: this.#keys,
            output: this.#echo(stderr),
            terminal: true,
            tabSize: 4,
            historySize: options.history.maxLines,
            history: [...options.history.lines],
            completer: (line: string, answer: (error: null, result: [string[], string]) => void) =>
              void this.#complete(line, answer),
          },
    ) as Interface & Edited;
    this.#readline.on("line", (line) => this.#lineTyped(line));
    this.#readline.on("close", () => this.#end());
    this.#readline.on("history", (history) => {
      // What answers a question is nobody's business later.
      if (this.#takeAnswer === undefined) options.history.add(history[0] ?? "");
      history.splice(0, history.length, ...options.history.lines);
    });
    if (!isEditing) return;
    process.on("SIGCONT", this.#continued);
    process.on("exit", this.#restore);
    stderr.write(pasteOn);
  }

  /** The next line that is typed; undefined when there will be none. */
  async nextLine(prompt: string): Promise<string | undefined> {
    const ahead = this.#typedAhead.shift();
    if (ahead !== undefined) {
      if (this.#options.isEditing) this.#options.stderr.write(`${prompt}${ahead}\n`);
      return ahead;
    }
    if (this.#isEnded) return undefined;
    return await new Promise((resolve) => {
      this.#takeLine = resolve;
      this.#show("prompt", prompt);
    });
  }

  /**
   * The answer that is typed behind the prompt, without blanks around it; undefined for Ctrl-C, for the end of input,
   * when it is no longer wanted and where nobody sits. A line that was being typed comes back behind it.
   */
  async ask(
    prompt: string,
    signal: AbortSignal,
    { isHidden = false }: { readonly isHidden?: boolean } = {},
  ): Promise<string | undefined> {
    if (!this.#options.isAttended || this.#isEnded || signal.aborted) return undefined;
    const before = { row: this.#row, prompt: this.#prompt };
    const { line, cursor } = this.#readline;
    if (before.row === "prompt") this.#erasePrompt();
    // What was typed before the question was read does not answer it.
    this.#setLine("", 0);
    try {
      if (isHidden && !this.#options.isEditing) return await this.#askHidden(prompt, signal);
      return await new Promise((resolve) => {
        const giveUp = (): void => this.#takeAnswer?.(undefined);
        this.#takeAnswer = (answer) => {
          this.#takeAnswer = undefined;
          signal.removeEventListener("abort", giveUp);
          if (answer === undefined || this.#row === "hidden") this.#options.stderr.write("\n");
          this.#setLine("", 0);
          this.#row = "output";
          resolve(answer?.trim());
        };
        signal.addEventListener("abort", giveUp, { once: true });
        this.#show(isHidden ? "hidden" : "question", prompt);
      });
    } finally {
      if (before.row === "prompt" && !this.#isEnded) {
        this.#setLine(line, cursor);
        this.#show("prompt", before.prompt);
      }
    }
  }

  /** Runs something that reads keys and writes to the screen itself. */
  async lend<T>(use: () => Promise<T>): Promise<T> {
    const row = this.#row;
    this.#row = "lent";
    this.#letGo();
    try {
      return await use();
    } finally {
      this.#row = row;
      this.#takeBack();
    }
  }

  /** Forgets the line that is being typed, and begins a new one. False when there was nothing in it. */
  clearLine(): boolean {
    const hadText = this.#readline.line !== "";
    this.#options.stderr.write("^C\n");
    this.#setLine("", 0);
    if (this.#row === "prompt") this.#show("prompt", this.#prompt);
    return hadText;
  }

  close(): void {
    this.#readline.close();
    if (this.#keys === undefined) return;
    process.off("SIGCONT", this.#continued);
    process.off("exit", this.#restore);
    this.#restore();
  }

  #lineTyped(line: string): void {
    const take = this.#takeLine;
    if (this.#takeAnswer !== undefined) this.#takeAnswer(line);
    else if (take === undefined) this.#typedAhead.push(line);
    else {
      this.#takeLine = undefined;
      this.#row = "output";
      if (!this.#options.isEditing && this.#options.isAttended) this.#options.history.add(line);
      take(line);
    }
  }

  #end(): void {
    this.#isEnded = true;
    this.#takeAnswer?.(undefined);
    const isTyping = this.#row === "prompt";
    this.#row = "output";
    if (isTyping && this.#options.isAttended) this.#options.stderr.write("\n");
    this.#takeLine?.(undefined);
    this.#takeLine = undefined;
  }

  #readKeys(source: KeySource): KeyInput {
    return new KeyInput(source, {
      interrupt: () => {
        if (this.#takeAnswer === undefined) this.#options.interrupted();
        else this.#takeAnswer(undefined);
      },
      end: () => {
        if (this.#readline.line !== "") return false;
        if (this.#takeAnswer !== undefined) this.#takeAnswer(undefined);
        else if (this.#row === "prompt") this.#readline.close();
        return true;
      },
      suspend: () => this.#suspend(),
      paste: (text) => {
        const { line, cursor } = this.#readline;
        const typed = this.#takeAnswer === undefined ? text : text.replaceAll("\n", " ");
        this.#setLine(line.slice(0, cursor) + typed + line.slice(cursor), cursor + typed.length);
        if (this.#isTypedAt) this.#readline.prompt(true);
      },
    });
  }

  async #complete(
    line: string,
    answer: (error: null, result: [string[], string]) => void,
  ): Promise<void> {
    const isLine = this.#row === "prompt";
    const [hits, typed] = isLine
      ? await this.#options.complete(line).catch(() => [[], line] as const)
      : [[], line];
    const goesOn = hits.length < 2 || !typed.startsWith(commonBeginning(hits));
    if (!goesOn) this.stderr.write(inColumns(hits, this.#options.stderr.columns ?? 80));
    answer(null, [goesOn ? [...hits] : [], typed]);
  }

  /** Whether the last row shows what is being typed. */
  get #isTypedAt(): boolean {
    return this.#row === "prompt" || this.#row === "question";
  }

  #show(row: Row, prompt: string): void {
    this.#row = row;
    this.#prompt = prompt;
    const { isEditing, isAttended, stderr } = this.#options;
    if (!isEditing) {
      if (isAttended) stderr.write(prompt);
      return;
    }
    if (row === "hidden") {
      stderr.write(prompt);
      return;
    }
    this.#readline.setPrompt(prompt);
    this.#readline.prevRows = 0;
    this.#readline.prompt(true);
  }

  #erasePrompt(): void {
    if (!this.#options.isEditing) {
      this.#options.stderr.write("\n");
      return;
    }
    const rows = this.#row === "hidden" ? 0 : this.#readline.getCursorPos().rows;
    this.#options.stderr.write(`${rows > 0 ? `\u001B[${rows}A` : ""}${eraseBelow}`);
  }

  #setLine(line: string, cursor: number): void {
    if (this.#options.isEditing) Object.assign(this.#readline, { line, cursor });
  }

  /** Reads an answer that must not be seen where the terminal itself edits and shows lines. */
  async #askHidden(prompt: string, signal: AbortSignal): Promise<string | undefined> {
    const { stdin, stderr } = this.#options;
    this.#readline.pause();
    try {
      const write = (text: string): void => void stderr.write(text);
      return await readAnswer(stdin, write, { prompt, signal, isHidden: true });
    } finally {
      this.#readline.resume();
    }
  }

  /** A stream whose text goes above the row that is being typed. */
  #above(target: NodeJS.WriteStream): OutputStream {
    const print = (chunk: string | Uint8Array, done: () => void): void => {
      const { isAttended } = this.#options;
      const isTyped = this.#isTypedAt || this.#row === "hidden";
      // Whoever waits for everything to be written waits behind an empty text.
      if (chunk.length === 0) {
        target.write(chunk, done);
        return;
      }
      const goesAbove = isTyped && isAttended;
      if (goesAbove) this.#erasePrompt();
      target.write(chunk);
      if (goesAbove) this.#show(this.#row, this.#prompt);
      // At once: a text that waited here would come behind one of the other stream that was written later.
      done();
    };
    const stream = new Writable({
      decodeStrings: false,
      write: (chunk: string | Uint8Array, _encoding, done) => print(chunk, done),
    });
    target.on("error", (error: Error) => stream.emit("error", error));
    return Object.defineProperties(stream, {
      isTTY: { get: () => target.isTTY },
      columns: { get: () => target.columns },
      rows: { get: () => target.rows },
    });
  }

  /** Where the editor of lines writes: nothing of it is seen unless its line is. */
  #echo(target: NodeJS.WriteStream): Writable {
    const echo = new Writable({
      decodeStrings: false,
      write: (chunk: string, _encoding, done) => {
        if (this.#isTypedAt) target.write(chunk);
        done();
      },
    });
    target.on("resize", () => echo.emit("resize"));
    return Object.defineProperties(echo, {
      isTTY: { get: () => true },
      columns: { get: () => target.columns },
    });
  }

  #suspend(): void {
    if (process.platform === "win32") return;
    this.#letGo();
    process.kill(0, "SIGTSTP");
    setTimeout(this.#continued, stopPatienceMs).unref();
  }

  readonly #continued = (): void => {
    if (this.#row === "lent") return;
    this.#takeBack();
  };

  #letGo(): void {
    if (this.#keys === undefined) {
      this.#readline.pause();
      return;
    }
    this.#options.stderr.write(pasteOff);
    this.#keys.stopListening();
    this.#keys.setRawMode(false);
  }

  #takeBack(): void {
    if (this.#keys === undefined) {
      this.#readline.resume();
      return;
    }
    this.#keys.setRawMode(true);
    this.#keys.stopListening();
    this.#keys.listen();
    this.#options.stderr.write(pasteOn);
    if (this.#isTypedAt) this.#show(this.#row, this.#prompt);
  }

  readonly #restore = (): void => void this.#options.stderr.write(pasteOff);
}

function commonBeginning([first = "", ...others]: readonly string[]): string {
  let length = first.length;
  for (const other of others) while (!other.startsWith(first.slice(0, length))) length -= 1;
  return first.slice(0, length);
}

/** Words beside each other, as many as a row has room for; each shows what it is by now. */
function inColumns(words: readonly string[], columns: number): string {
  const width = Math.max(...words.map((word) => word.length)) + 2;
  const perRow = Math.max(1, Math.floor(columns / width));
  const rows: string[] = [];
  for (let at = 0; at < words.length; at += perRow) {
    const row = words.slice(at, at + perRow).map((word) => word.padEnd(width));
    rows.push(`${row.join("").trimEnd()}\n`);
  }
  return rows.join("");
}
