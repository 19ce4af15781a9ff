import { realpath, stat, writeFile } from "node:fs/promises";

import { writeFileAtomic } from "../../config/files/write-file-atomic.ts";
import { createError } from "../../errors/families.ts";

const defaultMode = 0o644;

/**
 * Writes what a command was told to write, all of it or nothing. A link stays one and a file keeps its
 * mode; a device or a pipe is written to, never replaced.
 */
export async function writeOutputFile(file: string, text: string): Promise<void> {
  try {
    const target = await realpath(file).catch((error: NodeJS.ErrnoException) => {
      if (error.code === "ENOENT") return file;
      throw error;
    });
    const known = await stat(target).catch(() => undefined);
    if (known === undefined || known.isFile())
      await writeFileAtomic(target, text, { mode: (known?.mode ?? defaultMode) & 0o777 });
    else await writeFile(target, text);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    const reasons: Readonly<Record<string, string>> = {
      ENOENT: "its folder does not exist",
      ENOTDIR: "its folder does not exist",
      EISDIR: "it is a folder",
      EACCES: "permission denied",
      EROFS: "the file system is read-only",
      ENOSPC: "no space is left",
    };
    const reason = reasons[code ?? ""] ?? code ?? "unknown reason";
    throw createError("invalid_arguments", `cannot write "${file}": ${reason}`, { cause: error });
  }
}
