import { styleText } from "node:util";

import { truncate } from "../../text/truncate.ts";
import { neutralize } from "../../text/untrusted/neutralize.ts";
import { isUtf8Locale, toAsciiGlyphs } from "./glyphs.ts";

export type Paint = "good" | "bad" | "dim";

/** What the terminal needs of `process.stdout` and `process.stderr`. */
export interface OutputStream {
  readonly isTTY?: boolean;
  readonly columns?: number;
  readonly rows?: number;
  on(event: "error", listener: (error: NodeJS.ErrnoException) => void): unknown;
  /** Calls `done` when all that was written has left this process, or never will. */
  write(content: string | Uint8Array, done?: () => void): unknown;
}

export interface TerminalOptions {
  readonly stdout: OutputStream;
  readonly stderr: OutputStream;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly platform: NodeJS.Platform;
  /** `false` switches colour off whatever the environment says. */
  readonly color: boolean;
}

const maxColumns = 100;
const formats = { good: "green", bad: "red", dim: "dim" } as const;
const eraseLine = "\r\u001B[2K";
const eraseLineAbove = "\u001B[1A\u001B[2K";

/**
 * The only way anything is written. Data goes to stdout as it is; everything for people passes through
 * here for glyphs and colour. A reader that has gone (`| head`) makes further output vanish quietly.
 */
export class Terminal {
  readonly #options: TerminalOptions;
  readonly #hasUtf8: boolean;
  readonly #readerGone = new AbortController();
  #writeError: NodeJS.ErrnoException | undefined;
  #openPrompts = 0;
  /** The lines that are drawn below all other output, as they stand on the screen. */
  #drawn: readonly string[] = [];

  constructor(options: TerminalOptions) {
    this.#options = options;
    this.#hasUtf8 = isUtf8Locale(options.env, options.platform);
    for (const stream of [options.stdout, options.stderr])
      stream.on("error", (error: NodeJS.ErrnoException) => this.#failed(stream, error));
  }

  /** Both ends are a terminal: a person can be asked and answer. */
  get isInteractive(): boolean {
    return this.#options.stderr.isTTY === true && process.stdin.isTTY;
  }

  /** Lines on stderr may be redrawn in place. */
  get canRedraw(): boolean {
    const { stderr, env } = this.#options;
    return stderr.isTTY === true && env["TERM"] !== "dumb" && !env["CI"];
  }

  /** How wide a line on stderr may be; pipes take any. */
  get columns(): number {
    return widthOf(this.#options.stderr);
  }

  get hasUtf8(): boolean {
    return this.#hasUtf8;
  }

  /** Aborts when whoever read stdout has closed it. */
  get readerGone(): AbortSignal {
    return this.#readerGone.signal;
  }

  /** Why data could not be written, other than a reader that has gone. */
  get writeError(): NodeJS.ErrnoException | undefined {
    return this.#writeError;
  }

  /** A result: untouched in a pipe, safe to look at on a screen; ends with a newline in any case. */
  data(text: string): void {
    const { stdout } = this.#options;
    const shown = stdout.isTTY === true ? neutralize(text) : text;
    this.#write("stdout", shown.endsWith("\n") ? shown : `${shown}\n`);
  }

  /** Whether bytes that are no text may be written to stdout: a screen would take them for commands. */
  get takesBytes(): boolean {
    return this.#options.stdout.isTTY !== true;
  }

  /** A result that is no text, as it is; only where `takesBytes`. */
  bytes(content: Uint8Array): void {
    if (this.takesBytes) this.#options.stdout.write(content);
  }

  /** One object on one line; on a screen it is as safe to look at as text. */
  json(value: unknown): void {
    this.data(JSON.stringify(value));
  }

  /** A line for people on stdout: tables and the like, whose text is neutralized already. */
  line(text: string): void {
    this.#write("stdout", `${this.#glyphs(text)}\n`);
  }

  /** The same, cut to the width of a screen. */
  row(text: string): void {
    this.line(this.#cut(text));
  }

  /** The titles above rows. */
  heading(text: string): void {
    this.line(this.paint("dim", this.#cut(text)));
  }

  /** Whether a line on stdout stays one line; pipes take any. */
  hasRoomFor(text: string): boolean {
    return this.#cut(text) === text;
  }

  #cut(text: string): string {
    return truncate(text, widthOf(this.#options.stdout));
  }

  /** A line for people on stderr. */
  note(text: string): void {
    this.#write("stderr", `${this.#glyphs(text)}\n`);
  }

  /** The same without its end: the answer is typed behind it. */
  prompt(text: string): void {
    this.#write("stderr", this.#glyphs(text));
  }

  /** Draws no lines that redraw themselves until that is released: somebody is being asked. */
  hold(): () => void {
    this.redraw([]);
    this.#openPrompts += 1;
    return () => {
      this.#openPrompts -= 1;
    };
  }

  /**
   * Draws these lines on stderr in place of those drawn before; other output goes above them. An empty list erases
   * them. As many are drawn as the screen has room for, each cut to its width.
   */
  redraw(lines: readonly string[]): void {
    if (this.#openPrompts > 0) return;
    const erase = this.#eraseSequence();
    const { stderr } = this.#options;
    const width = this.columns - 1;
    const drawn = fitRows(lines, stderr.rows).map((line) => cutToWidth(this.#glyphs(line), width));
    this.#drawn = drawn;
    if (erase !== "" || drawn.length > 0) stderr.write(`${erase}${drawn.join("\n")}`);
  }

  jsonError(value: unknown): void {
    const text = JSON.stringify(value);
    this.#write("stderr", `${this.#options.stderr.isTTY === true ? neutralize(text) : text}\n`);
  }

  /** Colour where the stream shows it, and never as the only sign. */
  paint(paint: Paint, text: string, stream: "stdout" | "stderr" = "stdout"): string {
    const { color, env, [stream]: output } = this.#options;
    // Asked here as well: to look at a stream that is no screen, Node opens stderr, which takes 3 ms.
    const isShown = output.isTTY === true || env["FORCE_COLOR"] !== undefined;
    if (!color || !isShown) return text;
    return styleText(formats[paint], text, { stream: output as NodeJS.WritableStream });
  }

  /** Resolves when everything written so far has left this process, or never will. */
  async flush(): Promise<void> {
    const { stdout, stderr } = this.#options;
    await Promise.all(
      [stdout, stderr].map(
        (stream) => new Promise<void>((resolve) => void stream.write("", resolve)),
      ),
    );
  }

  #write(stream: "stdout" | "stderr", text: string): void {
    const { [stream]: output, stderr } = this.#options;
    const erase = this.#eraseSequence();
    if (erase !== "") stderr.write(erase);
    output.write(text);
    if (erase === "") return;
    // The answer to a prompt is typed behind it.
    if (text.endsWith("\n")) stderr.write(this.#drawn.join("\n"));
    else this.#drawn = [];
  }

  /** Erases what is drawn, also where lines wrap by now because the window has become narrower. */
  #eraseSequence(): string {
    if (this.#drawn.length === 0) return "";
    const { columns = 0 } = this.#options.stderr;
    const rows = this.#drawn.map((line) =>
      columns > 0 ? Math.max(1, Math.ceil(displayWidth(line) / columns)) : 1,
    );
    const above = rows.reduce((sum, count) => sum + count, -1);
    return eraseLine + eraseLineAbove.repeat(above);
  }

  #glyphs(text: string): string {
    return this.#hasUtf8 ? text : toAsciiGlyphs(text);
  }

  #failed(stream: OutputStream, error: NodeJS.ErrnoException): void {
    if (stream !== this.#options.stdout) return;
    if (error.code !== "EPIPE") this.#writeError ??= error;
    this.#readerGone.abort();
  }
}

/** A terminal that does not know its size says 0. */
function widthOf({ isTTY, columns = 0 }: OutputStream): number {
  if (isTTY !== true) return Number.POSITIVE_INFINITY;
  return columns > 0 ? Math.min(columns, maxColumns) : maxColumns;
}

/** The lines that a screen has room for, with a line that counts the others. */
function fitRows(lines: readonly string[], rows: number | undefined): readonly string[] {
  // One row is left for the cursor of whoever writes next.
  const room = rows !== undefined && rows > 2 ? rows - 1 : Number.POSITIVE_INFINITY;
  if (lines.length <= room) return lines;
  return [...lines.slice(0, room - 1), `  … and ${lines.length - room + 1} more`];
}

/** Characters that take two columns: East Asian scripts, full-width forms and emoji. */
const wideCharacters =
  /[\u1100-\u115F\u2E80-\u303E\u3041-\uA4CF\uAC00-\uD7A3\uF900-\uFAFF\uFE30-\uFE6F\uFF00-\uFF60\uFFE0-\uFFE6\u{1F300}-\u{1FAFF}\u{20000}-\u{3FFFD}]/u;

/** At least as many columns as a terminal needs for the text. */
function displayWidth(text: string): number {
  let width = 0;
  for (const character of text) width += wideCharacters.test(character) ? 2 : 1;
  return width;
}

/** The longest beginning of the text that needs no more than `columns` columns. */
function cutToWidth(text: string, columns: number): string {
  if (displayWidth(text) <= columns) return text;
  let cut = "";
  let width = 0;
  for (const character of text) {
    width += wideCharacters.test(character) ? 2 : 1;
    if (width > columns) break;
    cut += character;
  }
  return cut;
}
