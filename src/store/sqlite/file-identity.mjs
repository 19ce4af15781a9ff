// @ts-check
// Plain JavaScript, because a thread of Node 20 cannot load TypeScript and this runs in one.
import { statSync } from "node:fs";

/**
 * Which file has this name now; undefined when none has. As long as somebody has a file open, no other
 * one gets the same identity.
 * @param {string} file
 * @returns {string | undefined}
 */
export function fileIdentity(file) {
  const stats = statSync(file, { bigint: true, throwIfNoEntry: false });
  return stats && `${stats.dev} ${stats.ino}`;
}
