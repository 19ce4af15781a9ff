import { chmod } from "node:fs/promises";
import path from "node:path";

import { foreignAccessTo } from "../../config/files/foreign-access.ts";
import { createError } from "../../errors/families.ts";
import { makeFolder } from "../../ports/make-folder.ts";

/**
 * Makes sure that a folder below the user's `.plugboard` folder exists and is closed to other users. Throws
 * `config_invalid` when others could have put something into it.
 */
export async function ensurePrivateFolder(folder: string, userFolder: string): Promise<void> {
  try {
    // npm looks for packages and settings in the nearest folder that holds a `node_modules`, however far up.
    await makeFolder(path.join(folder, "node_modules"), 0o700);
    const problem = foreignAccessTo([userFolder, path.dirname(folder), folder]);
    if (problem !== undefined)
      throw createError("config_invalid", `the folder ${folder} ${problem}`);
    await chmod(folder, 0o700);
  } catch (error) {
    const { code, syscall } = error as NodeJS.ErrnoException;
    if (syscall === undefined) throw error;
    throw createError("config_invalid", `the folder ${folder} cannot be made (${code})`, {
      hint: "make it writable for this user, or set `cwd` in the entry",
      cause: error,
    });
  }
}
