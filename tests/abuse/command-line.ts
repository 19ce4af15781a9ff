import { spawn } from "node:child_process";
import path from "node:path";

import type { Project } from "./project.ts";

const program = path.resolve(import.meta.dirname, "../../bin/plugboard.js");

export interface CommandEnd {
  readonly stdout: string;
  readonly stderr: string;
  readonly exitCode: number | null;
}

export interface CommandOptions {
  /** At a terminal, whose screen is `stdout`. */
  readonly isAtTerminal?: boolean;
  readonly input?: string;
  readonly env?: Readonly<Record<string, string>>;
}

/** Runs the built command line where the project is, with its home and nothing else of this environment. */
export function runCommand(
  project: Project,
  words: readonly string[],
  { isAtTerminal = false, input = "", env: more = {} }: CommandOptions = {},
): Promise<CommandEnd> {
  const own = [process.execPath, program, ...words];
  const typed = own.map((word) => `'${word.replaceAll("'", String.raw`'\''`)}'`).join(" ");
  const [command = "", ...args] = isAtTerminal
    ? ["script", "--quiet", "--return", "--flush", "--command", typed, "/dev/null"]
    : own;
  const { cwd, home } = project;
  const env = {
    PATH: process.env["PATH"],
    HOME: home,
    USERPROFILE: home,
    LANG: "C.UTF-8",
    TERM: "dumb",
    NO_COLOR: "1",
    SHELL: "/bin/sh",
    ...more,
  };
  const child = spawn(command, args, { cwd, env, stdio: ["pipe", "pipe", "pipe"] });
  const written = { stdout: "", stderr: "" };
  for (const name of ["stdout", "stderr"] as const)
    child[name].setEncoding("utf8").on("data", (text: string) => void (written[name] += text));
  child.stdin.on("error", () => {});
  child.stdin.end(input);
  return new Promise((resolve, reject) => {
    child.once("error", reject);
    child.once("close", (exitCode) => resolve({ ...written, exitCode }));
  });
}
