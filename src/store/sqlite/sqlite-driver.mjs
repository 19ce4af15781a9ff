// @ts-check
// Plain JavaScript, because a thread of Node 20 cannot load TypeScript and this runs in one.
import { createRequire } from "node:module";

/**
 * What the store uses of `node:sqlite`, as Node 22.13 has it: no option `timeout`, no `isTransaction`.
 * @typedef {{ readonly changes: number | bigint }} SqliteChanges
 * @typedef {{
 *   all(...parameters: readonly unknown[]): unknown[],
 *   get(...parameters: readonly unknown[]): unknown,
 *   run(...parameters: readonly unknown[]): SqliteChanges,
 * }} SqliteStatement
 * @typedef {{ exec(sql: string): void, prepare(sql: string): SqliteStatement, close(): void }} SqliteConnection
 * @typedef {new (place: string, options?: { readonly readOnly?: boolean }) => SqliteConnection} SqliteClass
 */

export const builtInSqlite = "node:sqlite";

/**
 * @param {string} driver `node:sqlite`, or the file of a package with the same interface
 * @returns {SqliteClass}
 */
export function loadSqlite(driver) {
  const loaded =
    driver === builtInSqlite
      ? loadBuiltIn()
      : /** @type {unknown} */ (createRequire(driver)(driver));
  return /** @type {{ readonly DatabaseSync: SqliteClass }} */ (loaded).DatabaseSync;
}

/**
 * Node 22 warns its user when this module is loaded, who cannot do anything about it. Loading takes no
 * turn of the event loop, so that no warning about anything else can fall into it.
 */
function loadBuiltIn() {
  const warn = process.emitWarning.bind(process);
  const restored = Object.getOwnPropertyDescriptor(process, "emitWarning") ?? {};
  /** @type {(...args: any[]) => void} */
  const withoutExperiments = (...args) => {
    if (args[1] !== "ExperimentalWarning") Reflect.apply(warn, process, args);
  };
  process.emitWarning = withoutExperiments;
  try {
    return process.getBuiltinModule(builtInSqlite);
  } finally {
    Object.defineProperty(process, "emitWarning", restored);
  }
}

/**
 * @param {SqliteConnection} connection
 * @param {number} lockWaitMs how long a statement waits for another process
 */
export function waitForLocks(connection, lockWaitMs) {
  connection.exec(`PRAGMA busy_timeout = ${Math.trunc(lockWaitMs)}`);
}
