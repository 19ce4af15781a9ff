import { type ChildProcess, spawn, spawnSync } from "node:child_process";
import { randomInt } from "node:crypto";
import { createInterface } from "node:readline";

import { expect, vi } from "vitest";

import { ProcessFamily } from "./process-family.ts";

/**
 * Gives a program a process namespace of its own. A host that starts elsewhere on this machine ends what a dead one
 * left there, which would hide that the dead one's watchdog did not; processes of other namespaces it leaves alone.
 */
const shields: readonly (readonly string[])[] = [
  ["unshare", "--pid", "--fork", "--kill-child", "--mount-proc"],
  ["unshare", "--user", "--map-root-user", "--pid", "--fork", "--kill-child", "--mount-proc"],
];
/** Where none of them is permitted, programs run without. */
const shield =
  shields.find(([command = "", ...args]) => spawnSync(command, [...args, "true"]).status === 0) ??
  [];

/** Gives a program the limit, says when it has ended, and stays: with the first process of a namespace all others end. */
const script = '(ulimit -m "$0" && exec "$@"); echo "ended with $?"; exec sleep 300';

export interface ProgramOptions {
  readonly home: string;
  /** The line that it writes when all its servers run. */
  readonly readiness: RegExp;
}

/** A program of Node's with everything that it starts. */
export class RunningProgram implements Disposable {
  readonly #shell: ChildProcess;
  readonly #family: ProcessFamily;
  readonly #readiness: RegExp;
  readonly #lines: string[] = [];
  #stderr = "";

  constructor(words: readonly string[], { home, readiness }: ProgramOptions) {
    this.#readiness = readiness;
    const kibibytes = randomInt(2 ** 40, 2 ** 41);
    this.#family = new ProcessFamily(kibibytes * 1_024);
    const shell = [...shield, "/bin/sh", "-c", script, String(kibibytes)];
    const [command = "", ...args] = [...shell, process.execPath, ...words];
    const env = { ...process.env, HOME: home };
    const child = spawn(command, args, { cwd: home, env, stdio: ["pipe", "pipe", "pipe"] });
    createInterface({ input: child.stdout }).on("line", (line) => this.#lines.push(line));
    child.stderr.setEncoding("utf8").on("data", (text: string) => (this.#stderr += text));
    this.#shell = child;
  }

  /** Resolves when all its servers run; fails when it ended before. */
  async ready(): Promise<void> {
    await this.#wrote(this.#readiness, /^ended/);
    expect(this.#lines, this.#stderr).toContainEqual(expect.stringMatching(this.#readiness));
  }

  /** The command lines of all its processes, its own first. */
  commands(): readonly string[] {
    return this.#family.living().map(({ command }) => command);
  }

  /** Ends its input, or sends it a signal, and waits for its end. */
  async end(signal?: NodeJS.Signals): Promise<void> {
    const [program] = this.#family.living();
    if (signal === undefined) this.#shell.stdin?.end();
    else process.kill(program!.pid, signal);
    await this.#wrote(/^ended/);
  }

  [Symbol.dispose](): void {
    for (const { pid } of this.#family.living()) killIfThere(pid);
    this.#shell.kill("SIGKILL");
  }

  async #wrote(...lines: readonly RegExp[]): Promise<void> {
    const isThere = (): boolean =>
      this.#lines.some((text) => lines.some((line) => line.test(text)));
    await vi.waitUntil(isThere, { timeout: 90_000, interval: 20 });
  }
}

function killIfThere(pid: number): void {
  try {
    process.kill(pid, "SIGKILL");
  } catch {
    // It ended between being found and being killed.
  }
}
