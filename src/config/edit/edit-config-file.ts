import { lstat, realpath, stat } from "node:fs/promises";
import path from "node:path";

import { createError } from "../../errors/families.ts";
import { McpError } from "../../errors/mcp-error.ts";
import { makeFolder } from "../../ports/make-folder.ts";
import { type FileLock, withFileLock } from "../files/file-lock.ts";
import { isWithin } from "../files/project-folders.ts";
import { maxConfigBytes, readConfigText } from "../files/read-config-file.ts";
import { writeFileAtomic } from "../files/write-file-atomic.ts";
import { type ConfigEdit, editConfigText, findConfigEntry } from "./edit-config-text.ts";

export interface EditedConfigFile {
  /** The file that was written; the target where `file` is a link. */
  readonly path: string;
  readonly isCreated: boolean;
  /** False when the file already had the content that the edit asks for. */
  readonly isChanged: boolean;
}

export interface EditConfigFileOptions {
  /** The folder that the file must lie in, every link followed. */
  readonly within?: string | undefined;
}

const maxAttempts = 10;

/**
 * Changes one entry of a configuration file and leaves the rest as it was written. File and folder
 * are created when missing. Processes that edit at the same time lose nothing: they wait for each
 * other, and an edit made without waiting (an editor) makes this one start again.
 */
export async function editConfigFile(
  file: string,
  edit: ConfigEdit,
  { within }: EditConfigFileOptions = {},
): Promise<EditedConfigFile> {
  try {
    const target = await resolveTarget(path.resolve(file));
    if (within !== undefined && !isWithin(target, await realpath(within)))
      throw createError("config_invalid", `${file} is a link that leaves ${within}: ${target}`, {
        hint: "edit that file yourself, or replace the link by a file of the project",
      });
    for (let attempt = 0; attempt < maxAttempts; attempt += 1) {
      const edited = await withFileLock(target, (lock) => tryEdit(target, edit, lock));
      if (edited !== undefined) return edited;
    }
    throw createError("config_invalid", `${target} keeps changing; nothing was written`);
  } catch (error) {
    if (McpError.is(error)) throw error;
    const code = (error as NodeJS.ErrnoException).code ?? "unknown error";
    throw createError("config_invalid", `${file} cannot be written (${code})`, { cause: error });
  }
}

/** Reads one entry as it is written, without its name. Throws `server_unknown` when the file does not have it. */
export async function readConfigEntry(
  file: string,
  name: string,
): Promise<Readonly<Record<string, unknown>>> {
  return findConfigEntry((await readText(file)) ?? "", name, file);
}

/**
 * Tries the edit once; undefined when the file changed, or the lock was lost, before the result could be
 * written.
 */
async function tryEdit(
  target: string,
  edit: ConfigEdit,
  lock: FileLock,
): Promise<EditedConfigFile | undefined> {
  const before = await readText(target);
  const after = editConfigText(before ?? "", edit, target);
  const isCreated = before === undefined;
  if (after === before) return { path: target, isCreated, isChanged: false };
  if (Buffer.byteLength(after) > maxConfigBytes)
    throw createError("config_invalid", `${target} would become larger than 1 MiB`);
  const options = await writeOptions(target);
  if ((await readText(target)) !== before || !(await lock.isHeld())) return undefined;
  await writeFileAtomic(target, after, options);
  return { path: target, isCreated, isChanged: true };
}

/** Follows links to their target, so that the link stays a link. */
async function resolveTarget(file: string): Promise<string> {
  try {
    return await realpath(file);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "ENOENT") throw error;
  }
  const isLink = await lstat(file).then(
    (stats) => stats.isSymbolicLink(),
    () => false,
  );
  if (isLink)
    throw createError("config_invalid", `${file} is a link to a file that does not exist`);
  const folder = path.dirname(file);
  await makeFolder(folder, 0o700);
  return path.join(await realpath(folder), path.basename(file));
}

async function readText(target: string): Promise<string | undefined> {
  const read = readConfigText(target);
  if (read.status === "failed") throw createError("config_invalid", `${target} ${read.reason}`);
  return read.status === "missing" ? undefined : read.text;
}

async function writeOptions(target: string): Promise<Parameters<typeof writeFileAtomic>[2]> {
  try {
    const { mode, uid, gid } = await stat(target);
    return { mode: mode & 0o777, owner: { uid, gid } };
  } catch {
    // The file may hold secrets, so only its owner may read it.
    return { mode: 0o600 };
  }
}
