import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";

import { createError } from "../../errors/families.ts";
import { runEditor } from "../../isolation/process/run-editor.ts";
import type { CommandContext } from "./command-context.ts";

/** A text in a private file that somebody edits. */
export interface Draft {
  readonly file: string;
  /** Opens the file in the person's editor; the text that is there when it has ended. Throws when that failed. */
  edit(): Promise<string>;
  /** Deletes the file, unless it holds a text that nobody has taken: then it stays, and its path is given. */
  end(options: { readonly isTaken: boolean }): Promise<string | undefined>;
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
export async function createDraft(
  context: CommandContext,
  { editor, name, text }: { readonly editor: string; readonly name: string; readonly text: string },
): Promise<Draft> {
  const folder = await mkdtemp(path.join(tmpdir(), "plugboard-edit-"));
  const file = path.join(folder, name);
  await writeFile(file, text, { mode: 0o600, flag: "wx" });
  const read = (): Promise<string> => readFile(file, "utf8");
  return {
    file,
    edit: async () => {
      const release = context.terminal.hold();
      try {
        const { signal, terminal } = context;
        const ownsStdout = !terminal.takesBytes && context.options.json !== true;
        const end = await runEditor({ editor, file, signal, ownsStdout });
        if (signal.aborted) throw createError("cancelled", "cancelled, and nothing was changed");
        if (end.exitCode !== 0) throw editorFailed(editor, end.exitCode ?? end.signal);
      } finally {
        release();
      }
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

function editorFailed(editor: string, end: number | NodeJS.Signals | null): Error {
  if (end === 127)
    return createError("invalid_arguments", `there is no editor "${editor.slice(0, 80)}"`, {
      hint: "set VISUAL or EDITOR to a program that is installed",
    });
  const how = typeof end === "number" ? `exit code ${end}` : (end ?? "unknown reason");
  return createError("invalid_arguments", `the editor failed (${how}); nothing was changed`);
}
