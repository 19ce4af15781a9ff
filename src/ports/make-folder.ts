import { mkdir, stat } from "node:fs/promises";
import path from "node:path";

/**
 * Makes a folder and those above it that are missing; does nothing when it is there. Node's own recursive `mkdir` never
 * ends below a folder that says of every new name that it does not exist, as `/proc` does: it makes the parent, finds
 * it missing, and makes it again, out of reach of any signal handler. Here each folder is tried twice at most.
 */
export async function makeFolder(folder: string, mode = 0o777): Promise<void> {
  try {
    await makeOne(folder, mode);
  } catch (error) {
    const parent = path.dirname(folder);
    if (codeOf(error) !== "ENOENT" || parent === folder) throw error;
    await makeFolder(parent, mode);
    await makeOne(folder, mode);
  }
}

async function makeOne(folder: string, mode: number): Promise<void> {
  try {
    await mkdir(folder, { mode });
  } catch (error) {
    // A file system that cannot be written says so even of a folder that is there.
    if (codeOf(error) === "ENOENT" || !(await isFolder(folder))) throw error;
  }
}

async function isFolder(place: string): Promise<boolean> {
  return await stat(place).then(
    (stats) => stats.isDirectory(),
    () => false,
  );
}

function codeOf(error: unknown): string | undefined {
  return (error as NodeJS.ErrnoException).code;
}
