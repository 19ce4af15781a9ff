import type { Compilable } from "kysely";

import type { MigrationStep, QueryBuilder } from "../tables/store-database.ts";
import { toStored } from "../tables/stored-text.ts";
import type { BatchStatement, BatchStep } from "./sqlite-batch.mjs";

let builder: Promise<QueryBuilder> | undefined;

/** Loads what builds statements in the SQL of SQLite; there is one for all files. */
export function sqliteQueries(): Promise<QueryBuilder> {
  builder ??= import("./sqlite-query-builder.ts").then((loaded) =>
    loaded.createSqliteQueryBuilder(),
  );
  return builder;
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
