import { accessSync, constants, existsSync, realpathSync, statSync } from "node:fs";
import path from "node:path";

export interface CommandPlace {
  /** The folder the process would start in; absolute. */
  readonly cwd: string;
  /** The environment the process would have. */
  readonly env: Readonly<Record<string, string>>;
  readonly platform: NodeJS.Platform;
}

/**
 * The file that a command stands for, every link on the way followed; undefined where there is none. It
 * looks where the system would look when it starts the command, and starts nothing. Synchronous, as the
 * search of the system itself is when a process is started.
 */
export function findCommand(command: string, place: CommandPlace): string | undefined {
  const found = commandCandidates(command, place).find((file) => isProgram(file));
  try {
    return found === undefined ? undefined : realpathSync.native(found);
  } catch {
    return undefined;
  }
}

/** The files that `command` may stand for, in the order of the system. */
export function commandCandidates(command: string, place: CommandPlace): readonly string[] {
  const { cwd, env, platform } = place;
  const isWindows = platform === "win32";
  const paths = isWindows ? path.win32 : path.posix;
  const isPath = command.includes("/") || (isWindows && command.includes("\\"));
  // An empty folder in the list is the current one, and relative ones begin there.
  const files = (isPath ? [""] : searchedFolders(env, isWindows)).map((folder) =>
    // Nearly every folder: to resolve each of a long PATH for each server is what a start would wait for.
    !isWindows && folder.startsWith("/")
      ? `${folder}/${command}`
      : paths.resolve(cwd, folder, command),
  );
  return isWindows ? files.flatMap((file) => withExtensions(file, env)) : files;
}

function searchedFolders(env: CommandPlace["env"], isWindows: boolean): readonly string[] {
  const listed = variable(env, "PATH", isWindows);
  // Windows begins with the current folder; without PATH the C library has a list of its own.
  if (isWindows) return ["", ...(listed?.split(path.win32.delimiter) ?? [])];
  return listed?.split(path.posix.delimiter) ?? ["/bin", "/usr/bin"];
}

/** Windows finds `npx` as `npx.cmd`; a name that has one of the extensions is taken as it stands first. */
function withExtensions(file: string, env: CommandPlace["env"]): readonly string[] {
  const listed = variable(env, "PATHEXT", true) ?? ".COM;.EXE;.BAT;.CMD";
  const extensions = listed.split(";").filter((extension) => extension !== "");
  const isComplete = extensions.some((extension) =>
    file.toLowerCase().endsWith(extension.toLowerCase()),
  );
  const completed = extensions.map((extension) => `${file}${extension.toLowerCase()}`);
  return isComplete ? [file, ...completed] : completed;
}

function variable(env: CommandPlace["env"], name: string, isWindows: boolean): string | undefined {
  if (!isWindows) return env[name];
  const key = Object.keys(env).find((candidate) => candidate.toUpperCase() === name);
  return key === undefined ? undefined : env[key];
}

/** A folder, and a file that may not be run, are passed over in the search. */
function isProgram(file: string): boolean {
  try {
    // Most folders of a PATH do not have it, and this is the quickest way to see that.
    if (!existsSync(file) || !statSync(file).isFile()) return false;
    accessSync(file, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}
