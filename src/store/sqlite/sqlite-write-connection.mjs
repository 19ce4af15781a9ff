// @ts-check
// Plain JavaScript, because a thread of Node 20 cannot load TypeScript and this runs in one.
import { fileIdentity } from "./file-identity.mjs";
import { runBatch, runCheck, runErasure, runMigration } from "./sqlite-batch.mjs";
import { loadSqlite, waitForLocks } from "./sqlite-driver.mjs";

/** @typedef {import("./sqlite-batch.mjs").BatchStatement} BatchStatement */
/** @typedef {import("./sqlite-batch.mjs").BatchStep} BatchStep */
/** @typedef {import("./sqlite-batch.mjs").BatchDurability} BatchDurability */
/**
 * @typedef {{ readonly kind: "batch", readonly statements: readonly BatchStatement[], readonly durability: BatchDurability }
 *   | { readonly kind: "migrate", readonly steps: readonly BatchStep[] }
 *   | { readonly kind: "check" }
 *   | { readonly kind: "erase" }
 *   | { readonly kind: "close" }} WriterTask
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

/** Whether the error says that somebody else holds the file. @param {unknown} error */
export function isBusy(error) {
  const code = /** @type {{ errcode?: number }} */ (error).errcode ?? 0;
  return (code & 0xff) === busy;
}

/** The connection that writes to one SQLite file. It blocks whoever uses it, also while others hold the file. */
export class WriteConnection {
  #data;
  /** @type {import("./sqlite-driver.mjs").SqliteConnection | undefined} */
  #connection;

  /** @param {WriterData} data */
  constructor(data) {
    this.#data = data;
  }

  /** @param {WriterTask} task */
  perform(task) {
    switch (task.kind) {
      case "batch":
        return runBatch(this.#open(), task.statements, task.durability);
      case "migrate":
        return runMigration(this.#open(), task.steps);
      case "check":
        return runCheck(this.#open());
      case "erase":
        return runErasure(this.#open());
      case "close":
        return this.#close();
      default:
        throw new Error("unknown task");
    }
  }

  /** Opened by the first task and, when that fails, tried again by the next. */
  #open() {
    const { driver, file, lockWaitMs } = this.#data;
    this.#refuseOtherFile();
    if (this.#connection !== undefined) return this.#connection;
    const DatabaseSync = loadSqlite(driver);
    const opened = new DatabaseSync(file);
    try {
      waitForLocks(opened, lockWaitMs);
      switchToWal(opened, lockWaitMs);
      opened.exec(`PRAGMA journal_size_limit = ${maxJournalBytes}`);
      // What is deleted may have been somebody's secret: its place in the file is overwritten.
      opened.exec("PRAGMA secure_delete = ON");
    } catch (error) {
      opened.close();
      throw error;
    }
    this.#connection = opened;
    return opened;
  }

  /**
   * What is written to a file that was deleted or replaced is gone with it: nobody may be told that it
   * was saved.
   */
  #refuseOtherFile() {
    const { file, identity } = this.#data;
    if (identity !== undefined && fileIdentity(file) !== identity)
      throw Object.assign(new Error("the file is another one by now"), { errcode: moved });
  }

  /**
   * Moves everything into the file itself, so that a copy of it alone is whole, unless others are using it.
   * The driver lets go of statements with the garbage only, so SQLite cannot do this on its own.
   */
  #close() {
    const connection = this.#connection;
    this.#connection = undefined;
    try {
      if (connection !== undefined) waitForLocks(connection, 0);
      connection?.exec("PRAGMA wal_checkpoint(TRUNCATE)");
    } catch {
      // Nothing is lost: the journal stays and is read along with the file.
    }
    connection?.close();
  }
}

/**
 * SQLite does not wait for the lock this needs, so that processes starting together would fail.
 *
 * @param {import("./sqlite-driver.mjs").SqliteConnection} opened
 * @param {number} lockWaitMs
 */
function switchToWal(opened, lockWaitMs) {
  const deadline = performance.now() + lockWaitMs;
  for (;;) {
    try {
      opened.prepare("PRAGMA journal_mode = WAL").get();
      return;
    } catch (error) {
      if (!isBusy(error) || performance.now() > deadline) throw error;
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 5 + Math.random() * 20);
    }
  }
}
