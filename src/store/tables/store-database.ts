import type { Compilable, Kysely } from "kysely";

import type { StoreTables } from "./store-tables.ts";

/** What the repositories are written against; the two dialects of SQL are two implementations. */
export type StoreDialect = "sqlite" | "postgres";

/**
 * `full`: on the disk when the promise resolves, also after a power cut. `normal`: survives the end of
 * the process, but a power cut may take the last moments.
 */
export type Durability = "full" | "normal";

/** Builds statements only. Running one goes through `read` and `write` of the database. */
export type QueryBuilder = Kysely<StoreTables>;

export interface MigrationStep {
  readonly version: number;
  readonly statements: readonly Compilable[];
}

export interface SchemaState {
  readonly version: number;
  /** Whether there is any table at all; a version 0 that is not empty belongs to another program. */
  readonly isEmpty: boolean;
}

export interface StoreDatabase {
  readonly dialect: StoreDialect;
  readonly queries: QueryBuilder;
  /** The file or address as it may be shown: without credentials. */
  readonly place: string;
  schemaState(): Promise<SchemaState>;
  /** Applies the steps the database does not have yet, all or none of them, whoever else tries the same. */
  migrate(steps: readonly MigrationStep[]): Promise<void>;
  read<Row>(query: Compilable<Row>): Promise<readonly Row[]>;
  /**
   * One transaction: all statements or none, after what was asked to be written before. Gives the number
   * of rows each one changed.
   */
  write(statements: readonly Compilable[], durability: Durability): Promise<readonly number[]>;
  /** Calls back whenever somebody may have written; the returned function ends that. */
  watch(notify: () => void): () => void;
  /** What an integrity check complains about. */
  check(): Promise<readonly string[]>;
  close(): Promise<void>;
}
