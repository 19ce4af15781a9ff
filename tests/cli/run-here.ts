import { randomUUID } from "node:crypto";
import { createRequire } from "node:module";
import path from "node:path";
import { PassThrough } from "node:stream";

import { expect, onTestFinished } from "vitest";

import type * as commandLine from "../../src/cli/main.ts";
import { type OutputStream, Terminal } from "../../src/cli/terminal/terminal.ts";
import { childMarkerVariable } from "../../src/isolation/process/child-mark.ts";
import { markedProcesses } from "../../src/isolation/process/marked-processes.ts";

const program = path.resolve(import.meta.dirname, "../../dist/cli/main.cjs");

export interface CommandPlace {
  readonly cwd: string;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly input: string;
}

export interface CommandResult {
  readonly stdout: string;
  readonly stderr: string;
  readonly exitCode: number;
}

/** The variables of the test, while a command that runs here has others. */
let variablesOutside: NodeJS.ProcessEnv | undefined;

/** The variables that the test itself has, also while a command runs in its process. */
export function ownVariables(): NodeJS.ProcessEnv {
  return variablesOutside ?? process.env;
}

/** The command that runs at the moment: folder, variables and input of a process are there only once. */
let turn: Promise<unknown> = Promise.resolve();

/**
 * Runs the built command line in this process, as if it had one of its own with this folder, these variables and this
 * input, all in pipes. That spares the start of Node, which takes longer than nearly every command. Commands wait for
 * each other. No process may be left that was started for it.
 */
export async function runHere(
  words: readonly string[],
  place: CommandPlace,
): Promise<CommandResult> {
  const stop = new AbortController();
  // A test that fails half-way must not hold up the next one.
  onTestFinished(() => stop.abort());
  const result = turn.then(() => runAlone(words, place, stop.signal));
  turn = result.catch(() => undefined);
  return await result;
}

async function runAlone(
  words: readonly string[],
  { cwd, env, input }: CommandPlace,
  signal: AbortSignal,
): Promise<CommandResult> {
  const { runCommand } = createRequire(import.meta.url)(program) as typeof commandLine;
  const marker = randomUUID();
  const leave = enter({ cwd, env: { ...env, [childMarkerVariable]: marker }, input });
  try {
    const stdout = new Sink();
    const stderr = new Sink();
    const terminal = new Terminal({
      stdout,
      stderr,
      env: process.env,
      platform: process.platform,
      color: !words.includes("--no-color"),
    });
    const interruption = { signal, received: undefined, exitCode: undefined };
    const exitCode = await runCommand(words, { terminal, interruption });
    expect(await markedProcesses({ id: marker }), "processes left behind").toEqual([]);
    return { stdout: stdout.text, stderr: stderr.text, exitCode };
  } finally {
    leave();
  }
}

/** Gives this process the place of a command; what is returned takes it back. */
function enter({ cwd, env, input }: CommandPlace): () => void {
  const outside = { cwd: process.cwd(), env: { ...process.env } };
  // Not read: to look at the input of this process opens it.
  const stdin = Object.getOwnPropertyDescriptor(process, "stdin");
  variablesOutside = outside.env;
  process.chdir(cwd);
  replaceVariables(env);
  const value = new PassThrough();
  value.end(input);
  Object.defineProperty(process, "stdin", { configurable: true, value });
  return () => {
    process.chdir(outside.cwd);
    replaceVariables(outside.env);
    variablesOutside = undefined;
    if (stdin !== undefined) Object.defineProperty(process, "stdin", stdin);
  };
}

function replaceVariables(env: CommandPlace["env"]): void {
  for (const name of Object.keys(process.env)) if (!(name in env)) delete process.env[name];
  for (const [name, value] of Object.entries(env))
    if (value === undefined) delete process.env[name];
    else process.env[name] = value;
}

/** A pipe that takes everything at once. */
class Sink implements OutputStream {
  readonly #parts: Buffer[] = [];

  get text(): string {
    return Buffer.concat(this.#parts).toString();
  }

  on(): void {}

  write(content: string | Uint8Array, done?: () => void): void {
    this.#parts.push(Buffer.from(content as Uint8Array));
    done?.();
  }
}
