import { createError } from "../../errors/families.ts";
import type { McpError } from "../../errors/mcp-error.ts";
import type { CommandContext } from "../context/command-context.ts";
import { isYes } from "../human/dialogue.ts";
import type { DraftPlace } from "../human/editor-draft.ts";

/** What somebody types at the terminal, without blanks around it; empty at the end of input. */
export async function askLine(context: CommandContext, prompt: string): Promise<string> {
  const { signal, dialogue } = context;
  const line = await dialogue.ask(prompt, signal);
  if (signal.aborted) throw cancelledBeforehand();
  return line ?? "";
}

/** Enter, end of input and anything but y mean no. */
export async function answersYes(context: CommandContext): Promise<boolean> {
  return isYes(await askLine(context, "[y/N] "));
}

export function cancelledBeforehand(): McpError {
  return createError("cancelled", "cancelled before anything was run");
}

/** The place where a command opens the person's editor: its terminal, on which nothing else is drawn meanwhile. */
export function draftPlace({ signal, terminal, options, workplace }: CommandContext): DraftPlace {
  return {
    signal,
    ownsStdout: !terminal.takesBytes && options.json !== true,
    lend: async (use) => {
      const release = terminal.hold();
      try {
        return await (workplace === undefined ? use() : workplace.lendTerminal(use));
      } finally {
        release();
      }
    },
  };
}
