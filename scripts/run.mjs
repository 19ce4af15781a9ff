// @ts-check
import { spawn } from "node:child_process";
import { readFileSync } from "node:fs";
import { constants } from "node:os";
import path from "node:path";
import { fileURLToPath } from "node:url";

export const root = path.resolve(path.dirname(fileURLToPath(import.meta.url)), "..");

/** A failure that one sentence explains; the scripts print it without a stack. */
export class ScriptError extends Error {}

/** @type {Set<import("node:child_process").ChildProcess>} */
const children = new Set();
const signals = /** @type {const} */ (["SIGINT", "SIGTERM", "SIGHUP"]);

// A terminal signals the whole group, anything else only us: our children must hear of it too.
/** @param {NodeJS.Signals} signal */
function stop(signal) {
  for (const child of children) child.kill(signal);
  process.exit(128 + constants.signals[signal]);
}

/** @param {import("node:child_process").ChildProcess} child */
function adopt(child) {
  if (children.size === 0) for (const signal of signals) process.on(signal, stop);
  children.add(child);
}

// Without children the handlers go: `npm start` leaves signals to the command it becomes.
/** @param {import("node:child_process").ChildProcess} child */
function release(child) {
  children.delete(child);
  if (children.size === 0) for (const signal of signals) process.off(signal, stop);
}

/**
 * Runs a program without a shell and resolves to its exit code, also when it is not zero.
 *
 * @param {string} command
 * @param {readonly string[]} args
 * @param {{ cwd?: string, env?: NodeJS.ProcessEnv, capture?: boolean, shell?: boolean }} [options]
 *   `capture` keeps stdout and stderr (interleaved) instead of showing them.
 * @returns {Promise<{ code: number, output: string }>}
 */
export function run(command, args, options = {}) {
  const { cwd = root, env = process.env, capture = false, shell = false } = options;
  return new Promise((resolve, reject) => {
    const child = spawn(command, args, {
      cwd,
      env,
      shell,
      stdio: capture ? ["ignore", "pipe", "pipe"] : "inherit",
    });
    /** @type {Buffer[]} */
    const chunks = [];
    child.stdout?.on("data", (chunk) => chunks.push(chunk));
    child.stderr?.on("data", (chunk) => chunks.push(chunk));
    adopt(child);
    child.once("error", (error) => {
      release(child);
      reject(error);
    });
    child.once("close", (code, signal) => {
      release(child);
      const exitCode = code ?? 128 + (signal === null ? 0 : constants.signals[signal]);
      resolve({ code: exitCode, output: Buffer.concat(chunks).toString("utf8") });
    });
  });
}

/**
 * Runs a command of an installed package with our own node: neither a shell nor a `.cmd` shim is
 * needed, and nothing is looked up on the PATH.
 *
 * @param {string} command
 * @param {readonly string[]} args
 * @param {{ package?: string, env?: NodeJS.ProcessEnv, capture?: boolean }} [options]
 *   `package` when it is not called like its command
 */
export function runTool(command, args, { package: packageName = command, ...options } = {}) {
  const folder = path.join(root, "node_modules", packageName);
  const { bin } = JSON.parse(readFileSync(path.join(folder, "package.json"), "utf8"));
  return run(process.execPath, [path.join(folder, bin[command]), ...args], options);
}

/** @param {string} line */
export function note(line) {
  process.stderr.write(`${line}\n`);
}

/** @param {number} since a value of `performance.now()` */
export function elapsed(since) {
  return `${((performance.now() - since) / 1000).toFixed(1)} s`;
}

/**
 * Runs a script's body; a `ScriptError` becomes its sentence and exit code 1.
 *
 * @param {() => Promise<number | void>} body resolves to the exit code, or to nothing for success
 */
export async function main(body) {
  try {
    process.exitCode = (await body()) ?? 0;
  } catch (error) {
    if (!(error instanceof ScriptError)) throw error;
    note(error.message);
    process.exitCode = 1;
  }
}
