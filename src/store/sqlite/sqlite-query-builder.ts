import { SqliteAdapter, SqliteIntrospector, SqliteQueryCompiler } from "kysely";

import { createQueryBuilder } from "../tables/query-builder.ts";
import type { QueryBuilder } from "../tables/store-database.ts";

/** Builds statements in the SQL of SQLite. */
export function createSqliteQueryBuilder(): QueryBuilder {
  return createQueryBuilder({
    createAdapter: () => new SqliteAdapter(),
    createIntrospector: (queries) => new SqliteIntrospector(queries),
    createQueryCompiler: () => new SqliteQueryCompiler(),
  });
}
