import type { Compilable } from "kysely";

import type { Clock, Timer } from "../../ports/clock.ts";
import type {
  Durability,
  MigrationStep,
  QueryBuilder,
  SchemaState,
  StoreDatabase,
} from "../tables/store-database.ts";
import { ensurePrivateFile } from "./private-file.ts";
import { SqliteReader } from "./sqlite-reader.ts";
import { sqliteQueries } from "./sqlite-statements.ts";
import { SqliteWriter, type SqliteWriterOptions } from "./sqlite-writer.ts";

/** How soon an edit of another process is noticed; looking costs microseconds. */
const watchIntervalMs = 250;

export interface SqliteFileOptions extends SqliteWriterOptions {
  readonly clock: Clock;
}

/** A SQLite file that many processes share: reads in place, writes in a thread. */
export class SqliteFileDatabase implements StoreDatabase {
  readonly dialect = "sqlite";
  readonly place: string;
  readonly #clock: Clock;
  readonly #reader: SqliteReader;
  readonly #writer: SqliteWriter;
  #builder: Promise<QueryBuilder> | undefined;

  private constructor(file: string, options: SqliteFileOptions) {
    this.place = file;
    this.#clock = options.clock;
    this.#reader = new SqliteReader(file);
    this.#writer = new SqliteWriter(file, options);
  }

  static async open(file: string, options: SqliteFileOptions): Promise<SqliteFileDatabase> {
    await ensurePrivateFile(file);
    return new SqliteFileDatabase(file, options);
  }

  queries(): Promise<QueryBuilder> {
    this.#builder ??= sqliteQueries();
    return this.#builder;
  }

  schemaState(): Promise<SchemaState> {
    return this.#reader.schemaState();
  }

  migrate(steps: readonly MigrationStep[]): Promise<void> {
    return this.#writer.migrate(steps);
  }

  read<Row>(query: Compilable<Row>): Promise<readonly Row[]> {
    return this.#reader.read(query);
  }

  write(statements: readonly Compilable[], durability: Durability): Promise<readonly number[]> {
    return this.#writer.write(statements, durability);
  }

  watch(notify: () => void): () => void {
    let timer: Timer | undefined;
    let isOver = false;
    let seen: number | undefined;
    const look = async (): Promise<void> => {
      // A failure is told to whoever reads or writes next.
      const version = await this.#reader.dataVersion().catch(() => seen);
      if (isOver) return;
      if (version !== seen) notify();
      seen = version;
      timer = this.#clock.schedule(watchIntervalMs, () => void look());
    };
    void look();
    return () => {
      isOver = true;
      timer?.cancel();
    };
  }

  erase(): Promise<boolean> {
    return this.#writer.erase();
  }

  check(): Promise<readonly string[]> {
    return this.#writer.check();
  }

  async close(): Promise<void> {
    // Whoever waits for the builder has asked before.
    if (this.#builder !== undefined) await this.#builder;
    this.#reader.close();
    await this.#writer.close();
  }
}
