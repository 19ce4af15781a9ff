import path from "node:path";

/** Absolute paths of any platform stay as written: a drive letter may be meant for a Windows program under WSL. */
export function resolvePath(
  given: string | undefined,
  base: string | undefined,
): string | undefined {
  if (given === undefined || base === undefined || !path.isAbsolute(base)) return given;
  return isAbsoluteAnywhere(given) ? given : path.resolve(base, given);
}

/** The same for the folder of a process, which may be told by where somebody works when it starts. */
export function resolveCwd(
  given: string | undefined,
  base: string | undefined,
): string | undefined {
  return given !== undefined && isInWorkspace(given) ? given : resolvePath(given, base);
}

export const workspaceVariable = "${workspaceFolder}";

/** Whether a `cwd` begins with the folder somebody works in, which is known when the server starts and not before. */
export function isInWorkspace(cwd: string): boolean {
  return cwd === workspaceVariable || /^\$\{workspaceFolder\}[\\/]/.test(cwd);
}

function isAbsoluteAnywhere(given: string): boolean {
  return path.posix.isAbsolute(given) || path.win32.isAbsolute(given) || /^[A-Za-z]:/.test(given);
}
