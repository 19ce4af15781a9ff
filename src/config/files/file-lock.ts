import { randomUUID } from "node:crypto";
import { link, open, readFile, rename, rm, stat } from "node:fs/promises";
import { hostname } from "node:os";
import { setTimeout as delay } from "node:timers/promises";

import { createError } from "../../errors/families.ts";

const maxWaitMs = 10_000;
// An edit takes milliseconds, so a lock this old is abandoned.
const staleAfterMs = 10_000;
/** The tolerated difference between clocks and rounded file times. A lock dated later counts as abandoned. */
const maxAheadMs = 2_000;

interface Holder {
  readonly pid: number;
  readonly host: string;
  readonly token: string;
}

export interface FileLock {
  /** Whether this process still holds the lock; false after another process took it over as abandoned. */
  isHeld(): Promise<boolean>;
}

/** Runs `task` while this process holds the lock. A lock left by a crash is taken over. */
export async function withFileLock<T>(
  file: string,
  task: (lock: FileLock) => Promise<T>,
): Promise<T> {
  const lockFile = `${file}.lock`;
  const own: Holder = { pid: process.pid, host: hostname(), token: randomUUID() };
  await acquire(lockFile, own);
  const isHeld = async (): Promise<boolean> => (await readHolder(lockFile))?.token === own.token;
  try {
    return await task({ isHeld });
  } finally {
    if (await isHeld()) await rm(lockFile, { force: true });
  }
}

async function acquire(lockFile: string, own: Holder): Promise<void> {
  const deadline = performance.now() + maxWaitMs;
  while (!(await tryCreate(lockFile, own))) {
    if (await isAbandoned(lockFile)) await breakLock(lockFile);
    else if (performance.now() > deadline)
      throw createError("config_invalid", `another process keeps ${lockFile}`, {
        hint: "try again, or delete that file if nothing is running",
      });
    else await delay(5 + Math.random() * 20);
  }
}

async function tryCreate(lockFile: string, own: Holder): Promise<boolean> {
  try {
    const handle = await open(lockFile, "wx", 0o600);
    try {
      await handle.writeFile(JSON.stringify(own));
    } finally {
      await handle.close();
    }
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "EEXIST") return false;
    throw createError("config_invalid", `cannot write beside ${lockFile}`, { cause: error });
  }
}

async function isAbandoned(lockFile: string): Promise<boolean> {
  const holder = await readHolder(lockFile);
  if (holder !== undefined && holder.host === hostname() && !isAlive(holder.pid)) return true;
  const changedAt = await stat(lockFile).then(
    (stats) => stats.mtimeMs,
    () => Date.now(),
  );
  const ageMs = Date.now() - changedAt;
  return ageMs > staleAfterMs || ageMs < -maxAheadMs;
}

/**
 * Removes an abandoned lock. Of several processes that try, one moves it away; a fresh lock moved by
 * mistake is put back.
 */
async function breakLock(lockFile: string): Promise<void> {
  const aside = `${lockFile}.${randomUUID()}`;
  try {
    await rename(lockFile, aside);
  } catch {
    return;
  }
  // `link` fails when a third process has the lock by now; the loser finds out by `isHeld`.
  if (!(await isAbandoned(aside))) await link(aside, lockFile).catch(() => undefined);
  await rm(aside, { force: true });
}

async function readHolder(lockFile: string): Promise<Holder | undefined> {
  try {
    const holder = JSON.parse(await readFile(lockFile, "utf8")) as Partial<Holder> | null;
    const { pid, host, token } = holder ?? {};
    if (typeof pid !== "number" || typeof host !== "string" || typeof token !== "string")
      return undefined;
    return { pid, host, token };
  } catch {
    return undefined;
  }
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === "EPERM";
  }
}
