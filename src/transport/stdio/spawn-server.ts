import { type ChildProcessWithoutNullStreams, spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, statSync } from "node:fs";
import path from "node:path";

import type { ErrorCode } from "../../errors/error-codes.ts";
import { createError } from "../../errors/families.ts";
import { McpError } from "../../errors/mcp-error.ts";
import { type CheckedLaunch, isStillThere } from "../../isolation/process/checked-launch.ts";
import { createChildMarker } from "../../isolation/process/child-mark.ts";
import { findCommand } from "../../isolation/process/find-command.ts";
import { prepareToStart, ProcessTree } from "../../isolation/process/process-tree.ts";
import { truncate } from "../../text/truncate.ts";
import { StartTurns } from "./start-turns.ts";

export interface ServerCommand {
  readonly serverName: string;
  readonly command: string;
  readonly args: readonly string[];
  readonly cwd?: string | undefined;
  /** The child's environment, all of it but the marker. */
  readonly env: Readonly<Record<string, string>>;
  /** What was checked and may be started; whatever the command stands for without it. */
  readonly checked?: CheckedLaunch | undefined;
}

export interface SpawnedServer {
  readonly child: ChildProcessWithoutNullStreams;
  readonly tree: ProcessTree;
}

const isWindows = process.platform === "win32";
/** One for all hosts of this thread: they share the loop. */
const turns = new StartTurns();

/**
 * Starts the process, never through a shell and in a process group of its own. Rejects with the
 * reason in words a person can act on; nothing runs then, and nothing is tried a second time.
 *
 * The file is found here, every link followed, and that file is started: a link that is turned meanwhile has
 * no say. The program sees the command as it is written in its argv[0], since virtual environments and programs
 * of many names go by it; the system gives a script its own path instead.
 */
export async function spawnServer(server: ServerCommand): Promise<SpawnedServer> {
  let file: string | undefined;
  try {
    // Windows starts `.cmd` shims such as npx only through an interpreter; cross-spawn quotes for it.
    const start = isWindows ? (await import("cross-spawn")).default.spawn : spawn;
    // Nothing is awaited from the look at the files to the start.
    const { child, tree, spawned } = await turns.run(() => {
      const marker = createChildMarker();
      prepareToStart();
      const found = resolveLaunch(server);
      file = isWindows ? undefined : found.file;
      const child = start(file ?? server.command, [...server.args], {
        ...(file === undefined ? {} : { argv0: server.command }),
        // Node adds this one by itself unless its place is taken, be it by nothing.
        env: { NODE_V8_COVERAGE: undefined, ...server.env, ...marker.variables },
        cwd: found.folder,
        stdio: ["pipe", "pipe", "pipe"],
        detached: !isWindows,
        shell: false,
        windowsHide: true,
      });
      // Before anything is awaited: if the host ends now, this process must end as well.
      const tree = child.pid === undefined ? undefined : new ProcessTree(child.pid, marker);
      return { child, tree, spawned: once(child, "spawn") };
    });
    await spawned;
    return { child, tree: tree! };
  } catch (cause) {
    throw McpError.is(cause) ? cause : launchError(server, cause as NodeJS.ErrnoException, file);
  }
}

/** The file and folder to start with. Throws when they are not the ones that were checked. */
function resolveLaunch({ serverName, command, cwd, env, checked }: ServerCommand): {
  readonly file: string | undefined;
  readonly folder: string | undefined;
} {
  const folder = checked === undefined || checked.folder === "none" ? cwd : checked.folder.path;
  const place = { cwd: folder ?? process.cwd(), env, platform: process.platform };
  const searched = JSON.stringify([command, place.cwd, env["PATH"]]);
  // Windows goes by more variables than one.
  const file = isWindows
    ? findCommand(command, place)
    : turns.commandFile(searched, () => findCommand(command, place));
  if (checked !== undefined && !isAsChecked(checked, file))
    throw createError(
      "not_approved",
      `what "${serverName}" would start was exchanged after it had been checked`,
      { serverName, hint: "start it again: it is checked anew" },
    );
  return { file, folder };
}

function isAsChecked({ file, folder }: CheckedLaunch, found: string | undefined): boolean {
  if (folder !== "none" && !isStillThere(folder)) return false;
  if (file === "unknown") return true;
  if (file === "none") return found === undefined;
  return file.path === found && isStillThere(file);
}

interface LaunchProblem {
  readonly code: ErrorCode;
  readonly message: string;
  readonly hint: string;
  readonly details?: Readonly<Record<string, unknown>>;
}

/** Why the process did not start. The system's own error stays out: it repeats the arguments. */
export function launchError(
  server: ServerCommand,
  cause: NodeJS.ErrnoException,
  file?: string,
): McpError {
  const { code, message, hint, details } =
    cwdProblem(server) ?? commandProblem(server, cause, file);
  const command = shorten(server.command);
  return createError(code, message, {
    serverName: server.serverName,
    hint,
    details: { transport: "stdio", command, errno: cause.code, ...details },
  });
}

function shorten(text: string): string {
  return truncate(text, 500);
}

/** The system reports a missing folder as if the command were missing. */
function cwdProblem({ cwd }: ServerCommand): LaunchProblem | undefined {
  if (cwd === undefined || statSync(cwd, { throwIfNoEntry: false })?.isDirectory() === true) return;
  const what = existsSync(cwd) ? "is not a folder" : "does not exist";
  return {
    code: "config_invalid",
    message: `the working folder ${JSON.stringify(shorten(cwd))} ${what}`,
    hint: "create the folder, or correct `cwd`",
    details: { cwd: shorten(cwd) },
  };
}

function commandProblem(
  server: ServerCommand,
  cause: NodeJS.ErrnoException,
  file: string | undefined,
): LaunchProblem {
  const { command, cwd = process.cwd() } = server;
  const quoted = JSON.stringify(shorten(command));
  switch (cause.code ?? "") {
    case "ENOENT":
      if (file !== undefined || (command.includes("/") && existsSync(path.resolve(cwd, command))))
        return {
          code: "command_not_found",
          message: `the interpreter that ${quoted} names in its first line was not found`,
          hint: "install the interpreter, or correct the first line of the file",
        };
      return {
        code: "command_not_found",
        message: `command not found: ${quoted}`,
        hint: "install it, correct `command`, or give its full path",
        details: { pathFolders: pathFolders(server.env) },
      };
    case "EACCES":
      return {
        code: "command_not_found",
        message: `command is not executable: ${quoted}`,
        hint: `make it executable (chmod +x), or correct \`command\``,
      };
    case "ENOEXEC":
      return {
        code: "command_not_found",
        message: `command is not a program: ${quoted}`,
        hint: "name the interpreter as `command` and the file as its first argument",
      };
    case "E2BIG":
      return {
        code: "config_invalid",
        message: "the arguments and environment of the command are too long for the system",
        hint: "pass large values in a file instead of `args` or `env`",
      };
    case "ERR_INVALID_ARG_VALUE":
      return {
        code: "config_invalid",
        message: "command, arguments and environment must not contain a NUL character",
        hint: "correct `command`, `args` or `env`",
      };
    default:
      return {
        code: "unreachable",
        message: `the system could not start ${quoted} (${cause.code ?? "unknown reason"})`,
        hint: "too many processes or open files, or too little memory: try again later",
      };
  }
}

function pathFolders(env: Readonly<Record<string, string>>): number {
  const name = Object.keys(env).find((key) => key.toUpperCase() === "PATH");
  const value = name === undefined ? "" : (env[name] ?? "");
  return value.split(path.delimiter).filter((folder) => folder !== "").length;
}
