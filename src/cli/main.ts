import { CommanderError, type Command } from "commander";

import { createError } from "../errors/families.ts";
import { readOwnVersion } from "../ports/package-files.ts";
import type { CommandName } from "./command-table.ts";
import {
  CommandContext,
  type CommandLine,
  type CommandSurroundings,
  type Execute,
} from "./context/command-context.ts";
import { leaveMemoryOutOfCoreDumps } from "./context/core-dumps.ts";
import { type Interruption, watchSignals } from "./context/interruption.ts";
import { createProgram, defineCommand, unknownCommand } from "./program.ts";

const usageExitCode = 2;
const cancelledExitCode = 130;

/** Runs the command line with the words after its name, and ends the process. */
export async function main(typed: readonly string[]): Promise<void> {
  leaveMemoryOutOfCoreDumps();
  const interruption = watchSignals();
  const words = typed.length === 0 && isTerminal() ? [replWord] : typed;
  const line = new Line(words, { interruption, commandLine });
  process.on("uncaughtException", (error) => process.exit(line.context.report(error)));
  const exitCode = await line.runAlone();
  await end(line.context, exitCode);
}

/**
 * Runs one command as `main` does, in a process that goes on: its exit code. Where it writes and who stops it stand in
 * `surroundings`; the folder and the variables are those of the process, and `--cwd` changes its folder.
 */
export async function runCommand(
  words: readonly string[],
  surroundings: Omit<CommandSurroundings, "line" | "commandLine">,
): Promise<number> {
  return await new Line(words, { ...surroundings, commandLine }).runAlone();
}

/** Where somebody sits who can type more than the name of the program. */
function isTerminal(): boolean {
  return process.stdin.isTTY && process.stdout.isTTY && process.stderr.isTTY;
}

const replWord = "repl" satisfies CommandName;

/** One command as it was typed, from its words to its exit code. */
class Line {
  readonly program: Command;
  readonly #words: readonly string[];
  readonly #surroundings: Omit<CommandSurroundings, "line">;
  #context: CommandContext | undefined;
  #exitCode = 0;

  constructor(words: readonly string[], surroundings: Omit<CommandSurroundings, "line">) {
    this.#words = words;
    this.#surroundings = surroundings;
    const execute: Execute = async (command) => {
      enterFolder(this.program.opts<{ cwd?: string }>().cwd);
      this.#exitCode = await command(this.context);
    };
    this.program = createProgram(readOwnVersion(), execute, {
      data: (text) => writeHelp(this.context, text),
      note: (text) => this.context.terminal.note(text),
    });
  }

  /** Made when it is first needed: by then the options have been read. */
  get context(): CommandContext {
    this.#context ??= new CommandContext(this.program.opts(), {
      ...this.#surroundings,
      line: this.#words,
    });
    return this.#context;
  }

  /** As `run` does, in a process of its own: there a shell may also ask what could be typed next. */
  async runAlone(): Promise<number> {
    const [first, ...others] = this.#words;
    if (first !== completionWord) return await this.run();
    const { interruption } = this.#surroundings;
    const lines = await completionLines(this.program, others, interruption);
    if (lines.length > 0) this.context.terminal.data(lines.join("\n"));
    return 0;
  }

  async run(): Promise<number> {
    try {
      await this.program.parseAsync(this.#words, { from: "user" });
    } catch (error) {
      if (isHelp(error)) return helpExitCode(error);
      this.#exitCode = this.context.report(asFailure(this.program, error));
    }
    // Cut short by a signal: the shell expects that signal's number.
    const { interruption } = this.#surroundings;
    if (this.#exitCode !== cancelledExitCode) return this.#exitCode;
    return interruption.exitCode ?? this.#exitCode;
  }
}

const commandLine: CommandLine = {
  run: (words, surroundings) => new Line(words, { ...surroundings, commandLine }).run(),
  tree: () => createProgram(readOwnVersion(), async () => {}),
  define: defineWords,
};

/** Where results are cut and kept, help is neither. */
function writeHelp({ terminal, workplace }: CommandContext, text: string): void {
  if (workplace === undefined) terminal.data(text);
  else terminal.line(text.replace(/\n$/, ""));
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
