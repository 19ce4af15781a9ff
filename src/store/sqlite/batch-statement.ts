import type { Compilable } from "kysely";

import type { MigrationStep } from "../tables/store-database.ts";
import { toStored } from "../tables/stored-text.ts";
import type { BatchStatement, BatchStep } from "./sqlite-batch.mjs";

/** A statement as SQLite's driver takes it, and as it can be sent to a thread. */
export function toBatchStatement(statement: Compilable): BatchStatement {
  const { sql, parameters } = statement.compile();
  return { sql, parameters: parameters.map(toStored) };
}

export function toBatchStep(step: MigrationStep): BatchStep {
  return { version: step.version, statements: step.statements.map(toBatchStatement) };
}
