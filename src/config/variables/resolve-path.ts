import path from "node:path";

import { beginsWithFolder } from "./variable-reference.ts";

/**
 * Resolves a relative path against a folder. Absolute paths of any platform stay as written: a drive letter
 * may be meant for a Windows program under WSL. A path that begins with `${workspaceFolder}` or
 * `${userHome}` stays, too: it becomes absolute when the server starts.
 */
export function resolvePath(
  given: string | undefined,
  base: string | undefined,
): string | undefined {
  if (given === undefined || base === undefined || !path.isAbsolute(base)) return given;
  return isAbsoluteAnywhere(given) || beginsWithFolder(given) ? given : path.resolve(base, given);
}

function isAbsoluteAnywhere(given: string): boolean {
  return path.posix.isAbsolute(given) || path.win32.isAbsolute(given) || /^[A-Za-z]:/.test(given);
}
