import { styleText } from "node:util";

import { truncate } from "../../text/truncate.ts";
import { neutralize } from "../../text/untrusted/neutralize.ts";
import { isUtf8Locale, toAsciiGlyphs } from "./glyphs.ts";

export type Paint = "good" | "bad" | "dim";

/** What the terminal needs of `process.stdout` and `process.stderr`. */
export interface OutputStream extends NodeJS.WritableStream {
  readonly isTTY?: boolean;
  readonly columns?: number;
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
  #hasDrawnLine = false;

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
    this.line(truncate(text, widthOf(this.#options.stdout)));
  }

  /** A line for people on stderr. */
  note(text: string): void {
    this.#write("stderr", `${this.#glyphs(text)}\n`);
  }

  /** The same without its end: the answer is typed behind it. */
  prompt(text: string): void {
    this.#write("stderr", this.#glyphs(text));
  }

  /** Draws no line that redraws itself until that is released: somebody is being asked. */
  hold(): () => void {
    this.redraw("");
    this.#openPrompts += 1;
    return () => {
      this.#openPrompts -= 1;
    };
  }

  /** Draws a line that the next output replaces, on stderr; an empty text only erases it. */
  redraw(text: string): void {
    if (this.#openPrompts > 0) return;
    this.#write("stderr", this.#glyphs(text));
    this.#hasDrawnLine = text !== "";
  }

  jsonError(value: unknown): void {
    const text = JSON.stringify(value);
    this.#write("stderr", `${this.#options.stderr.isTTY === true ? neutralize(text) : text}\n`);
  }

  /** Colour where the stream shows it, and never as the only sign. */
  paint(paint: Paint, text: string, stream: "stdout" | "stderr" = "stdout"): string {
    if (!this.#options.color) return text;
    return styleText(formats[paint], text, { stream: this.#options[stream] });
  }

  /** Resolves when everything written so far has left this process, or never will. */
  async flush(): Promise<void> {
    const { stdout, stderr } = this.#options;
    await Promise.all(
      [stdout, stderr].map((stream) => new Promise((resolve) => stream.write("", resolve))),
    );
  }

  #write(stream: "stdout" | "stderr", text: string): void {
    const { [stream]: output, stderr } = this.#options;
    if (this.#hasDrawnLine) stderr.write(eraseLine);
    this.#hasDrawnLine = false;
    if (text !== "") output.write(text);
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
