import { spawn } from "node:child_process";

import { findCommand } from "./find-command.ts";

/** How an editor ended. */
export interface EditorEnd {
  /** Null when a signal ended it. */
  readonly exitCode: number | null;
  readonly signal: NodeJS.Signals | null;
}

export interface RunEditorOptions {
  /** The command of `$VISUAL` or `$EDITOR`, which a shell reads as every program does that follows these. */
  readonly editor: string;
  readonly file: string;
  /** Ends the editor, and kills one that does not end. */
  readonly signal: AbortSignal;
  /** Whether the editor may write to stdout: where that is data for a program, it gets stderr. */
  readonly ownsStdout: boolean;
}

const killAfterMs = 1_000;
/** The letters of such a command: it takes the place of the shell. */
const simpleCommand = /^[\w@%+:,./~-][\w@%+=:,./~ -]*$/;

/**
 * Whether the command of `$VISUAL` or `$EDITOR` names a program that is not there: a shell would say that in words of
 * its own. False where only a shell can tell.
 */
export function isMissingEditor(editor: string): boolean {
  const [command = ""] = editor.split(" ");
  if (!isSimple(editor) || command.startsWith("~")) return false;
  const env = Object.fromEntries(
    Object.entries(process.env).flatMap(([name, value]) =>
      value === undefined ? [] : [[name, value] as const],
    ),
  );
  const place = { cwd: process.cwd(), env, platform: process.platform };
  return findCommand(command, place) === undefined;
}

/** Without anything that a shell would have to do before or after it. */
function isSimple(editor: string): boolean {
  return simpleCommand.test(editor) && !/^\w+=/.test(editor);
}

/** Opens a file in the person's editor, on the terminal of this process, and waits for its end. */
export function runEditor({
  editor,
  file,
  signal,
  ownsStdout,
}: RunEditorOptions): Promise<EditorEnd> {
  return new Promise((resolve, reject) => {
    const stdio = ["inherit", ownsStdout ? "inherit" : 2, "inherit"] as const;
    const exec = isSimple(editor) ? "exec " : "";
    const child =
      process.platform === "win32"
        ? spawn(`${editor} "${file}"`, { stdio: [...stdio], shell: true })
        : spawn("/bin/sh", ["-c", `${exec}${editor} "$@"`, "editor", file], { stdio: [...stdio] });
    let killTimer: NodeJS.Timeout | undefined;
    const stop = (): void => {
      child.kill("SIGTERM");
      killTimer = setTimeout(() => child.kill("SIGKILL"), killAfterMs);
    };
    if (signal.aborted) stop();
    else signal.addEventListener("abort", stop, { once: true });
    const forget = (): void => {
      clearTimeout(killTimer);
      signal.removeEventListener("abort", stop);
    };
    child.once("error", (error) => {
      forget();
      reject(error);
    });
    child.once("exit", (exitCode, endSignal) => {
      forget();
      resolve({ exitCode, signal: endSignal });
    });
  });
}
