// @ts-check
// The one thread of a host that writes to its SQLite file: locks held by other processes and the disk's
// own pace are waited for here, never in the event loop.
import { parentPort, workerData } from "node:worker_threads";

import { fileIdentity } from "./file-identity.mjs";
import { runBatch, runCheck, runMigration } from "./sqlite-batch.mjs";
import { loadSqlite, waitForLocks } from "./sqlite-driver.mjs";

/** @typedef {import("./sqlite-batch.mjs").BatchStatement} BatchStatement */
/** @typedef {import("./sqlite-batch.mjs").BatchStep} BatchStep */
/** @typedef {import("./sqlite-batch.mjs").BatchDurability} BatchDurability */
/**
 * @typedef {{ readonly kind: "batch", readonly statements: readonly BatchStatement[], readonly durability: BatchDurability }
 *   | { readonly kind: "migrate", readonly steps: readonly BatchStep[] }
 *   | { readonly kind: "check" }
 *   | { readonly kind: "close" }} WriterTask
 */
/** @typedef {{ readonly id: number, readonly task: WriterTask }} WriterJob */
/** @typedef {{ readonly errcode: number | undefined, readonly message: string }} WriterFailure */
/**
 * @typedef {{ readonly id: number, readonly value: unknown }
 *   | { readonly id: number, readonly failure: WriterFailure }} WriterAnswer
 */
/**
 * `driver` is for `loadSqlite`; `identity` is that of the file that is meant: a write must not go to another one.
 * @typedef {{
 *   readonly driver: string,
 *   readonly file: string,
 *   readonly identity: string | undefined,
 *   readonly lockWaitMs: number,
 * }} WriterData
 */

const busy = 5;
/** SQLite's own code for what it notices without a write-ahead log only. */
const moved = 1032;
const maxJournalBytes = 4 * 1024 * 1024;

const { driver, file, identity, lockWaitMs } = /** @type {WriterData} */ (workerData);

/** @type {import("./sqlite-driver.mjs").SqliteConnection | undefined} */
let connection;
parentPort?.on("message", (/** @type {WriterJob} */ { id, task }) => {
  /** @type {WriterAnswer} */
  let answer;
  try {
    answer = { id, value: perform(task) };
  } catch (error) {
    const { errcode, message } = /** @type {Error & { errcode?: number }} */ (error);
    answer = { id, failure: { errcode, message } };
  }
  // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a thread, not a window
  parentPort?.postMessage(answer);
  if (task.kind === "close") parentPort?.close();
});

/** @param {WriterTask} task */
function perform(task) {
  switch (task.kind) {
    case "batch":
      return runBatch(open(), task.statements, task.durability);
    case "migrate":
      return runMigration(open(), task.steps);
    case "check":
      return runCheck(open());
    case "close":
      return close();
    default:
      throw new Error("unknown task");
  }
}

/** Opened by the first job and, when that fails, tried again by the next. */
function open() {
  refuseOtherFile();
  if (connection !== undefined) return connection;
  const DatabaseSync = loadSqlite(driver);
  const opened = new DatabaseSync(file);
  try {
    waitForLocks(opened, lockWaitMs);
    switchToWal(opened);
    opened.exec(`PRAGMA journal_size_limit = ${maxJournalBytes}`);
  } catch (error) {
    opened.close();
    throw error;
  }
  connection = opened;
  return opened;
}

/**
 * What is written to a file that was deleted or replaced is gone with it: nobody may be told that it
 * was saved.
 */
function refuseOtherFile() {
  if (identity !== undefined && fileIdentity(file) !== identity)
    throw Object.assign(new Error("the file is another one by now"), { errcode: moved });
}

/**
 * Moves everything into the file itself, so that a copy of it alone is whole, unless others are using it.
 * The driver lets go of statements with the garbage only, so SQLite cannot do this on its own.
 */
function close() {
  try {
    if (connection !== undefined) waitForLocks(connection, 0);
    connection?.exec("PRAGMA wal_checkpoint(TRUNCATE)");
  } catch {
    // Nothing is lost: the journal stays and is read along with the file.
  }
  connection?.close();
}

/**
 * SQLite does not wait for the lock this needs, so that processes starting together would fail.
 * @param {import("./sqlite-driver.mjs").SqliteConnection} opened
 */
function switchToWal(opened) {
  const deadline = performance.now() + lockWaitMs;
  for (;;) {
    try {
      opened.prepare("PRAGMA journal_mode = WAL").get();
      return;
    } catch (error) {
      const code = /** @type {{ errcode?: number }} */ (error).errcode ?? 0;
      if ((code & 0xff) !== busy || performance.now() > deadline) throw error;
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 5 + Math.random() * 20);
    }
  }
}
