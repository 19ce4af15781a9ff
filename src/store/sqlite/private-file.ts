import { lstatSync, type Stats } from "node:fs";
import { open } from "node:fs/promises";
import path from "node:path";

import { createError } from "../../errors/families.ts";
import { makeFolder } from "../../ports/make-folder.ts";
import { storeError } from "../tables/store-error.ts";

/**
 * Makes sure that `file` exists and belongs to this user alone. A file that others may touch is refused:
 * what it says about approvals and grants would be theirs to write.
 *
 * Never opens a file that exists: closing a descriptor drops the locks that SQLite holds on the same file
 * elsewhere in this process.
 */
export async function ensurePrivateFile(file: string): Promise<void> {
  if (isPrivateFile(file)) return;
  try {
    await makeFolder(path.dirname(file), 0o700);
    const handle = await open(file, "wx", 0o600);
    await handle.close();
    await syncFolder(path.dirname(file));
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    // Another process was faster; it made the same file.
    if (code === "EEXIST" && isPrivateFile(file)) return;
    throw storeError(problemOf(code), file, { cause: error });
  }
}

/** SQLite makes what is in the file durable; that there is one must be, too. */
async function syncFolder(folder: string): Promise<void> {
  const handle = await open(folder, "r").catch(() => undefined);
  await handle?.sync().catch(() => undefined);
  await handle?.close();
}

function problemOf(code: string | undefined): "disk-full" | "read-only" | "cannot-open" {
  if (code === "ENOSPC" || code === "EDQUOT") return "disk-full";
  return code === "EACCES" || code === "EPERM" || code === "EROFS" ? "read-only" : "cannot-open";
}

/** False when there is no such file; throws when it is not private. */
function isPrivateFile(file: string): boolean {
  const stats = lookAt(file);
  if (stats === undefined) return false;
  if (!stats.isFile()) throw refusal(file, "is not a plain file", "name the file itself");
  // Windows has no such bits; a file there is as private as its folder.
  if (process.geteuid === undefined) return true;
  if (stats.uid !== process.geteuid())
    throw refusal(file, "belongs to another user", "run as its owner, or name another file");
  if ((stats.mode & 0o077) !== 0)
    throw refusal(file, "can be used by other users", `chmod 600 ${file}`);
  return true;
}

/** One look takes microseconds; what looks without holding the event loop takes Node 2 ms to load. */
function lookAt(file: string): Stats | undefined {
  try {
    return lstatSync(file, { throwIfNoEntry: false });
  } catch (error) {
    throw storeError("cannot-open", file, { cause: error });
  }
}

function refusal(file: string, what: string, hint: string): Error {
  return createError("store_failed", `the store ${file} ${what}, so it is not used`, {
    hint,
    details: { place: file, problem: "not-private" },
  });
}
