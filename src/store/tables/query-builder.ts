import { type DatabaseConnection, type Dialect, DummyDriver, Kysely } from "kysely";

import type { QueryBuilder } from "./store-database.ts";
import type { StoreTables } from "./store-tables.ts";

/** A transaction must not stay open while this process does something else, so Kysely itself runs nothing. */
class BuildingOnly extends DummyDriver {
  override acquireConnection(): Promise<DatabaseConnection> {
    return Promise.reject(new Error("statements are run by the database, not by the builder"));
  }
}

/** Builds statements in the SQL of `dialect`. */
export function createQueryBuilder(dialect: Omit<Dialect, "createDriver">): QueryBuilder {
  return new Kysely<StoreTables>({
    dialect: { ...dialect, createDriver: () => new BuildingOnly() },
  });
}
