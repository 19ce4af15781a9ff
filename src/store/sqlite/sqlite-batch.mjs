// @ts-check
// Plain JavaScript, because a thread of Node 20 cannot load TypeScript and this runs in one.

/** @typedef {import("./sqlite-driver.mjs").SqliteConnection} Connection */
/** @typedef {{ readonly sql: string, readonly parameters: readonly unknown[] }} BatchStatement */
/** @typedef {{ readonly version: number, readonly statements: readonly BatchStatement[] }} BatchStep */
/** @typedef {"full" | "normal"} BatchDurability */

/**
 * Runs all statements as one transaction, or none. Gives the number of rows each one changed.
 * @param {Connection} connection
 * @param {readonly BatchStatement[]} statements
 * @param {BatchDurability} durability
 * @returns {number[]}
 */
export function runBatch(connection, statements, durability) {
  connection.exec(`PRAGMA synchronous = ${durability === "full" ? "FULL" : "NORMAL"}`);
  return inTransaction(connection, () => statements.map((one) => run(connection, one)));
}

/**
 * Applies the steps whose version the database does not have yet. The version is read inside of the
 * transaction: of several processes that find an old store, one changes it and the others see that.
 * @param {Connection} connection
 * @param {readonly BatchStep[]} steps
 * @returns {void}
 */
export function runMigration(connection, steps) {
  connection.exec("PRAGMA synchronous = FULL");
  inTransaction(connection, () => {
    const { version } = readSchemaState(connection);
    for (const step of steps) {
      if (step.version <= version) continue;
      for (const statement of step.statements) run(connection, statement);
      connection.exec(`PRAGMA user_version = ${Math.trunc(step.version)}`);
    }
  });
}

/**
 * @param {Connection} connection
 * @returns {{ version: number, isEmpty: boolean }}
 */
export function readSchemaState(connection) {
  const { user_version } = /** @type {{ user_version: number }} */ (
    connection.prepare("PRAGMA user_version").get()
  );
  const { tables } = /** @type {{ tables: number }} */ (
    connection.prepare("SELECT count(*) AS tables FROM sqlite_master").get()
  );
  return { version: user_version, isEmpty: tables === 0 };
}

/**
 * What the integrity check complains about.
 * @param {Connection} connection
 * @returns {string[]}
 */
export function runCheck(connection) {
  const rows = /** @type {{ integrity_check: string }[]} */ (
    connection.prepare("PRAGMA integrity_check").all()
  );
  return rows.map((row) => row.integrity_check).filter((text) => text !== "ok");
}

/**
 * Writes the whole file anew, without what was deleted, and empties its journal. Returns whether that is done: a reader
 * keeps the journal as it is.
 * @param {Connection} connection
 * @returns {boolean}
 */
export function runErasure(connection) {
  connection.exec("PRAGMA synchronous = FULL");
  connection.exec("VACUUM");
  const result = /** @type {{ busy: number } | undefined} */ (
    connection.prepare("PRAGMA wal_checkpoint(TRUNCATE)").get()
  );
  return result?.busy === 0;
}

/**
 * @param {Connection} connection
 * @param {BatchStatement} statement
 */
function run(connection, { sql, parameters }) {
  return Number(connection.prepare(sql).run(...parameters).changes);
}

/**
 * @template T
 * @param {Connection} connection
 * @param {() => T} task
 * @returns {T}
 */
function inTransaction(connection, task) {
  // Immediate: waiting for the lock happens here, where nothing has been read that could be stale.
  connection.exec("BEGIN IMMEDIATE");
  try {
    const result = task();
    connection.exec("COMMIT");
    return result;
  } catch (error) {
    rollBack(connection);
    throw error;
  }
}

/** @param {Connection} connection */
function rollBack(connection) {
  try {
    connection.exec("ROLLBACK");
  } catch {
    // A full disk makes SQLite roll back by itself: there is no transaction any more.
  }
}
