import { createError } from "../../errors/families.ts";
import type { McpError } from "../../errors/mcp-error.ts";
import { neutralizeLine } from "../../text/untrusted/neutralize.ts";
import type { CommandContext } from "../context/command-context.ts";
import { readStdin } from "../words/call-words.ts";
import { canAsk } from "./approve-launch.ts";
import { cancelledBeforehand } from "./ask-line.ts";

/**
 * Reads secrets from where nobody sees them and nothing keeps them: typed at the terminal, which does not show them, or
 * of stdin a line each.
 */
export async function readSecrets(
  context: CommandContext,
  names: readonly string[],
): Promise<readonly string[]> {
  if (names.length === 0) return [];
  const secrets = context.terminal.isInteractive
    ? await askEach(context, names)
    : linesOf(await readPiped(context, names), names);
  for (const [index, name] of names.entries())
    if ((secrets[index] ?? "") === "") throw missing(name);
  return secrets;
}

/** Reads one secret, which may have several lines on stdin. */
export async function readSecret(context: CommandContext, name: string): Promise<string> {
  if (context.terminal.isInteractive) return (await readSecrets(context, [name]))[0] ?? "";
  const text = (await readPiped(context, [name])).replace(/\r?\n$/, "");
  if (text === "") throw missing(name);
  return text;
}

/** What is piped into the REPL are commands, and no secrets. */
async function readPiped(
  { workplace, signal }: CommandContext,
  names: readonly string[],
): Promise<string> {
  if (workplace === undefined) return await readStdin(signal);
  const message = `there is nobody who could type ${neutralizeLine(names.join(", "))}`;
  throw createError("invalid_arguments", message);
}

async function askEach(
  context: CommandContext,
  names: readonly string[],
): Promise<readonly string[]> {
  if (!canAsk(context))
    throw createError("invalid_arguments", "with --json nobody is asked for a secret", {
      hint: "give it on stdin, as in: … --json < secret.txt",
    });
  const { dialogue, signal } = context;
  const secrets: string[] = [];
  for (const name of names) {
    const prompt = `${neutralizeLine(name)} (not shown): `;
    const typed = await dialogue.ask(prompt, signal, { isHidden: true });
    if (signal.aborted) throw cancelledBeforehand();
    // Who is asked for several and gives none for one gives none at all.
    if (typed === undefined || typed === "") throw missing(name);
    secrets.push(typed);
  }
  return secrets;
}

function linesOf(text: string, names: readonly string[]): readonly string[] {
  const lines = text.split("\n").map((line) => line.replace(/\r$/, ""));
  const extra = lines.slice(names.length).filter((line) => line !== "");
  if (extra.length > 0)
    throw createError("invalid_arguments", "stdin has more lines than there are secrets to read", {
      hint: `one line each, in this order: ${names.join(", ")}`,
    });
  return lines.slice(0, names.length);
}

function missing(name: string): McpError {
  return createError("invalid_arguments", `no secret was given for ${neutralizeLine(name)}`, {
    hint: "type it when you are asked, or give it on stdin; it cannot be an argument",
  });
}
