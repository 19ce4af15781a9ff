import { homedir } from "node:os";

import type { Command } from "commander";

import { createError } from "../../errors/families.ts";
import { McpError } from "../../errors/mcp-error.ts";
import type { Logger } from "../../ports/logger.ts";
import { ownProgram } from "../../text/own-command.ts";
import { looksLikeSecret } from "../../text/secrets/redact.ts";
import { shellWord } from "../../text/shell-word.ts";
import { type Dialogue, readAnswer } from "../human/dialogue.ts";
import type { Standpoint } from "../output/display-path.ts";
import { errorObject, type Fact, formatError } from "../output/error-format.ts";
import { createStderrLogger, type LogLevel } from "../output/stderr-logger.ts";
import { openOutput } from "../terminal/direct-output.ts";
import { Terminal } from "../terminal/terminal.ts";
import type { Interruption } from "./interruption.ts";
import type { Workplace } from "./workplace.ts";

/** Options that every command understands, as the parser gives them. */
export interface GlobalOptions {
  readonly json?: boolean;
  readonly quiet?: boolean;
  readonly color: boolean;
  /** As typed; a later file wins over an earlier one. */
  readonly config?: readonly string[];
  /** As typed; it is the current folder by now. */
  readonly cwd?: string;
  /** The store of this run, as typed; it counts in place of `PLUGBOARD_DB`. */
  readonly db?: string;
  /** Without it `warn`, with `quiet` `error`; with `json` nothing, because what matters is in the object. */
  readonly logLevel?: LogLevel;
}

/** Runs one command once its words are understood, and keeps the exit code that it gives. */
export type Execute = (run: (context: CommandContext) => Promise<number>) => Promise<void>;

/** Adds the words of one command (its description, arguments and options) and what it does with them. */
export type DefineCommand = (command: Command, execute: Execute) => void;

/** All commands, for one that runs others. */
export interface CommandLine {
  /** Runs one command as if these words were typed behind the name of the program; its exit code. */
  run(words: readonly string[], surroundings: Omit<CommandSurroundings, "line">): Promise<number>;
  /** The tree of commands, each with its name and summary alone. */
  tree(): Command;
  /** Gives a command of the tree its words. */
  define(command: Command): Promise<void>;
}

/** What a command is given by whoever runs it. */
export interface CommandSurroundings {
  /** The words that were typed behind the name of the program. */
  readonly line: readonly string[];
  readonly interruption: Interruption;
  /** Where it writes; the streams of this process by default. */
  readonly terminal?: Terminal | undefined;
  /** Who is asked; whoever sits at the terminal of this process by default. */
  readonly dialogue?: Dialogue | undefined;
  /** Where several commands are typed one after the other: what outlives each of them. */
  readonly workplace?: Workplace | undefined;
  /** Options that hold whatever was typed. */
  readonly globals?: Partial<GlobalOptions> | undefined;
  readonly commandLine?: CommandLine | undefined;
}

/** What a command works with: its options, a way to write, and the wish of the user to stop. */
export class CommandContext {
  readonly options: GlobalOptions;
  /** The words that were typed behind the name of the program. */
  readonly line: readonly string[];
  readonly terminal: Terminal;
  readonly interruption: Interruption;
  readonly workplace: Workplace | undefined;
  readonly commandLine: CommandLine | undefined;
  readonly logger: Logger;
  /** Problems that the command has told: the logger does not repeat them. */
  readonly told = new Set<string>();
  /** The server that was typed and is not configured, if there is one, with the words that stand for it. */
  typedServer: Standpoint["typedServer"];
  /** Whether somebody was asked to sign in to a server: once in a command is enough. */
  wasSignInOffered = false;
  /** The person at the terminal, if one is there. */
  readonly dialogue: Dialogue;

  constructor(options: GlobalOptions, surroundings: CommandSurroundings) {
    this.options = { ...options, ...surroundings.globals };
    this.line = surroundings.line;
    this.interruption = surroundings.interruption;
    this.workplace = surroundings.workplace;
    this.commandLine = surroundings.commandLine;
    const { env, platform } = process;
    this.terminal =
      surroundings.terminal ??
      new Terminal({
        stdout: openOutput("stdout"),
        stderr: openOutput("stderr"),
        env,
        platform,
        color: options.color,
      });
    const { json = false, quiet = false } = options;
    const level = options.logLevel ?? (json ? "silent" : quiet ? "error" : "warn");
    this.logger = createStderrLogger(this.terminal, {
      level,
      json,
      told: this.told,
      places: () => this.standpoint,
    });
    this.dialogue = surroundings.dialogue ?? dialogueAt(this.terminal);
  }

  get signal(): AbortSignal {
    return this.interruption.signal;
  }

  get standpoint(): Standpoint {
    const { config = [], cwd, db } = this.options;
    const { typedServer } = this;
    const places = { cwd: process.cwd(), home: homedir(), typedServer };
    if (this.workplace !== undefined) return { ...places, program: this.workplace.program };
    const repeated = [
      ...config.flatMap((file) => ["--config", file]),
      ...(cwd === undefined ? [] : ["--cwd", cwd]),
      // A password is not repeated on a screen, nor in what is copied from there.
      ...(db === undefined || looksLikeSecret(db) ? [] : ["--db", db]),
    ];
    const program = [ownProgram(), ...repeated.map(shellWord)].join(" ");
    return { ...places, program };
  }

  /** A line on stderr that is no error: silenced by `--quiet`, and by `--json` to keep stderr parseable. */
  notice(text: string): void {
    if (!this.options.quiet && !this.options.json) this.terminal.note(text);
  }

  /** The answer of a command, in the form that was asked for. A ✓ in front of the text is painted. */
  answer(object: object, text: string): void {
    if (this.options.json === true) this.terminal.json(object);
    else this.terminal.line(text.replace(/^✓/, (glyph) => this.terminal.paint("good", glyph)));
  }

  /** A step that is done, as a line of the answer; `--json` tells of it in its object. */
  answerLine(text: string): void {
    if (this.options.json !== true)
      this.terminal.line(`${this.terminal.paint("good", "✓")} ${text}`);
  }

  /** Ends a command whose remaining work nobody waits for any more. */
  throwIfInterrupted(): void {
    if (this.signal.aborted) throw createError("cancelled", "stopped half-way");
  }

  /** Tells a failure on stderr, and gives the exit code that belongs to it. */
  report(error: unknown, facts: readonly Fact[] = []): number {
    if (this.options.json) this.terminal.jsonError(errorObject(error, this.standpoint));
    else for (const line of this.#errorLines(error, facts)) this.terminal.note(line);
    return McpError.is(error) ? error.exitCode : 1;
  }

  #errorLines(error: unknown, facts: readonly Fact[]): readonly string[] {
    const { terminal, standpoint, options } = this;
    const withStack = options.logLevel === "debug";
    const style = { ...standpoint, columns: terminal.columns, withStack };
    return formatError(error, style, facts).map((line) =>
      line.replace(/^✗/, (glyph) => terminal.paint("bad", glyph, "stderr")),
    );
  }
}

/** Whoever sits at the terminal of this process. */
function dialogueAt(terminal: Terminal): Dialogue {
  return {
    note: (text) => terminal.note(text),
    ask: async (prompt, signal, asked) => {
      const release = terminal.hold();
      try {
        const write = (text: string): void => terminal.prompt(text);
        return await readAnswer(process.stdin, write, { prompt, signal, ...asked });
      } finally {
        release();
      }
    },
  };
}
