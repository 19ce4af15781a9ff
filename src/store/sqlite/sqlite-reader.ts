import { statSync } from "node:fs";
import { setTimeout as delay } from "node:timers/promises";
import { pathToFileURL } from "node:url";

import type { Compilable } from "kysely";

import type { SchemaState } from "../tables/store-database.ts";
import {
  isBusy,
  sqliteCode,
  sqliteError,
  sqliteProblem,
  storeClosed,
} from "../tables/store-error.ts";
import { fromStored } from "../tables/stored-text.ts";
import { requireSqlite } from "./find-sqlite.ts";
import { readSchemaState } from "./sqlite-batch.mjs";
import { loadSqlite, type SqliteConnection, type SqliteStatement } from "./sqlite-driver.mjs";
import { toBatchStatement } from "./sqlite-statements.ts";

const maxTries = 200;
const maxStatements = 64;

/**
 * Reads one SQLite file in place: with write-ahead logging a reader waits for nobody, and a row takes
 * microseconds. The connection cannot write, so that opening a damaged file changes none of its bytes.
 */
export class SqliteReader {
  readonly #file: string;
  readonly #statements = new Map<string, SqliteStatement>();
  #connection: SqliteConnection | undefined;
  #isClosed = false;

  constructor(file: string) {
    this.#file = file;
  }

  read<Row>(query: Compilable<Row>): Promise<readonly Row[]> {
    const { sql, parameters } = toBatchStatement(query);
    return this.#perform((connection) =>
      fromStored(this.#prepare(connection, sql).all(...parameters) as Row[]),
    );
  }

  schemaState(): Promise<SchemaState> {
    return this.#perform(readSchemaState);
  }

  /** A number that changes whenever another connection, of this process or another, has written. */
  dataVersion(): Promise<number> {
    return this.#perform((connection) => {
      const row = this.#prepare(connection, "PRAGMA data_version").get() as {
        readonly data_version: number;
      };
      return row.data_version;
    });
  }

  close(): void {
    this.#isClosed = true;
    this.#statements.clear();
    this.#connection?.close();
    this.#connection = undefined;
  }

  /**
   * A reader finds the file locked in rare moments only: while the first one after a crash recovers the
   * journal, or the last one to leave clears it. It looks again soon, without holding up the event loop.
   */
  async #perform<T>(task: (connection: SqliteConnection) => T): Promise<T> {
    for (let tries = 1; ; tries += 1) {
      if (this.#isClosed) throw storeClosed(this.#file);
      try {
        this.#connection ??= openForReading(this.#file);
        return task(this.#connection);
      } catch (error) {
        if (!isBusy(error) || tries >= maxTries) throw sqliteError(error, this.#file);
        await delay(5 + Math.random() * 45);
      }
    }
  }

  #prepare(connection: SqliteConnection, sql: string): SqliteStatement {
    const known = this.#statements.get(sql);
    if (known !== undefined) return known;
    if (this.#statements.size >= maxStatements) this.#statements.clear();
    const statement = connection.prepare(sql);
    this.#statements.set(sql, statement);
    return statement;
  }
}

function openForReading(file: string): SqliteConnection {
  const DatabaseSync = loadSqlite(requireSqlite(file));
  const connection = new DatabaseSync(file, { readOnly: true });
  try {
    readSchemaState(connection);
    return connection;
  } catch (error) {
    connection.close();
    const problem = sqliteProblem(sqliteCode(error));
    const lacksJournal = problem === "cannot-open" || problem === "read-only";
    const journal = statSync(`${file}-wal`, { throwIfNoEntry: false });
    if (!lacksJournal || (journal?.size ?? 0) > 0) throw error;
    // In a folder where no journal can be made there is no writer either: the file may be read as it is.
    return new DatabaseSync(`${pathToFileURL(file).href}?immutable=1`, { readOnly: true });
  }
}
