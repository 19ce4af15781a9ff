import { constants, type Stats } from "node:fs";
import { chmod, type FileHandle, lstat, open, readdir, rename, rm } from "node:fs/promises";
import path from "node:path";

import { withFileLock } from "../../config/files/file-lock.ts";
import { createError } from "../../errors/families.ts";
import { makeFolder } from "../../ports/make-folder.ts";
import { isLogFile, logFilesOf, serverOfLogFile } from "./log-names.ts";

/** Logs that nobody has written to for so long are deleted when the log of another server begins. */
const maxAgeMs = 30 * 24 * 60 * 60 * 1_000;
/** Programs that name their servers anew each time must not fill the folder. */
const maxFiles = 500;

const { O_RDWR, O_APPEND, O_CREAT } = constants;
/** Absent on Windows, where making a link takes special rights. */
const { O_NOFOLLOW = 0, O_NONBLOCK = 0 } = constants as Partial<typeof constants>;

const newline = 0x0a;

export interface LogFilesOptions {
  readonly folder: string;
  /** A file that would become larger is moved aside, and the one before it deleted. */
  readonly maxFileBytes: number;
  /** Milliseconds since the epoch. */
  readonly now: () => number;
}

/**
 * The files with the logs of servers: for each server one that grows, and the one before it. All programs of a user
 * write to the same file of a server, each batch with one write at its end (`O_APPEND`): the system keeps such
 * batches apart, so that one file tells a server's story in order. A file per program would leave as many files as
 * there were commands. Files are opened for each batch, so nothing is held open, and a file that another program
 * has rotated is noticed.
 */
export class LogFiles {
  readonly #options: LogFilesOptions;
  #isFolderReady = false;

  constructor(options: LogFilesOptions) {
    this.#options = options;
  }

  /** Adds whole lines, not more than fit into a file, to the log of a server. Rejects when that is not possible or not safe. */
  async append(serverName: string, lines: string): Promise<void> {
    await this.#ensureFolder();
    const { folder, maxFileBytes } = this.#options;
    const { current, older } = logFilesOf(folder, serverName);
    const bytes = Buffer.from(lines);
    let { handle, stats } = await openPrivately(current);
    try {
      if (stats.size > 0 && stats.size + bytes.length > maxFileBytes) {
        await handle.close();
        await rotate(current, older, stats.ino);
        ({ handle, stats } = await openPrivately(current));
      }
      await writeAtEnd(handle, bytes, stats.size);
    } finally {
      await handle.close().catch(() => undefined);
    }
    if (stats.size === 0) await this.#prune();
  }

  /** Makes the folder, closed to other users. What somebody else could have put there is not used. */
  async #ensureFolder(): Promise<void> {
    if (this.#isFolderReady) return;
    const { folder } = this.#options;
    let stats = await lstat(folder).catch(() => undefined);
    if (stats === undefined) {
      await makeFolder(folder, 0o700);
      stats = await lstat(folder);
    }
    if (!stats.isDirectory()) throw refusal(folder, "is not a folder");
    refuseForeign(folder, stats);
    if (process.geteuid !== undefined && (stats.mode & 0o077) !== 0) await chmod(folder, 0o700);
    this.#isFolderReady = true;
  }

  /** Deletes logs of servers that have not been used for long, and the oldest of too many. */
  async #prune(): Promise<void> {
    const { folder, now } = this.#options;
    const logs = (await readdir(folder).catch(() => [])).filter(isLogFile);
    const tooOld = now() - maxAgeMs;
    const aged = await Promise.all(
      logs.map(async (name) => {
        const file = path.join(folder, name);
        return { file, changedAt: (await lstat(file).catch(() => undefined))?.mtimeMs ?? 0 };
      }),
    );
    const newestFirst = aged.toSorted((one, other) => other.changedAt - one.changedAt);
    const doomed = newestFirst.filter(
      ({ changedAt }, index) => changedAt < tooOld || index >= maxFiles,
    );
    for (const { file } of doomed) await rm(file, { force: true }).catch(() => undefined);
  }
}

/** Names of the servers that have a log; those with very long names are not found this way. */
export async function listLogNames(folder: string): Promise<readonly string[]> {
  const names = (await readdir(folder).catch(() => [])).map(serverOfLogFile);
  return [...new Set(names.filter((name) => name !== undefined))].toSorted();
}

/** Moves a full file aside, once, however many programs find it full. */
async function rotate(current: string, older: string, ino: number): Promise<void> {
  await withFileLock(current, async () => {
    const now = await lstat(current).catch(() => undefined);
    if (now?.ino === ino) await rename(current, older);
  });
}

/** Opens a file that belongs to this user alone, and makes one where there is none. Never follows a link. */
async function openPrivately(
  file: string,
): Promise<{ readonly handle: FileHandle; readonly stats: Stats }> {
  const flags = O_RDWR | O_APPEND | O_CREAT | O_NOFOLLOW | O_NONBLOCK;
  const handle = await open(file, flags, 0o600).catch((error: NodeJS.ErrnoException) => {
    throw error.code === "ELOOP" ? refusal(file, "is a link") : error;
  });
  try {
    const stats = await handle.stat();
    if (!stats.isFile()) throw refusal(file, "is not a plain file");
    refuseForeign(file, stats);
    if (process.geteuid !== undefined && (stats.mode & 0o077) !== 0) await handle.chmod(0o600);
    return { handle, stats };
  } catch (error) {
    await handle.close().catch(() => undefined);
    throw error;
  }
}

function refuseForeign(place: string, { uid }: Stats): void {
  const own = process.geteuid?.();
  if (own !== undefined && uid !== own) throw refusal(place, "belongs to another user");
}

function refusal(place: string, what: string): Error {
  return createError("config_invalid", `${place} ${what}, so it is not used`);
}

/**
 * Begins a new line where a program that was killed, or a full disk, left half of one. Half of a batch that another
 * program is writing looks the same, and costs an empty line.
 */
async function writeAtEnd(handle: FileHandle, bytes: Buffer, size: number): Promise<void> {
  const last = Buffer.alloc(1, newline);
  if (size > 0) await handle.read(last, 0, 1, size - 1);
  const batch = last[0] === newline ? bytes : Buffer.concat([Buffer.of(newline), bytes]);
  const { bytesWritten } = await handle.write(batch);
  if (bytesWritten < batch.length)
    throw createError("config_invalid", "the disk took only a part of it");
}
