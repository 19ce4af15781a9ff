import { CommanderError, type Command } from "commander";

import { createError } from "../errors/families.ts";
import { readOwnVersion } from "../ports/package-files.ts";
import { createProgram, defineCommand, unknownCommand } from "./program.ts";
import { CommandContext, type Execute } from "./steps/command-context.ts";
import { type Interruption, watchSignals } from "./steps/interruption.ts";

const usageExitCode = 2;
const cancelledExitCode = 130;

/** Runs the command line with the words after its name, and ends the process. */
export async function main(words: readonly string[]): Promise<void> {
  const interruption = watchSignals();
  let context: CommandContext | undefined;
  const contextOf = (): CommandContext =>
    (context ??= new CommandContext(program.opts(), { line: words, interruption }));
  let exitCode = 0;
  const executeCommand: Execute = async (command) => {
    enterFolder(program.opts<{ cwd?: string }>().cwd);
    exitCode = await command(contextOf());
  };
  const program = createProgram(readOwnVersion(), executeCommand, {
    data: (text) => contextOf().terminal.data(text),
    note: (text) => contextOf().terminal.note(text),
  });
  process.on("uncaughtException", (error) => process.exit(contextOf().report(error)));

  if (words[0] === completionWord) {
    const lines = await completionLines(program, words.slice(1), interruption);
    if (lines.length > 0) contextOf().terminal.data(lines.join("\n"));
    return await end(contextOf(), 0);
  }
  try {
    await program.parseAsync(words, { from: "user" });
  } catch (error) {
    exitCode = isHelp(error) ? helpExitCode(error) : contextOf().report(asFailure(program, error));
  }
  // Cut short by a signal: the shell expects that signal's number.
  if (exitCode === cancelledExitCode) exitCode = interruption.exitCode ?? exitCode;
  await end(contextOf(), exitCode);
}

/** Only the scripts of `plugboard completion` type this. */
const completionWord = "__complete";

async function completionLines(
  program: Command,
  words: readonly string[],
  interruption: Interruption,
): Promise<readonly string[]> {
  const { answerShell } = await import("./completion/answer-shell.ts");
  return await answerShell({ program, define: defineWords, interruption, words });
}

/** Gives a command its words alone: it is not going to run. */
async function defineWords(command: Command): Promise<void> {
  await defineCommand(command, async () => {});
}

/** What was written has to arrive before the process may end, however slowly it is read. */
async function end(context: CommandContext, exitCode: number): Promise<void> {
  const { terminal } = context;
  await terminal.flush();
  const { writeError } = terminal;
  if (writeError === undefined) process.exit(exitCode);
  context.report(writeError);
  await terminal.flush();
  process.exit(1);
}

function enterFolder(folder: string | undefined): void {
  if (folder === undefined) return;
  try {
    process.chdir(folder);
  } catch (cause) {
    throw createError("invalid_arguments", `--cwd: there is no folder "${folder}" to work in`, {
      cause,
    });
  }
}

function isHelp(error: unknown): error is CommanderError {
  return (
    error instanceof CommanderError &&
    ["commander.help", "commander.helpDisplayed", "commander.version"].includes(error.code)
  );
}

/** Help that was asked for is a success; help in place of a missing command is not. */
function helpExitCode({ code }: CommanderError): number {
  return code === "commander.help" ? usageExitCode : 0;
}

/** What the parser objects to, as an error like any other, with the usage of the command that was typed. */
function asFailure(program: Command, error: unknown): unknown {
  if (!(error instanceof CommanderError)) return error;
  const [name = ""] = program.args;
  if (error.code === "commander.unknownCommand") return unknownCommand(program, name);
  const text = error.message
    .replaceAll(/^error: |\.$/g, "")
    .replaceAll(/\s*\n\s*/g, " ")
    .replace(/^missing required argument '(.+)'$/, `${name} needs <$1>`);
  const [, suggested] = / \(Did you mean (.+)\?\)$/.exec(text) ?? [];
  const command = program.commands.find((candidate) => candidate.name() === name);
  return createError("invalid_arguments", text.replace(/ \(Did you mean .+\?\)$/, ""), {
    details: suggested === undefined ? {} : { suggestions: [suggested.replace(/^one of /, "")] },
    hint: command === undefined ? "plugboard --help" : `plugboard ${name} --help`,
  });
}
