import path from "node:path";

import { beginsWithFolder } from "./variable-reference.ts";

/**
 * Absolute paths of any platform stay as written: a drive letter may be meant for a Windows program under
 * WSL. So does one that begins with `${workspaceFolder}` or `${userHome}`: it is absolute once it is known.
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
