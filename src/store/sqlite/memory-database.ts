import type { Compilable } from "kysely";

import type {
  Durability,
  MigrationStep,
  QueryBuilder,
  SchemaState,
  StoreDatabase,
} from "../tables/store-database.ts";
import { sqliteError, storeClosed } from "../tables/store-error.ts";
import { memoryLocation } from "../tables/store-location.ts";
import { fromStored } from "../tables/stored-text.ts";
import { requireSqlite } from "./find-sqlite.ts";
import { readSchemaState, runBatch, runCheck, runMigration } from "./sqlite-batch.mjs";
import { loadSqlite, type SqliteConnection } from "./sqlite-driver.mjs";
import { sqliteQueries, toBatchStatement, toBatchStep } from "./sqlite-statements.ts";

/** A store that ends with its process: no file, no lock and no disk to wait for, hence no thread. */
export class MemoryDatabase implements StoreDatabase {
  readonly dialect = "sqlite";
  readonly place = memoryLocation;
  readonly #connection: SqliteConnection;
  #isClosed = false;
  #builder: Promise<QueryBuilder> | undefined;

  constructor() {
    const DatabaseSync = loadSqlite(requireSqlite(memoryLocation));
    this.#connection = new DatabaseSync(memoryLocation);
  }

  queries(): Promise<QueryBuilder> {
    this.#builder ??= sqliteQueries();
    return this.#builder;
  }

  async schemaState(): Promise<SchemaState> {
    return this.#perform(() => readSchemaState(this.#connection));
  }

  async migrate(steps: readonly MigrationStep[]): Promise<void> {
    this.#perform(() => runMigration(this.#connection, steps.map(toBatchStep)));
  }

  async read<Row>(query: Compilable<Row>): Promise<readonly Row[]> {
    const { sql, parameters } = toBatchStatement(query);
    return this.#perform(() =>
      fromStored(this.#connection.prepare(sql).all(...parameters) as Row[]),
    );
  }

  async write(
    statements: readonly Compilable[],
    durability: Durability,
  ): Promise<readonly number[]> {
    const batch = statements.map(toBatchStatement);
    return this.#perform(() => runBatch(this.#connection, batch, durability));
  }

  /** Nobody else can write here. */
  watch(): () => void {
    return () => {};
  }

  /** Nothing of it is ever on a disk. */
  async erase(): Promise<boolean> {
    return true;
  }

  async check(): Promise<readonly string[]> {
    return this.#perform(() => runCheck(this.#connection));
  }

  async close(): Promise<void> {
    // Whoever waits for the builder has asked before.
    if (this.#builder !== undefined) await this.#builder;
    if (this.#isClosed) return;
    this.#isClosed = true;
    this.#connection.close();
  }

  #perform<T>(task: () => T): T {
    if (this.#isClosed) throw storeClosed(this.place);
    try {
      return task();
    } catch (error) {
      throw sqliteError(error, this.place);
    }
  }
}
