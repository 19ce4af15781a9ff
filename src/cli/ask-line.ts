import { createInterface } from "node:readline";

import { createError } from "../errors/families.ts";
import type { McpError } from "../errors/mcp-error.ts";
import type { CommandContext } from "./command-context.ts";

/** What somebody types at the terminal, without blanks around it; empty at the end of input. */
export function askLine({ signal, terminal }: CommandContext, prompt: string): Promise<string> {
  return new Promise((resolve, reject) => {
    terminal.prompt(prompt);
    // Not in terminal mode: the terminal edits the line itself, and Ctrl-C stays a signal.
    const lines = createInterface({ input: process.stdin, terminal: false });
    let answer: string | undefined;
    const cancel = (): void => lines.close();
    if (signal.aborted) queueMicrotask(cancel);
    else signal.addEventListener("abort", cancel, { once: true });
    lines.once("line", (line) => {
      answer = line;
      lines.close();
    });
    lines.once("close", () => {
      signal.removeEventListener("abort", cancel);
      if (answer === undefined) terminal.note("");
      if (signal.aborted) reject(cancelledBeforehand());
      else resolve((answer ?? "").trim());
    });
  });
}

/** Enter, end of input and anything but y mean no. */
export async function answersYes(context: CommandContext): Promise<boolean> {
  return /^y(?:es)?$/i.test(await askLine(context, "[y/N] "));
}

export function cancelledBeforehand(): McpError {
  return createError("cancelled", "cancelled before anything was run");
}
