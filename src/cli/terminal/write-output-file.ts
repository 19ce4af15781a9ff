import { realpath, stat, writeFile } from "node:fs/promises";
import path from "node:path";

import { type FileContent, writeFileAtomic } from "../../config/files/write-file-atomic.ts";
import { createError } from "../../errors/families.ts";
import { McpError } from "../../errors/mcp-error.ts";
import { makeFolder } from "../../ports/make-folder.ts";

const defaultMode = 0o644;
const maxSameName = 1_000;

/**
 * Writes what a command was told to write, all of it or nothing. A link stays one and a file keeps its
 * mode; a device or a pipe is written to, never replaced. `mode` is that of a new file.
 */
export async function writeOutputFile(
  file: string,
  content: FileContent,
  mode = defaultMode,
): Promise<void> {
  try {
    const target = await realpath(file).catch((error: NodeJS.ErrnoException) => {
      if (error.code === "ENOENT") return file;
      throw error;
    });
    const known = await stat(target).catch(() => undefined);
    if (known === undefined || known.isFile())
      await writeFileAtomic(target, content, { mode: (known?.mode ?? mode) & 0o777 });
    else await writeFile(target, content);
  } catch (error) {
    // The content may have failed to come, for a reason of its own.
    throw McpError.is(error) ? error : unwritable(file, error);
  }
}

/** Writes a new file into a folder; the path it got. A name that is taken gets a number, so no file is replaced. */
export async function writeNewFile(
  folder: string,
  name: string,
  content: string | Uint8Array,
): Promise<string> {
  const { name: stem, ext } = path.parse(name);
  for (let count = 1; ; count += 1) {
    const file = path.join(folder, count === 1 ? name : `${stem}-${count}${ext}`);
    try {
      await makeFolder(folder);
      await writeFile(file, content, { flag: "wx", mode: defaultMode });
      return file;
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== "EEXIST" || count >= maxSameName)
        throw unwritable(file, error);
    }
  }
}

function unwritable(file: string, cause: unknown): McpError {
  const { code } = cause as NodeJS.ErrnoException;
  const reasons: Readonly<Record<string, string>> = {
    ENOENT: "its folder does not exist",
    ENOTDIR: "its folder does not exist",
    EEXIST: "it exists",
    EISDIR: "it is a folder",
    EACCES: "permission denied",
    EROFS: "the file system is read-only",
    ENOSPC: "no space is left",
  };
  const reason = reasons[code ?? ""] ?? code ?? "unknown reason";
  return createError("invalid_arguments", `cannot write "${file}": ${reason}`, { cause });
}
