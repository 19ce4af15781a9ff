import { type ChildProcess, spawn } from "node:child_process";
import path from "node:path";

import { isBuilt } from "../../scripts/build-dist.mjs";
import type { Lab } from "./lab.ts";

const root = path.resolve(import.meta.dirname, "../..");

export interface ProgramOptions {
  readonly stderr: "inherit" | "ignore";
  readonly env?: Readonly<Record<string, string>>;
}

/**
 * Starts a program on the library, which it imports from its first argument: the built package where there is one for
 * sure, else its sources with a loader.
 */
export function startProgram(
  { form }: Lab,
  program: string,
  args: readonly string[],
  { stderr, env }: ProgramOptions,
): ChildProcess {
  const [loader, module] =
    form === "short" && !isBuilt() ? [["--import", "tsx"], "src/index.ts"] : [[], "dist/index.js"];
  return spawn(process.execPath, [...loader, program, path.join(root, module), ...args], {
    cwd: root,
    env: { ...process.env, ...env },
    stdio: ["ignore", "pipe", stderr],
  });
}
