// @ts-check
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";

import { main, note, root, runTool, ScriptError } from "./run.mjs";

/** @typedef {{ passed: number, failed: number, skipped: number }} Counts */

/**
 * Runs the tests of one vitest configuration; what people read goes to the terminal as ever.
 *
 * @param {readonly string[]} args
 * @param {{ env?: NodeJS.ProcessEnv, capture?: boolean }} [options] `env` is added to our own;
 *   `capture` keeps the run's output to itself
 * @returns {Promise<Counts>}
 */
export async function runVitest(args, { env = {}, capture = false } = {}) {
  const scratch = mkdtempSync(path.join(tmpdir(), "plugboard-counts-"));
  const countsFile = path.join(scratch, "counts.json");
  const reporter = path.join(root, "scripts", "count-reporter.mjs");
  try {
    const { code } = await runTool(
      "vitest",
      ["run", "--reporter=default", `--reporter=${reporter}`, ...args],
      { env: { ...process.env, ...env, TEST_COUNTS_FILE: countsFile }, capture },
    );
    const counts = readCounts(countsFile);
    // A run that ends badly without a failed test (no test found, bad option) is a failure still.
    return code !== 0 && counts.failed === 0 ? { ...counts, failed: 1 } : counts;
  } finally {
    rmSync(scratch, { recursive: true, force: true });
  }
}

/** @param {string} file @returns {Counts} */
function readCounts(file) {
  try {
    return JSON.parse(readFileSync(file, "utf8"));
  } catch {
    // vitest did not get as far as its reporters.
    return { passed: 0, failed: 1, skipped: 0 };
  }
}

/**
 * The body of a test script: whatever happens, the last line is `N passed, N failed`, the one that
 * machines read, and the exit code goes with it.
 *
 * @param {() => Promise<Counts>} body
 */
export async function testMain(body) {
  await main(async () => {
    const { passed, failed, skipped } = await body().catch((error) => {
      note(error instanceof ScriptError ? error.message : String(error?.stack ?? error));
      return { passed: 0, failed: 1, skipped: 0 };
    });
    console.log(`${passed} passed, ${failed} failed${skipped > 0 ? `, ${skipped} skipped` : ""}`);
    return failed === 0 ? 0 : 1;
  });
}
