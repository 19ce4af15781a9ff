import { closeSync, openSync, readFileSync, readSync } from "node:fs";

/** Holds the environment of nearly every process. */
const usualBytes = 64 * 1_024;
/** Linux refuses to start a program with a larger environment than this by default. */
const maxBytes = 2 * 1_024 * 1_024;

let buffer: Buffer | undefined;

/**
 * The text of a file in the `/proc` folder of a process; undefined when the process is gone, when the file is not
 * ours to read, and where there is no `/proc`. Node reads a file of UTF-8 in one step, in half the time of three.
 */
export function readProcText(pid: number, name: "stat" | "limits" | "cmdline"): string | undefined {
  try {
    return readFileSync(`/proc/${pid}/${name}`, "utf8");
  } catch {
    return undefined;
  }
}

/**
 * The environment that a process was started with, valid until the next call; undefined as above. In bytes, because
 * it may be of any encoding: `readFileSync` takes twice as long for them, and a search for processes reads the
 * environment of every process on the machine.
 */
export function readProcEnvironment(pid: number): Buffer | undefined {
  let file: number | undefined;
  try {
    file = openSync(`/proc/${pid}/environ`, "r");
    buffer ??= Buffer.allocUnsafeSlow(usualBytes);
    const bytes = readSync(file, buffer, 0, usualBytes, 0);
    if (bytes < usualBytes) return buffer.subarray(0, bytes);
    const large = Buffer.allocUnsafeSlow(maxBytes);
    return large.subarray(0, readSync(file, large, 0, maxBytes, 0));
  } catch {
    return undefined;
  } finally {
    if (file !== undefined) closeSync(file);
  }
}
