import { constants } from "node:fs";
import { type FileHandle, open, stat } from "node:fs/promises";

import { startPause } from "../../async/stop.ts";
import type { Clock } from "../../ports/clock.ts";
import { keepAliveUntil } from "../../ports/keep-alive.ts";
import { type LogEntry, parseEntry, type FollowOptions, type LogQuery } from "./log-entry.ts";

const followIntervalMs = 200;
const chunkBytes = 64 * 1_024;
/** Of a larger file, which no host of this version writes, the end is read. */
const maxReadBytes = 32 * 1_024 * 1_024;
const newline = 0x0a;

/** The files of one server. */
interface LogPair {
  readonly older: string;
  readonly current: string;
}

/** Reads the entries of one server, oldest first. */
export async function readLog(
  { older, current }: LogPair,
  query: LogQuery = {},
): Promise<readonly LogEntry[]> {
  const entries = new LastEntries(query);
  for (const file of [older, current]) {
    const reading = await OpenLog.open(file);
    try {
      await reading?.readTo((entry) => entries.add(entry));
    } finally {
      await reading?.close();
    }
  }
  return entries.all;
}

/** Reads the entries of one server and then every further one, across rotations, until `signal` aborts. */
export async function* followLog(
  files: LogPair,
  { signal, ...query }: FollowOptions,
  clock: Clock,
): AsyncGenerator<LogEntry, void, undefined> {
  const stopping = signal ?? new AbortController().signal;
  const { current } = files;
  // The current file first: what is moved aside while the older one is read is still open here.
  let reading = await OpenLog.open(current);
  try {
    const before = new LastEntries(query);
    const older = await OpenLog.open(files.older);
    if (older !== undefined && !older.isSameFile(reading))
      await older.readTo((entry) => before.add(entry));
    await older?.close();
    await reading?.readTo((entry) => before.add(entry));
    yield* before.all;
    while (!stopping.aborted) {
      const fresh: LogEntry[] = [];
      await reading?.readTo((entry) => fresh.push(entry));
      // Rotated, deleted or not there before: what is left of the one that was open has been read by now.
      if (reading === undefined || !(await reading.isStillAt(current))) {
        const next = await OpenLog.open(current);
        await reading?.readTo((entry) => fresh.push(entry));
        await reading?.close();
        reading = next;
        await reading?.readTo((entry) => fresh.push(entry));
      }
      yield* fresh;
      if (fresh.length === 0)
        await keepAliveUntil(startPause(clock, followIntervalMs, stopping).over);
    }
  } finally {
    await reading?.close();
  }
}

/** Keeps the last entries that fit a query. */
class LastEntries {
  readonly #since: number;
  readonly #limit: number;
  #kept: LogEntry[] = [];

  constructor({ since = Number.NEGATIVE_INFINITY, limit = Number.POSITIVE_INFINITY }: LogQuery) {
    this.#since = since;
    this.#limit = limit;
  }

  get all(): readonly LogEntry[] {
    return this.#limit < this.#kept.length
      ? this.#kept.slice(this.#kept.length - this.#limit)
      : this.#kept;
  }

  add(entry: LogEntry): void {
    if (entry.at < this.#since) return;
    this.#kept.push(entry);
    if (this.#kept.length > this.#limit * 2 + chunkBytes) this.#kept = [...this.all];
  }
}

/** A file that is read as it grows. */
class OpenLog {
  readonly #handle: FileHandle;
  readonly #ino: number;
  #position: number;
  /** The beginning of a line whose end is not written yet. */
  #rest: Buffer = Buffer.alloc(0);

  private constructor(handle: FileHandle, ino: number, position: number) {
    this.#handle = handle;
    this.#ino = ino;
    this.#position = position;
  }

  /** Undefined when there is no such file. */
  static async open(file: string): Promise<OpenLog | undefined> {
    const { O_RDONLY, O_NONBLOCK = 0 } = constants as Partial<typeof constants>;
    const handle = await open(file, (O_RDONLY ?? 0) | O_NONBLOCK).catch(
      (error: NodeJS.ErrnoException) => {
        if (error.code === "ENOENT" || error.code === "ENOTDIR") return undefined;
        throw error;
      },
    );
    if (handle === undefined) return undefined;
    const stats = await handle.stat();
    if (!stats.isFile()) {
      await handle.close();
      return undefined;
    }
    return new OpenLog(handle, stats.ino, Math.max(0, stats.size - maxReadBytes));
  }

  isSameFile(other: OpenLog | undefined): boolean {
    return other !== undefined && this.#ino === other.#ino;
  }

  /** Whether the file of that name is still this one. */
  async isStillAt(file: string): Promise<boolean> {
    const stats = await stat(file).catch(() => undefined);
    // Somebody has emptied it.
    if (stats !== undefined && stats.size < this.#position) return false;
    return stats?.ino === this.#ino;
  }

  /** Reads what was written since the last time, whole lines only. */
  async readTo(add: (entry: LogEntry) => void): Promise<void> {
    const chunk = Buffer.allocUnsafe(chunkBytes);
    for (;;) {
      const { bytesRead } = await this.#handle.read(chunk, 0, chunkBytes, this.#position);
      if (bytesRead === 0) return;
      this.#position += bytesRead;
      let text = Buffer.concat([this.#rest, chunk.subarray(0, bytesRead)]);
      for (let end = text.indexOf(newline); end !== -1; end = text.indexOf(newline)) {
        const entry = parseEntry(text.toString("utf8", 0, end));
        if (entry !== undefined) add(entry);
        text = text.subarray(end + 1);
      }
      // No host writes such a line; nobody may make us hold it.
      this.#rest = text.length > maxReadBytes ? Buffer.alloc(0) : text;
    }
  }

  async close(): Promise<void> {
    await this.#handle.close();
  }
}
