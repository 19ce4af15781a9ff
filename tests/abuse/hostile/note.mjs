// @ts-check
import { appendFileSync, existsSync, readFileSync } from "node:fs";

/**
 * Writes a line into the diary of a mode, a file that outlives its processes; nothing without one.
 *
 * @param {string | undefined} diary
 * @param {string} text
 */
export function note(diary, text) {
  if (diary !== undefined) appendFileSync(diary, `${Date.now()} ${text}\n`);
}

/** How many lines a diary has. @param {string} diary */
export function countNotes(diary) {
  return existsSync(diary) ? readFileSync(diary, "utf8").split("\n").length - 1 : 0;
}
