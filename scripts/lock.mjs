// @ts-check
import {
  existsSync,
  mkdirSync,
  readFileSync,
  rmSync,
  statSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import path from "node:path";
import { setTimeout as delay } from "node:timers/promises";

const heartbeatMs = 2_000;
// A holder that has not beaten for this long is gone, even if its process id was given to another.
const silenceMs = 60_000;
const pollMs = 100;

/** @param {unknown} error @param {string} code */
const hasCode = (error, code) => error instanceof Error && "code" in error && error.code === code;

/** @param {number} pid */
function isAlive(pid) {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    // EPERM: it lives, and belongs to somebody else.
    return hasCode(error, "EPERM");
  }
}

/** @param {string} file */
function isAbandoned(file) {
  try {
    const silentForMs = Date.now() - statSync(file).mtimeMs;
    if (silentForMs > silenceMs) return true;
    const pid = Number(readFileSync(file, "utf8"));
    // Empty: created a moment ago, its owner is about to write.
    return pid > 0 && !isAlive(pid);
  } catch (error) {
    if (hasCode(error, "ENOENT")) return false;
    throw error;
  }
}

/** @param {string} file */
function tryCreate(file) {
  try {
    writeFileSync(file, String(process.pid), { flag: "wx" });
    return true;
  } catch (error) {
    if (hasCode(error, "EEXIST")) return false;
    throw error;
  }
}

/**
 * Removes the lock of a process that died with it. Under a lock of its own and with a second look:
 * of two waiters that saw the same dead holder, the slower one must not remove the faster one's lock.
 *
 * @param {string} file
 */
function clearAbandoned(file) {
  const clearing = `${file}.clearing`;
  if (!tryCreate(clearing)) {
    if (isAbandoned(clearing)) rmSync(clearing, { force: true });
    return;
  }
  try {
    if (isAbandoned(file)) rmSync(file, { force: true });
  } finally {
    rmSync(clearing, { force: true });
  }
}

/**
 * Runs `body` while no other process holds `file`; waits for as long as another one does.
 *
 * @template T
 * @param {string} file
 * @param {() => Promise<T>} body
 * @param {{ onWait?: () => void }} [options] `onWait` is called once, before the first wait
 * @returns {Promise<T>}
 */
export async function withLock(file, body, { onWait } = {}) {
  mkdirSync(path.dirname(file), { recursive: true });
  let hasWaited = false;
  while (!tryCreate(file)) {
    if (isAbandoned(file)) {
      clearAbandoned(file);
      continue;
    }
    if (!hasWaited) onWait?.();
    hasWaited = true;
    await delay(pollMs);
  }
  // After a long sleep of the machine the lock may be somebody else's by now: then it is left alone.
  const isOurs = () => existsSync(file) && readFileSync(file, "utf8") === String(process.pid);
  const release = () => {
    if (isOurs()) rmSync(file, { force: true });
  };
  const heartbeat = setInterval(() => {
    if (isOurs()) utimesSync(file, new Date(), new Date());
  }, heartbeatMs);
  heartbeat.unref();
  process.once("exit", release);
  try {
    return await body();
  } finally {
    clearInterval(heartbeat);
    process.off("exit", release);
    release();
  }
}
