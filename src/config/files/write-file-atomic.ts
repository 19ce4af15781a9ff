import { randomBytes } from "node:crypto";
import { open, rename, rm, writeFile } from "node:fs/promises";
import path from "node:path";

export interface WriteFileOptions {
  readonly mode: number;
  /** The former owner, who gets the new file as far as this process may change it. */
  readonly owner?: { readonly uid: number; readonly gid: number };
}

/** The content of a file: whole, or in pieces that are written as they come. */
export type FileContent = string | Uint8Array | AsyncIterable<string>;

/**
 * Replaces `file` atomically: a reader, or a crash at any moment, sees the old content or the new one. When the content
 * fails to come, the file stays as it was.
 */
export async function writeFileAtomic(
  file: string,
  content: FileContent,
  { mode, owner }: WriteFileOptions,
): Promise<void> {
  const folder = path.dirname(file);
  const draft = path.join(folder, `.${path.basename(file)}.${randomBytes(6).toString("hex")}.tmp`);
  try {
    const handle = await open(draft, "wx", mode);
    try {
      await writeFile(handle, content);
      // `open` has applied the umask to the mode.
      await handle.chmod(mode);
      if (owner !== undefined) await handle.chown(owner.uid, owner.gid).catch(() => undefined);
      await handle.sync();
    } finally {
      await handle.close();
    }
    await rename(draft, file);
  } catch (error) {
    await rm(draft, { force: true });
    throw error;
  }
  await syncFolder(folder);
}

/** Makes the rename durable, where folders can be synced. */
async function syncFolder(folder: string): Promise<void> {
  const handle = await open(folder, "r").catch(() => undefined);
  await handle?.sync().catch(() => undefined);
  await handle?.close();
}
