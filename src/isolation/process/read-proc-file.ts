import { closeSync, openSync, readSync } from "node:fs";

/** Holds what these files usually have, the environment of nearly every process included. */
const usualBytes = 64 * 1_024;
/** Linux refuses to start a program with a larger environment than this by default. */
const maxBytes = 2 * 1_024 * 1_024;

let buffer: Buffer | undefined;

/**
 * The bytes of a small file in the `/proc` folder of a process, valid until the next call; undefined when
 * the process is gone, when the file is not ours to read, and where there is no `/proc`. A search for
 * processes reads two files of every process on the machine, and `readFileSync` takes twice as long for each.
 */
export function readProcFile(pid: number, name: "stat" | "environ" | "limits"): Buffer | undefined {
  let file: number | undefined;
  try {
    file = openSync(`/proc/${pid}/${name}`, "r");
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
