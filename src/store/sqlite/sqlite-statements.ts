import { type Compilable, SqliteAdapter, SqliteIntrospector, SqliteQueryCompiler } from "kysely";

import {
  createQueryBuilder,
  type MigrationStep,
  type QueryBuilder,
} from "../tables/store-database.ts";
import { toStored } from "../tables/stored-text.ts";
import type { BatchStatement, BatchStep } from "./sqlite-batch.mjs";

/** Builds statements in the SQL of SQLite. */
export function createSqliteQueryBuilder(): QueryBuilder {
  return createQueryBuilder({
    createAdapter: () => new SqliteAdapter(),
    createIntrospector: (queries) => new SqliteIntrospector(queries),
    createQueryCompiler: () => new SqliteQueryCompiler(),
  });
}

/** Compiles a statement into plain data, which SQLite's driver takes and which can be sent to a thread. */
export function toBatchStatement(statement: Compilable): BatchStatement {
  const { sql, parameters } = statement.compile();
  return { sql, parameters: parameters.map(toStored) };
}

/** Compiles the statements of a migration step into plain data. */
export function toBatchStep(step: MigrationStep): BatchStep {
  return { version: step.version, statements: step.statements.map(toBatchStatement) };
}
