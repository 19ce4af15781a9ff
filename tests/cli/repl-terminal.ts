import { randomUUID } from "node:crypto";
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import path from "node:path";

import { expect, onTestFailed, onTestFinished } from "vitest";

import { childMarkerVariable } from "../../src/isolation/process/child-mark.ts";
import { markedProcesses } from "../../src/isolation/process/marked-processes.ts";
import { PseudoTerminal } from "../fixtures/terminal/pseudo-terminal.ts";
import { bundledServers } from "../setup/bundle-programs.ts";
import { normalize } from "./normalize.ts";
import type { CliSandbox } from "./run-cli.ts";

const root = path.resolve(import.meta.dirname, "../..");
const program = path.join(root, "bin/plugboard.js");
const screensFolder = path.join(import.meta.dirname, "repl-screens");

export const keys = {
  enter: "\r",
  tab: "\t",
  interrupt: "\u0003",
  end: "\u0004",
  stop: "\u001A",
  up: "\u001B[A",
} as const;

export interface ReplOptions {
  readonly words?: readonly string[];
  /** Another program than the REPL: a shell in which it is typed. */
  readonly command?: string;
  readonly env?: Readonly<Record<string, string>>;
  readonly kind?: string;
  readonly columns?: number;
  readonly rows?: number;
}

/** The built REPL at a pseudo-terminal, typed at as a person would: each line behind its prompt. */
export class ReplAtTerminal {
  readonly terminal: PseudoTerminal;
  readonly #sandbox: CliSandbox;
  readonly #marker = randomUUID();

  constructor(sandbox: CliSandbox, options: ReplOptions = {}) {
    const { words = ["repl"], command, env = {}, ...size } = options;
    this.#sandbox = sandbox;
    sandbox.lendCode();
    this.terminal = new PseudoTerminal({
      command: command ?? process.execPath,
      args: command === undefined ? [program, ...words] : words,
      cwd: sandbox.cwd,
      env: {
        ...sandbox.environment,
        NO_COLOR: "1",
        [childMarkerVariable]: this.#marker,
        ...env,
      },
      ...size,
    });
    // A test that fails half-way must not leave it running.
    onTestFinished(() => this.terminal.kill("SIGKILL"));
    onTestFailed(() => console.error(this.terminal.screen));
  }

  /** Types a line behind the prompt, and waits until the next prompt is there, or for what comes behind the line. */
  async line(text: string, awaited?: string | RegExp): Promise<void> {
    await this.prompt();
    await this.answer(text, awaited);
  }

  /** Types behind what is shown, and waits in the same way. */
  async answer(text: string, awaited?: string | RegExp): Promise<void> {
    await this.keys(`${text}${keys.enter}`, awaited);
  }

  /** Presses keys, and waits in the same way. */
  async keys(typed: string, awaited?: string | RegExp): Promise<void> {
    const { terminal } = this;
    const before = terminal.screen.trimEnd().length;
    terminal.type(typed);
    await terminal.shows((screen) => {
      const since = screen.slice(before);
      if (awaited === undefined) return since.trimEnd().includes("\n") && this.#isAtPrompt;
      return typeof awaited === "string" ? since.includes(awaited) : awaited.test(since);
    });
  }

  /** Waits until the prompt is there, with nothing typed behind it. */
  async prompt(): Promise<void> {
    await this.terminal.shows(() => this.#isAtPrompt);
  }

  /** Leaves by Ctrl-D. */
  async leave(): Promise<void> {
    await this.prompt();
    this.terminal.type(keys.end);
    expect(await this.end()).toBe(0);
  }

  /** The exit code. No process may be left. */
  async end(): Promise<number> {
    const { exitCode } = await this.terminal.ended;
    expect(await markedProcesses({ id: this.#marker }), "processes left behind").toEqual([]);
    return exitCode;
  }

  /** Compares the screen, without what differs from run to run, with the one that is kept for people to look at. */
  matches(name: string): void {
    const file = path.join(screensFolder, `${name}.txt`);
    const shown = this.#normalized();
    if (process.env["UPDATE_GOLDEN"] === "1") {
      mkdirSync(screensFolder, { recursive: true });
      writeFileSync(file, shown);
    }
    expect(shown).toBe(existsSync(file) ? readFileSync(file, "utf8") : "");
  }

  get #isAtPrompt(): boolean {
    return /^\w*> $/.test(this.terminal.typedLine);
  }

  #normalized(): string {
    return normalize(this.terminal.screen)
      .replaceAll(path.dirname(bundledServers), "<servers>")
      .replaceAll(path.join(root, "tests"), "<tests>")
      .replaceAll(process.execPath, "<node>")
      .replaceAll(this.#sandbox.root, "<root>")
      .replaceAll(/ +$/gm, "")
      .replaceAll(/~\d+ tokens/g, "~<n> tokens")
      .replaceAll(/^[⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏](.* \d+\/\d+).*$/gm, "⠋$1");
  }
}
