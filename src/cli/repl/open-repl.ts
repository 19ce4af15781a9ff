import { homedir } from "node:os";

import { joinSignals } from "../../async/stop.ts";
import { createError } from "../../errors/families.ts";
import { McpError } from "../../errors/mcp-error.ts";
import type { McpHost } from "../../host/host.ts";
import { ownFolder } from "../../host/own-files.ts";
import type { AttachedHost } from "../../host/resident/attached-host.ts";
import type { SharedHost } from "../../host/shared-host.ts";
import type { Human } from "../../human/human.ts";
import type { PermissionLevel } from "../../policy/permission-level.ts";
import { neutralizeLine } from "../../text/untrusted/neutralize.ts";
import { CommandContext, type CommandLine } from "../context/command-context.ts";
import type { Interruption } from "../context/interruption.ts";
import type { Dialogue } from "../human/dialogue.ts";
import { createHumanAt } from "../human/terminal-human.ts";
import {
  findRunningHost,
  noteConfigProblems,
  oneShotLimits,
  openHost,
} from "../steps/open-host.ts";
import { ProgressLine } from "../steps/progress-line.ts";
import { AgentSeat } from "./agent-seat.ts";
import { completeTyped } from "./complete-typed.ts";
import { ForeignQuestions } from "./foreign-questions.ts";
import { LineHistory } from "./line-history.ts";
import { splitLine } from "./line-words.ts";
import { LiveNotices, pacedLogger } from "./live-notices.ts";
import {
  levels,
  type OwnParts,
  ownCommands,
  writeArguments,
  writeInEditor,
} from "./own-commands.ts";
import { createPerson } from "./person.ts";
import { PreviewTerminal } from "./preview-terminal.ts";
import { readLine } from "./read-line.ts";
import { Screen } from "./screen.ts";

export interface ReplOptions {
  readonly agent: string;
  readonly level: PermissionLevel;
}

/** Opens the REPL and stays in it until whoever types leaves. Gives the exit code of the process. */
export async function openRepl(context: CommandContext, options: ReplOptions): Promise<number> {
  const { commandLine } = context;
  if (context.workplace !== undefined || commandLine === undefined)
    throw createError("invalid_arguments", "this is the REPL already");
  const repl = await Repl.open(context, commandLine, options);
  try {
    return await repl.run();
  } finally {
    await repl.close();
  }
}

/** Commands ask about a launch themselves, before they connect: the host does not ask once more. */
function unlessLaunch(human: Human): NonNullable<Human["confirm"]> {
  return async (question, options) =>
    question.kind === "launch" ? "no" : ((await human.confirm?.(question, options)) ?? "no");
}

/** Where nobody sits, every answer is a no. */
const nobody: Human = { confirm: async () => "no" };

/** Ctrl-C so many times while a command runs ends the process, whatever the command waits for. */
const patience = 3;

/** A host of this process, opened when it is first needed. */
class LateHost {
  readonly #open: () => Promise<McpHost>;
  #opening: Promise<McpHost> | undefined;

  constructor(open: () => Promise<McpHost>) {
    this.#open = open;
  }

  open(): Promise<McpHost> {
    this.#opening ??= this.#open();
    // One that could not be opened is tried again.
    this.#opening.catch(() => (this.#opening = undefined));
    return this.#opening;
  }

  async close(): Promise<void> {
    const host = await this.#opening?.catch(() => undefined);
    await host?.close();
  }
}

/** One person, one host, one line after the other. */
class Repl {
  readonly #context: CommandContext;
  readonly #commandLine: CommandLine;
  readonly #terminal: PreviewTerminal;
  readonly #dialogue: Dialogue;
  readonly #screen: Screen;
  readonly #history: LineHistory;
  readonly #notices: LiveNotices;
  #host: SharedHost;
  /** The host of another process that is used; undefined once it has gone. */
  #running: AttachedHost | undefined;
  readonly #ownHost: LateHost;
  readonly #questions: ForeignQuestions | undefined;
  readonly #seat: AgentSeat;
  readonly #isAttended: boolean;
  /** The line that runs. */
  #line: AbortController | undefined;
  #interrupts = 0;
  #isLeaving = false;
  #unsubscribe: () => void = () => {};
  #failure = 0;

  static async open(
    context: CommandContext,
    commandLine: CommandLine,
    options: ReplOptions,
  ): Promise<Repl> {
    const { stdin, stderr, env } = process;
    // A program that reads objects answers no questions.
    const isAttended = stdin.isTTY && stderr.isTTY && context.options.json !== true;
    const history = isAttended ? await LineHistory.load(ownFolder({})) : new LineHistory(undefined);
    const isEditing = isAttended && env["TERM"] !== "dumb";
    const repl: { current?: Repl } = {};
    const screen = new Screen({
      stdin,
      stdout: process.stdout,
      stderr,
      isAttended,
      isEditing,
      history,
      complete: async (line) => (await repl.current?.complete(line)) ?? [[], line],
      interrupted: () => repl.current?.interrupt(),
    });
    const { color } = context.options;
    const terminal = new PreviewTerminal(
      { stdout: screen.stdout, stderr: screen.stderr, env, platform: process.platform, color },
      { isCut: isAttended && process.stdout.isTTY },
    );
    const dialogue: Dialogue = {
      note: (text) => terminal.note(text),
      ask: async (prompt, signal, asked) => {
        const release = terminal.hold();
        try {
          return await screen.ask(prompt, signal, asked);
        } finally {
          release();
        }
      },
    };
    const { interruption, line } = context;
    const own = new CommandContext(context.options, { line, interruption, terminal, dialogue });
    const notices = new LiveNotices({
      write: (text) => own.notice(text),
      isBusy: () => repl.current?.isBusy === true,
    });
    const seats: { current?: AgentSeat } = {};
    const places = { cwd: process.cwd(), home: homedir() };
    try {
      const person = createPerson({
        dialogue,
        places,
        seat: () => {
          if (seats.current === undefined) throw createError("closed", "the REPL is not open yet");
          return seats.current;
        },
        write: async (signal) => {
          const place = new CommandContext(context.options, {
            line,
            interruption: { ...interruption, signal },
            terminal,
            dialogue,
            workplace: seats.current,
          });
          const text = await writeInEditor(place, "answer.txt", "");
          return text.trim() === "" ? undefined : text.trimEnd();
        },
      });
      const human = isAttended ? person.human : undefined;
      const { config } = context.options;
      const questions = isAttended
        ? new ForeignQuestions({
            tell: (text) => own.notice(text),
            human: createHumanAt(dialogue, places),
            sampling: person.sampling,
          })
        : undefined;
      const ownHost = new LateHost(() =>
        openHost(own, {
          watch: true,
          reconnect: true,
          // Whoever leaves is not kept waiting by a server that does not want to end.
          limits: oneShotLimits,
          demo: config === undefined ? "unconfigured" : false,
          human: human === undefined ? {} : { ...human, confirm: unlessLaunch(human) },
          logger: pacedLogger(own.logger, notices),
          ...(isAttended ? { sampling: person.sampling } : {}),
        }),
      );
      const running = await findRunningHost(own, { surface: questions });
      const host = running ?? (await ownHost.open());
      const lendTerminal = <T>(use: () => Promise<T>): Promise<T> => screen.lend(use);
      const seat = new AgentSeat({
        host,
        wholeHost: () => ownHost.open(),
        human: human ?? nobody,
        lendTerminal,
        ...options,
      });
      seats.current = seat;
      repl.current = new Repl({
        context: own,
        commandLine,
        terminal,
        dialogue,
        screen,
        history,
        notices,
        host,
        running,
        ownHost,
        questions,
        seat,
        isAttended,
      });
      await seat.refresh();
      return repl.current;
    } catch (error) {
      screen.close();
      throw error;
    }
  }

  private constructor(parts: {
    readonly context: CommandContext;
    readonly commandLine: CommandLine;
    readonly terminal: PreviewTerminal;
    readonly dialogue: Dialogue;
    readonly screen: Screen;
    readonly history: LineHistory;
    readonly notices: LiveNotices;
    readonly host: SharedHost;
    readonly running: AttachedHost | undefined;
    readonly ownHost: LateHost;
    readonly questions: ForeignQuestions | undefined;
    readonly seat: AgentSeat;
    readonly isAttended: boolean;
  }) {
    this.#context = parts.context;
    this.#commandLine = parts.commandLine;
    this.#terminal = parts.terminal;
    this.#dialogue = parts.dialogue;
    this.#screen = parts.screen;
    this.#history = parts.history;
    this.#host = parts.host;
    this.#running = parts.running;
    this.#ownHost = parts.ownHost;
    this.#questions = parts.running === undefined ? undefined : parts.questions;
    this.#seat = parts.seat;
    this.#isAttended = parts.isAttended;
    this.#notices = parts.notices;
    const { signal, interruption } = this.#context;
    signal.addEventListener("abort", () => this.#leave(), { once: true });
    if (this.#isAttended) interruption.takeInterrupts?.(() => this.interrupt());
    this.#running?.lost.addEventListener("abort", () => {
      if (!this.#isLeaving)
        this.#context.notice("⚠ the host that was used has ended; from here on this works alone");
    });
  }

  /** Whether a line runs. */
  get isBusy(): boolean {
    return this.#line !== undefined;
  }

  async run(): Promise<number> {
    this.#listen();
    if (this.#isAttended) this.#greet();
    while (!this.#isLeaving) {
      const typed = await this.#nextLine();
      if (typed === undefined) break;
      await this.#follow();
      const exitCode = await this.#runLine(typed);
      if (exitCode !== 0) this.#failure = exitCode;
    }
    const { interruption } = this.#context;
    return interruption.exitCode ?? (this.#isAttended ? 0 : this.#failure);
  }

  async close(): Promise<void> {
    this.#unsubscribe();
    this.#notices.close();
    this.#screen.close();
    const progress = new ProgressLine(this.#context, { plainLines: false });
    progress.phase("stopping");
    await Promise.all([this.#running?.close(), this.#ownHost.close(), this.#history.close()]);
    progress.stop();
  }

  /** Ctrl-C: cancels what runs, or clears the line; on an empty one again, it offers to leave. */
  interrupt(): void {
    this.#interrupts += 1;
    if (this.#line !== undefined) {
      this.#line.abort();
      if (this.#interrupts === patience) process.exit(130);
      if (this.#interrupts > 1) this.#context.notice("Once more ends everything at once.");
      return;
    }
    if (this.#screen.clearLine()) this.#interrupts = 0;
    else if (this.#interrupts > 1) void this.#offerExit();
  }

  async complete(line: string): Promise<readonly [readonly string[], string]> {
    const host = this.#seat.hostInView();
    return await completeTyped({ commandLine: this.#commandLine, host, levels }, line);
  }

  async #offerExit(): Promise<void> {
    this.#interrupts = 0;
    const answer = await this.#dialogue.ask("Leave? [y/N] ", this.#context.signal);
    if (/^y(?:es)?$/i.test(answer ?? "")) this.#leave();
  }

  #leave(): void {
    this.#isLeaving = true;
    this.#line?.abort();
    this.#screen.close();
  }

  #greet(): void {
    noteConfigProblems(this.#context, this.#host, "error");
    const count = this.#host.servers().length;
    const servers = `${count} ${count === 1 ? "server" : "servers"}`;
    const { agent, level } = this.#seat;
    const where = this.#running === undefined ? "" : " of plugboard up";
    this.#context.notice(
      `Plugboard · ${servers}${where} · agent ${neutralizeLine(agent)} (${level}) · /help explains, Ctrl-D leaves`,
    );
  }

  /** Hears what concerns the agent that is at the seat. */
  #listen(): void {
    this.#unsubscribe();
    this.#unsubscribe = this.#seat.session(this.#host).on("*", this.#notices.tell);
  }

  /** Looks at what has changed since the line before. A host that has gone is replaced by one of this process. */
  async #follow(): Promise<void> {
    if (this.#running === undefined) return;
    try {
      await this.#seat.refresh();
    } catch (error) {
      if (!McpError.is(error)) throw error;
      const gone = this.#running;
      this.#running = undefined;
      await gone.close();
      this.#host = await this.#ownHost.open();
      this.#seat.moveTo(this.#host);
      this.#listen();
    }
  }

  /** A line goes on with the next one while a quote is open, or behind a backslash. */
  async #nextLine(): Promise<string | undefined> {
    const { agent } = this.#seat;
    const name = agent === "main" ? "" : neutralizeLine(agent);
    let line = await this.#screen.nextLine(`${name}> `);
    while (line !== undefined && splitLine(line).isOpen) {
      const next = await this.#screen.nextLine("… ");
      if (next === undefined) return this.#isAttended ? undefined : line;
      line = `${line}\n${next}`;
    }
    return line;
  }

  async #runLine(typed: string): Promise<number> {
    const { words, isOpen } = splitLine(typed);
    if (words.length === 0 || words[0]?.startsWith("#") === true) return 0;
    const running = new AbortController();
    this.#line = running;
    this.#interrupts = 0;
    const context = this.#contextFor(words, running);
    try {
      if (isOpen) throw createError("invalid_arguments", "a quote is not closed");
      const read = readLine(words, this.#commandNames());
      if (read.kind === "own")
        return await ownCommands[read.name](context, this.#ownParts(context), read.words);
      return await this.#runCommand(context, read.words);
    } catch (error) {
      return context.report(error);
    } finally {
      await this.#terminal.flush();
      this.#line = undefined;
      this.#interrupts = 0;
    }
  }

  async #runCommand(context: CommandContext, typed: readonly string[]): Promise<number> {
    refuseElsewhere(typed);
    const [name, address] = typed;
    const wantsEditor = name === "call" && typed.at(-1) === "--args" && address !== undefined;
    const words = wantsEditor
      ? [...typed, await writeArguments(context, { seat: this.#seat }, address)]
      : typed;
    const { config, cwd, quiet, json } = this.#context.options;
    return await this.#commandLine.run(words, {
      interruption: context.interruption,
      terminal: this.#terminal,
      dialogue: this.#dialogue,
      workplace: this.#seat,
      globals: {
        ...(config === undefined ? {} : { config }),
        ...(cwd === undefined ? {} : { cwd }),
        ...(quiet === undefined ? {} : { quiet }),
        ...(json === undefined ? {} : { json }),
      },
    });
  }

  #contextFor(line: readonly string[], running: AbortController): CommandContext {
    return new CommandContext(this.#context.options, {
      line,
      interruption: interruptionOf(this.#context.interruption, running.signal),
      terminal: this.#terminal,
      dialogue: this.#dialogue,
      workplace: this.#seat,
    });
  }

  #ownParts(context: CommandContext): OwnParts {
    return {
      host: this.#host,
      questions: this.#questions,
      seat: this.#seat,
      notices: this.#notices,
      terminal: this.#terminal,
      commandLine: this.#commandLine,
      seated: () => this.#listen(),
      exit: () => this.#leave(),
      run: (words) => this.#runCommand(context, words),
    };
  }

  #commandNames(): readonly string[] {
    return this.#commandLine.tree().commands.map((command) => command.name());
  }
}

/** The wish to end one line, or everything. */
function interruptionOf(whole: Interruption, line: AbortSignal): Interruption {
  const signal = joinSignals(whole.signal, line);
  return {
    signal,
    get received() {
      return whole.received ?? (line.aborted ? "SIGINT" : undefined);
    },
    get exitCode() {
      return whole.exitCode ?? (line.aborted ? 130 : undefined);
    },
  };
}

/** Throws for what belongs to the start of the REPL, or would take its keys. */
function refuseElsewhere(words: readonly string[]): void {
  const own = words.includes("--") ? words.slice(0, words.indexOf("--")) : words;
  const place = own.find((word) => /^--(?:cwd|config)(?:=|$)/.test(word));
  if (place !== undefined)
    throw createError(
      "invalid_arguments",
      `${place} belongs to the start: plugboard ${place} … repl`,
    );
  const [name] = own;
  const readsKeys =
    (name === "test-server" && (own[1] ?? "stdio") === "stdio") ||
    (name === "add-json" && own.includes("-")) ||
    (name === "call" && (own.includes("--args=-") || own[own.indexOf("--args") + 1] === "-"));
  if (readsKeys)
    throw createError("invalid_arguments", "there is no input to read beside what is typed here", {
      hint: "/edit-args <server.tool> opens an editor; key=@file reads a file",
    });
}
