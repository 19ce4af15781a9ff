import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";

import { createError } from "../../errors/families.ts";
import { isMissingEditor, runEditor } from "../../isolation/process/run-editor.ts";

/** A text in a private file that somebody edits. */
export interface Draft {
  readonly file: string;
  /** Opens the file in the person's editor; the text that is there when it has ended. Throws when that failed. */
  edit(): Promise<string>;
  /** Deletes the file, unless it holds a text that nobody has taken: then it stays, and its path is given. */
  end(options: { readonly isTaken: boolean }): Promise<string | undefined>;
}

/** Where an editor runs. */
export interface DraftPlace {
  readonly signal: AbortSignal;
  /** Whether the editor may write to stdout. */
  readonly ownsStdout: boolean;
  /** Leaves the terminal to what it is given. */
  readonly lend: <T>(use: () => Promise<T>) => Promise<T>;
}

export interface DraftOptions extends DraftPlace {
  readonly editor: string;
  /** The name of the file, by which editors know what it holds. */
  readonly name: string;
  readonly text: string;
}

/** Throws `invalid_arguments` where no editor is known. */
export function findEditor(env: NodeJS.ProcessEnv): string {
  const editor = [env["VISUAL"], env["EDITOR"]].find((it) => it !== undefined && it.trim() !== "");
  if (editor !== undefined) return editor.trim();
  throw createError("invalid_arguments", "which editor? Neither VISUAL nor EDITOR is set", {
    hint: "set one of them, as in: EDITOR=nano; or name what to change, see --help",
  });
}

/** Writes a text to a file that nobody else can read, in a folder of its own. */
export async function createDraft(options: DraftOptions): Promise<Draft> {
  const { editor, name, text, signal, ownsStdout, lend } = options;
  const folder = await mkdtemp(path.join(tmpdir(), "plugboard-edit-"));
  const file = path.join(folder, name);
  await writeFile(file, text, { mode: 0o600, flag: "wx" });
  const read = (): Promise<string> => readFile(file, "utf8");
  return {
    file,
    edit: async () => {
      if (isMissingEditor(editor)) throw editorFailed(editor, notFound);
      const end = await lend(() => runEditor({ editor, file, signal, ownsStdout }));
      if (signal.aborted) throw createError("cancelled", "cancelled, and nothing was changed");
      if (end.exitCode !== 0) throw editorFailed(editor, end.exitCode ?? end.signal);
      return await read().catch((cause: unknown) => {
        throw createError("invalid_arguments", `"${file}" is gone; nothing was changed`, { cause });
      });
    },
    end: async ({ isTaken }) => {
      const last = await read().catch(() => undefined);
      if (!isTaken && last !== undefined && last !== text) return file;
      await rm(folder, { recursive: true, force: true });
      return undefined;
    },
  };
}

/** What a shell ends with that has not found a command. */
const notFound = 127;

function editorFailed(editor: string, end: number | NodeJS.Signals | null): Error {
  if (end === notFound)
    return createError("invalid_arguments", `there is no editor "${editor.slice(0, 80)}"`, {
      hint: "set VISUAL or EDITOR to a program that is installed",
    });
  const how = typeof end === "number" ? `exit code ${end}` : (end ?? "unknown reason");
  return createError("invalid_arguments", `the editor failed (${how}); nothing was changed`);
}
