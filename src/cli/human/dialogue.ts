import { createInterface } from "node:readline";
import type { Interface } from "node:readline/promises";

import { canHide, readHidden } from "./read-hidden.ts";

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
