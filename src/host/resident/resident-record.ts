import { lstat, readFile, rm } from "node:fs/promises";
import path from "node:path";

import { writeFileAtomic } from "../../config/files/write-file-atomic.ts";
import { createError } from "../../errors/families.ts";
import type { SocketAddress } from "../../listener/socket-client.ts";
import { makeFolder } from "../../ports/make-folder.ts";
import { isJsonObject } from "../../text/json-object.ts";
import type { ResidentPlace } from "./ground.ts";

/** What a host that runs for others leaves for them to find. */
export interface ResidentRecord extends SocketAddress {
  readonly pid: number;
}

/**
 * Reads the address of the host that runs here; undefined when none does, and when other users could have written
 * or read it: a token that others know keeps nobody out.
 */
export async function readRecord({
  folder,
  record,
  socket,
}: ResidentPlace): Promise<ResidentRecord | undefined> {
  const text = await readFile(record, "utf8").catch(() => undefined);
  if (text === undefined) return undefined;
  const places = [folder, record, path.dirname(socket)];
  if (!(await isPrivate(places))) return undefined;
  const { token, pid } = parseObject(text);
  if (typeof token !== "string" || typeof pid !== "number") return undefined;
  return { path: socket, token, pid };
}

/** Writes it for others to find, into folders that `makeFolders` has made. */
export async function writeRecord(
  { record, socket }: ResidentPlace,
  { token, pid }: Omit<ResidentRecord, "path">,
): Promise<void> {
  await writeFileAtomic(record, `${JSON.stringify({ pid, token, socket })}\n`, { mode: 0o600 });
}

/** Makes the folders that a socket and its record lie in. Throws `config_invalid` when others may enter one. */
export async function makeFolders({ folder, socket }: ResidentPlace): Promise<void> {
  await makePrivate(folder);
  if (process.platform !== "win32") await makePrivate(path.dirname(socket));
}

/** Takes the record away, unless another host has put its own there by now. */
export async function removeRecord(place: ResidentPlace, token: string): Promise<void> {
  const current = await readRecord(place);
  if (current?.token === token) await rm(place.record, { force: true });
}

async function makePrivate(folder: string): Promise<void> {
  await makeFolder(folder, 0o700);
  if (await isPrivate([folder])) return;
  throw createError("config_invalid", `${folder} is not used, because other users may enter it`, {
    hint: `chmod 700 ${folder}`,
  });
}

/** Whether these belong to the user, and nobody else may do anything with them. Windows has other means. */
async function isPrivate(places: readonly string[]): Promise<boolean> {
  const uid = process.geteuid?.();
  if (uid === undefined) return true;
  for (const place of new Set(places)) {
    const stats = await lstat(place).catch(() => undefined);
    if (stats === undefined || stats.isSymbolicLink()) return false;
    if (stats.uid !== uid || (stats.mode & 0o077) !== 0) return false;
  }
  return true;
}

function parseObject(text: string): Readonly<Record<string, unknown>> {
  try {
    const value: unknown = JSON.parse(text);
    return isJsonObject(value) ? value : {};
  } catch {
    return {};
  }
}
