import type { Compilable, Kysely } from "kysely";

import type { StoreTables } from "./store-tables.ts";

/** The dialect of SQL that a database speaks. */
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

/** A database of any dialect: the repositories know no other interface. */
export interface StoreDatabase {
  readonly dialect: StoreDialect;
  /** The file or address as it may be shown: without credentials. */
  readonly place: string;
  /** Loads the builder of statements when somebody first asks for it: a start that only reads needs none. */
  queries(): Promise<QueryBuilder>;
  schemaState(): Promise<SchemaState>;
  /** Applies the steps the database does not have yet, all or none of them, whoever else tries the same. */
  migrate(steps: readonly MigrationStep[]): Promise<void>;
  read<Row>(query: Compilable<Row>): Promise<readonly Row[]>;
  /**
   * Runs all statements in one transaction, after the writes that were asked for before. Returns the number
   * of rows that each statement changed.
   */
  write(statements: readonly Compilable[], durability: Durability): Promise<readonly number[]>;
  /** Calls `notify` whenever somebody may have written; the returned function ends that. */
  watch(notify: () => void): () => void;
  /**
   * Makes sure that nothing is left of what was changed and deleted before; false when others use the database so that
   * it has to be done again. A shared database does that in its own way and time.
   */
  erase(): Promise<boolean>;
  /** The complaints of an integrity check; empty for a sound database. */
  check(): Promise<readonly string[]>;
  close(): Promise<void>;
}
