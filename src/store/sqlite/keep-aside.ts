import { createHash } from "node:crypto";
import { constants } from "node:fs";
import { copyFile, readFile } from "node:fs/promises";

/**
 * Copies a damaged database, with what is still in its journal, beside itself: whatever is tried on the
 * original, these bytes stay. Named by content, so that the same damage is kept once. Gives the copy's path.
 */
export async function keepAside(file: string): Promise<string | undefined> {
  try {
    const digest = createHash("sha256").update(await readFile(file));
    const aside = `${file}.damaged-${digest.digest("hex").slice(0, 12)}`;
    await copyOnce(file, aside);
    await copyOnce(`${file}-wal`, `${aside}-wal`).catch(() => undefined);
    return aside;
  } catch {
    // No room, or no permission: the original is still there, and nobody resets it.
    return undefined;
  }
}

async function copyOnce(from: string, to: string): Promise<void> {
  await copyFile(from, to, constants.COPYFILE_EXCL).catch((error: NodeJS.ErrnoException) => {
    if (error.code !== "EEXIST") throw error;
  });
}
