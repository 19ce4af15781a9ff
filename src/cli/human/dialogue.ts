import { createInterface } from "node:readline";
import type { Interface } from "node:readline/promises";
import { StringDecoder } from "node:string_decoder";

/** A person at a screen: what is written there, and what the person types in answer. */
export interface Dialogue {
  /** Writes a line. */
  note(text: string): void;
  /**
   * The line that is typed behind the prompt, without blanks around it; undefined at the end of input,
   * and when the answer is no longer wanted. `isHidden` keeps it off the screen, where the screen allows it.
   */
  ask(
    prompt: string,
    signal: AbortSignal,
    options?: { readonly isHidden: boolean },
  ): Promise<string | undefined>;
}

/** What a question needs of an interface of `node:readline/promises`. */
export type ReadlineInterface = Pick<Interface, "question" | "once" | "off">;

/** Enter, the end of input and anything but y mean no. */
export function isYes(answer: string | undefined): boolean {
  return answer !== undefined && /^y(?:es)?$/i.test(answer);
}

/** What is asked, until when, and whether the answer may be seen. */
export interface Asked {
  readonly prompt: string;
  readonly signal: AbortSignal;
  readonly isHidden?: boolean;
}

/** Shows a prompt and reads one line of a stream, hidden if that is wanted and possible. */
export function readAnswer(
  input: NodeJS.ReadableStream,
  write: (text: string) => void,
  asked: Asked,
): Promise<string | undefined> {
  if (asked.isHidden === true && canHide(input)) return readHidden(input, write, asked);
  write(asked.prompt);
  return readLine(input, write, asked.signal);
}

/** Reads one line of a stream, and leaves the stream to others between two questions. */
function readLine(
  input: NodeJS.ReadableStream,
  write: (text: string) => void,
  signal: AbortSignal,
): Promise<string | undefined> {
  return new Promise((resolve) => {
    // No event tells of an end that has come already.
    const isOver = (input as { readonly readableEnded?: boolean }).readableEnded === true;
    if (signal.aborted || isOver) {
      write("\n");
      resolve(undefined);
      return;
    }
    // Not in terminal mode: the terminal edits the line itself, and Ctrl-C stays a signal.
    const lines = createInterface({ input, terminal: false });
    let answer: string | undefined;
    const cancel = (): void => lines.close();
    signal.addEventListener("abort", cancel, { once: true });
    lines.once("line", (line) => {
      answer = line.trim();
      lines.close();
    });
    lines.once("close", () => {
      signal.removeEventListener("abort", cancel);
      if (answer === undefined) write("\n");
      resolve(answer);
    });
  });
}

/** Asks through an interface that the program reads its own lines with. */
export async function askThrough(
  readline: ReadlineInterface,
  prompt: string,
  signal: AbortSignal,
): Promise<string | undefined> {
  // A question that is open when the interface closes is never answered.
  const closing = new AbortController();
  const close = (): void => closing.abort();
  readline.once("close", close);
  try {
    const either = AbortSignal.any([signal, closing.signal]);
    return (await readline.question(prompt, { signal: either })).trim();
  } catch {
    // It was given up, or the interface is closed: in both cases nobody answers.
    return undefined;
  } finally {
    readline.off("close", close);
  }
}

/** A terminal that can hand over keys before it shows them. */
interface KeyInput extends NodeJS.ReadableStream {
  setRawMode(isRaw: boolean): unknown;
}

function canHide(input: NodeJS.ReadableStream): input is KeyInput {
  return (input as { readonly isTTY?: boolean }).isTTY === true && "setRawMode" in input;
}

const keys = { interrupt: "\u0003", end: "\u0004", escape: "\u001B" } as const;
const erasing: ReadonlySet<string> = new Set(["\u007F", "\b"]);

/**
 * Reads one line that the terminal does not show. Undefined at the end of input and when the answer is no
 * longer wanted. The terminal hands over every key meanwhile, so Ctrl-C is passed on as the signal that it
 * is otherwise: whoever handles it withdraws the question.
 */
function readHidden(
  input: KeyInput,
  write: (text: string) => void,
  { prompt, signal }: { readonly prompt: string; readonly signal: AbortSignal },
): Promise<string | undefined> {
  return new Promise((resolve) => {
    const decoder = new StringDecoder("utf8");
    const typed: string[] = [];
    const end = (answer: string | undefined): void => {
      input.off("data", take);
      input.off("end", giveUp);
      signal.removeEventListener("abort", giveUp);
      input.setRawMode(false);
      input.pause();
      write("\n");
      resolve(answer);
    };
    const giveUp = (): void => end(undefined);
    const take = (chunk: Buffer | string): void => {
      const text = typeof chunk === "string" ? chunk : decoder.write(chunk);
      // Arrows and the like come whole, and mean nothing here.
      if (text.startsWith(keys.escape)) return;
      for (const key of text) {
        if (key === "\r" || key === "\n") return end(typed.join("").trim());
        if (key === keys.interrupt) return void process.kill(process.pid, "SIGINT");
        if (key === keys.end) return giveUp();
        if (erasing.has(key)) typed.pop();
        else if (key >= " ") typed.push(key);
      }
    };
    if (signal.aborted) {
      write("\n");
      resolve(undefined);
      return;
    }
    signal.addEventListener("abort", giveUp, { once: true });
    // Before the prompt: whoever types ahead is not shown, either.
    input.setRawMode(true);
    write(prompt);
    input.on("data", take);
    input.once("end", giveUp);
    input.resume();
  });
}
