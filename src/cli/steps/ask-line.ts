import { createError } from "../../errors/families.ts";
import type { McpError } from "../../errors/mcp-error.ts";
import { isYes } from "../human/dialogue.ts";
import type { CommandContext } from "./command-context.ts";

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
