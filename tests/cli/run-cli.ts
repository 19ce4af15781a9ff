import { type ChildProcess, spawn } from "node:child_process";
import { randomUUID } from "node:crypto";
import { mkdirSync, mkdtempSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";

import { expect } from "vitest";

import { childMarkerVariable, markedProcesses } from "../../src/isolation/marked-processes.ts";

const program = path.resolve(import.meta.dirname, "../../bin/plugboard.js");

export interface CliResult {
  readonly stdout: string;
  readonly stderr: string;
  /** As a shell reports it. */
  readonly exitCode: number | null;
}

export interface RunOptions {
  readonly env?: Readonly<Record<string, string>>;
  readonly input?: string;
}

/** A folder to stand in and a home of its own, both empty: where someone types the first command. */
export class CliSandbox {
  readonly cwd: string;
  readonly home: string;

  constructor() {
    const root = mkdtempSync(path.join(tmpdir(), "cli-"));
    this.cwd = path.join(root, "project");
    this.home = path.join(root, "home");
    for (const folder of [this.cwd, this.home]) mkdirSync(folder);
  }

  /** Writes the entries into the user's file: approved by their origin. */
  configureUser(servers: Readonly<Record<string, unknown>>): this {
    return this.#configure(this.home, servers);
  }

  /** Writes the entries into the project's file: they have to be approved. */
  configureProject(servers: Readonly<Record<string, unknown>>): this {
    return this.#configure(this.cwd, servers);
  }

  /** Starts the built command line; ends with it and with everything it started. */
  start(words: readonly string[], options: RunOptions = {}): RunningCli {
    const marker = randomUUID();
    const child = spawn(process.execPath, [program, ...words], {
      cwd: this.cwd,
      env: {
        PATH: process.env["PATH"],
        HOME: this.home,
        USERPROFILE: this.home,
        TMPDIR: tmpdir(),
        LANG: "C.UTF-8",
        // Whatever it starts carries this, so what it leaves behind can be found.
        [childMarkerVariable]: marker,
        ...options.env,
      },
      stdio: ["pipe", "pipe", "pipe"],
    });
    child.stdin.on("error", () => {});
    child.stdin.end(options.input ?? "");
    return new RunningCli(child, marker);
  }

  /** Runs a command to its end. No test may leave a process behind, so each run looks for one. */
  async run(words: readonly string[], options: RunOptions = {}): Promise<CliResult> {
    return await this.start(words, options).ended;
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
      child.once("close", (exitCode) => {
        markedProcesses(marker)
          .then((left) => {
            expect(left, "processes left behind").toEqual([]);
            resolve({ ...this.#written, exitCode });
          })
          .catch(reject);
      });
    });
  }

  signal(name: NodeJS.Signals): void {
    this.#child.kill(name);
  }

  /** Stops reading, as `head` does once it has seen enough. */
  closeStdout(): void {
    this.#child.stdout?.destroy();
  }

  /** Resolves when the text has been written; rejects when the command ends without it. */
  async writes(stream: "stdout" | "stderr", text: string): Promise<void> {
    const seen = new Promise<void>((resolve) => {
      const look = (): void => {
        if (!this.#written[stream].includes(text)) return;
        this.#waiting.delete(look);
        resolve();
      };
      this.#waiting.add(look);
      look();
    });
    await Promise.race([
      seen,
      this.ended.then((result) => {
        if (!result[stream].includes(text))
          throw new Error(`ended without "${text}" on ${stream}: ${JSON.stringify(result)}`);
      }),
    ]);
  }
}

/** Times, ports and ids that differ from run to run. */
export function normalize(text: string): string {
  return text
    .replaceAll(/\d+(?:\.\d+)? (?:ms|s)\b/g, "<time>")
    .replaceAll(/127\.0\.0\.1:\d+/g, "127.0.0.1:<port>")
    .replaceAll(/[ \t]+(?=<time>)/g, " ");
}
