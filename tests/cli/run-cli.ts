import { type ChildProcess, spawn, spawnSync } from "node:child_process";
import { randomUUID } from "node:crypto";
import { on } from "node:events";
import {
  chownSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  symlinkSync,
  watch,
  writeFileSync,
} from "node:fs";
import { constants, tmpdir } from "node:os";
import path from "node:path";

import { expect, onTestFinished } from "vitest";

import { childMarkerVariable } from "../../src/isolation/process/child-mark.ts";
import { markedProcesses } from "../../src/isolation/process/marked-processes.ts";
import { bundledServers } from "../setup/bundle-programs.ts";
import { lendCompiledCommands } from "../setup/compiled-commands.ts";
import { ownVariables, runHere } from "./run-here.ts";

export { normalize } from "./normalize.ts";

const root = path.resolve(import.meta.dirname, "../..");
const program = path.join(root, "bin/plugboard.js");

/** Of util-linux: gives a command a terminal. */
const terminalProgram = "script";

export const hasTerminal =
  process.platform === "linux" && spawnSync(terminalProgram, ["--version"]).status === 0;

/** The demo server, as an entry of a configuration file. */
export const demoEntry = { command: process.execPath, args: [bundledServers, "demo"] } as const;

/** The same, with everything that is sent to it kept in a file. */
export function recordedEntry(file: string): { command: string; args: readonly string[] } {
  const { command, args } = demoEntry;
  return { command: "sh", args: ["-c", 'tee "$0" | "$@"', file, command, ...args] };
}

/** What a command says on stderr while it connects a server that works. */
export function connectingLines(name: string): string {
  return `starting ${name} …\nhandshake with ${name} …\nlisting the tools of ${name} …\n`;
}

/** A user who may do nothing of what only root may. */
export const nobody = 65_534;

/** Whether the built command line can be started in that user's name: by root alone, where its folder is open to all. */
export function runsAsNobody(): boolean {
  if (process.getuid?.() !== 0) return false;
  const options = { uid: nobody, gid: nobody, cwd: "/", env: {} };
  return spawnSync(process.execPath, [program, "--version"], options).status === 0;
}

function temporaryFolder(): string {
  return ownVariables()["TMPDIR"] ?? tmpdir();
}

export interface CliResult {
  readonly stdout: string;
  readonly stderr: string;
  /** As a shell reports it. */
  readonly exitCode: number | null;
}

export interface RunOptions {
  /** Who runs it; only root may name somebody else. */
  readonly uid?: number;
  readonly env?: Readonly<Record<string, string>>;
  readonly input?: string;
}

/** A folder to stand in and a home of its own, both empty: where someone types the first command. */
export class CliSandbox {
  readonly cwd: string;
  readonly home: string;
  /** The folder that holds all of it. */
  readonly root: string;
  /** Where a shell finds `plugboard`. */
  readonly #bin: string;

  readonly #isCodeLent: boolean;

  /** @param isCodeLent Whether its commands find their code compiled, once there is a folder of ours in the home. */
  constructor({ isCodeLent = true } = {}) {
    this.#isCodeLent = isCodeLent;
    const root = mkdtempSync(path.join(temporaryFolder(), "cli-"));
    this.root = root;
    this.cwd = path.join(root, "project");
    this.home = path.join(root, "home");
    this.#bin = path.join(root, "bin");
    for (const folder of [this.cwd, this.home, this.#bin]) mkdirSync(folder);
    symlinkSync(program, path.join(this.#bin, "plugboard"));
  }

  /** Writes the entries into the user's file: approved by their origin. */
  configureUser(servers: Readonly<Record<string, unknown>>): this {
    return this.#configure(this.home, servers);
  }

  /** Writes the entries into the project's file: they have to be approved. */
  configureProject(servers: Readonly<Record<string, unknown>>): this {
    return this.#configure(this.cwd, servers);
  }

  /** Gives the place to another user, who then types there; only root can. */
  giveTo(uid: number): void {
    for (const folder of [this.root, this.cwd, this.home, this.#bin]) chownSync(folder, uid, uid);
  }

  /** Starts the built command line. */
  start(words: readonly string[], options: RunOptions = {}): RunningCli {
    const cli = this.#spawn(process.execPath, [program, ...words], options.env, options.uid);
    cli.type(options.input ?? "");
    cli.endInput();
    return cli;
  }

  /** The same at a terminal, whose screen is `stdout`; its input stays open. */
  startInTerminal(words: readonly string[]): RunningCli {
    return this.startProgramInTerminal([program, ...words]);
  }

  /** Another program, by its file and its words, at a terminal. Its process id is in `pid` of the home folder. */
  startProgramInTerminal(words: readonly string[]): RunningCli {
    return this.startCommandInTerminal([process.execPath, ...words]);
  }

  /** A command of the shell at a terminal. */
  startCommandInTerminal(words: readonly string[]): RunningCli {
    const command = words.map((word) => `'${word}'`).join(" ");
    // In place of the shell, which would end with a code of its own when somebody types Ctrl-C.
    const line = `echo $$ > "$HOME/pid"; exec ${command}`;
    const args = ["--quiet", "--return", "--flush", "--command", line, "/dev/null"];
    return this.#spawn(terminalProgram, args, { TERM: "xterm", NO_COLOR: "1", SHELL: "/bin/sh" });
  }

  /**
   * Runs a command to its end, in this process: one command after the other. No test may leave a process behind, so
   * each run looks for one; and what a command prints with `--json` is held to its published schema.
   */
  async run(words: readonly string[], options: RunOptions = {}): Promise<CliResult> {
    const { uid, env = {}, input = "" } = options;
    if (uid !== undefined) return await this.runAsProcess(words, options);
    const place = { cwd: this.cwd, env: { ...this.environment, ...env }, input };
    return await this.#checked(words, await runHere(words, place));
  }

  /** The same in a process of its own: where its start, its end, its streams or its time beside others are the subject. */
  async runAsProcess(words: readonly string[], options: RunOptions = {}): Promise<CliResult> {
    return await this.#checked(words, await this.start(words, options).ended);
  }

  async #checked(words: readonly string[], result: CliResult): Promise<CliResult> {
    const own = words.slice(0, words.includes("--") ? words.indexOf("--") : words.length);
    if (own.includes("--json")) {
      const { outputComplaints } = await import("./json-schemas.ts");
      expect(outputComplaints(own, result), JSON.stringify(result)).toEqual([]);
    }
    return result;
  }

  /** Runs a line as somebody types it into a shell. */
  async type(line: string, env: RunOptions["env"] = {}): Promise<CliResult> {
    const cli = this.startLine(line, env);
    cli.endInput();
    return await cli.ended;
  }

  /** Starts a line as somebody types it into a shell; its input stays open. */
  startLine(line: string, env: RunOptions["env"] = {}): RunningCli {
    return this.#spawn("/bin/sh", ["-c", line], env);
  }

  /** The variables that a command sees. */
  get environment(): NodeJS.ProcessEnv {
    return {
      PATH: [ownVariables()["PATH"], this.#bin].join(path.delimiter),
      HOME: this.home,
      USERPROFILE: this.home,
      TMPDIR: temporaryFolder(),
      LANG: "C.UTF-8",
      PLUGBOARD_PROTOCOL_CORE: ownVariables()["PLUGBOARD_PROTOCOL_CORE"],
    };
  }

  /** A file in the current folder. */
  read(file: string): string {
    return readFileSync(path.join(this.cwd, file), "utf8");
  }

  /** Resolves when a file in the current folder holds the text. */
  async holds(file: string, text: string): Promise<void> {
    const watcher = watch(this.cwd);
    const isThere = (): boolean =>
      existsSync(path.join(this.cwd, file)) && this.read(file).includes(text);
    try {
      if (isThere()) return;
      for await (const _change of on(watcher, "change")) if (isThere()) return;
    } finally {
      watcher.close();
    }
  }

  /** To be called before a command starts as a process. */
  lendCode(): void {
    if (this.#isCodeLent) lendCompiledCommands(this.home);
  }

  #spawn(
    command: string,
    args: readonly string[],
    env: Readonly<Record<string, string>> = {},
    uid?: number,
  ): RunningCli {
    this.lendCode();
    const marker = randomUUID();
    const child = spawn(command, args, {
      cwd: this.cwd,
      env: {
        ...this.environment,
        // Whatever it starts carries this, so what it leaves behind can be found.
        [childMarkerVariable]: marker,
        ...env,
      },
      stdio: ["pipe", "pipe", "pipe"],
      ...(uid === undefined ? {} : { uid, gid: uid }),
    });
    // A test that fails half-way must not leave it running.
    onTestFinished(() => void child.kill("SIGKILL"));
    child.stdin.on("error", () => {});
    return new RunningCli(child, marker);
  }

  #configure(folder: string, servers: Readonly<Record<string, unknown>>): this {
    mkdirSync(path.join(folder, ".plugboard"), { recursive: true });
    const file = path.join(folder, ".plugboard", "mcp.json");
    writeFileSync(file, JSON.stringify({ mcpServers: servers }, undefined, 2));
    return this;
  }
}

export class RunningCli {
  readonly ended: Promise<CliResult>;
  readonly #child: ChildProcess;
  readonly #written = { stdout: "", stderr: "" };
  readonly #waiting = new Set<() => void>();

  constructor(child: ChildProcess, marker: string) {
    this.#child = child;
    for (const name of ["stdout", "stderr"] as const)
      child[name]?.setEncoding("utf8").on("data", (text: string) => {
        this.#written[name] += text;
        for (const look of this.#waiting) look();
      });
    this.ended = new Promise((resolve, reject) => {
      child.once("error", reject);
      child.once("close", (code, signal) => {
        const exitCode = signal === null ? code : 128 + constants.signals[signal];
        markedProcesses({ id: marker })
          .then((left) => {
            expect(left, "processes left behind").toEqual([]);
            resolve({ ...this.#written, exitCode });
          })
          .catch(reject);
      });
    });
  }

  get stdout(): string {
    return this.#written.stdout;
  }

  get stderr(): string {
    return this.#written.stderr;
  }

  /** Which parts of its memory Linux writes into a core dump. */
  coreDumpFilter(): string {
    return readFileSync(`/proc/${this.#child.pid}/coredump_filter`, "utf8").trim();
  }

  /** The files that it has open, as Linux names them. */
  openFiles(): readonly string[] {
    const folder = `/proc/${this.#child.pid}/fd`;
    return readdirSync(folder).flatMap((name) => {
      try {
        return [readlinkSync(path.join(folder, name))];
      } catch {
        // Closed by now.
        return [];
      }
    });
  }

  type(text: string): void {
    this.#child.stdin?.write(text);
  }

  endInput(): void {
    this.#child.stdin?.end();
  }

  signal(name: NodeJS.Signals): void {
    this.#child.kill(name);
  }

  /** Stops reading, as `head` does once it has seen enough. */
  closeStdout(): void {
    this.#child.stdout?.destroy();
  }

  closeStderr(): void {
    this.#child.stderr?.destroy();
  }

  /** Resolves when the text has been written; rejects when the command ends without it. */
  async writes(stream: "stdout" | "stderr", text: string | RegExp): Promise<void> {
    const isIn = (written: string): boolean =>
      typeof text === "string" ? written.includes(text) : text.test(written);
    const seen = new Promise<void>((resolve) => {
      const look = (): void => {
        if (!isIn(this.#written[stream])) return;
        this.#waiting.delete(look);
        resolve();
      };
      this.#waiting.add(look);
      look();
    });
    await Promise.race([
      seen,
      this.ended.then((result) => {
        if (!isIn(result[stream]))
          throw new Error(
            `ended without "${String(text)}" on ${stream}: ${JSON.stringify(result)}`,
          );
      }),
    ]);
  }
}
