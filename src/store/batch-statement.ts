import type { Compilable } from "kysely";

import type { BatchStatement, BatchStep } from "./sqlite-batch.mjs";
import type { MigrationStep } from "./store-database.ts";
import { toStored } from "./stored-text.ts";

/** A statement as SQLite's driver takes it, and as it can be sent to a thread. */
export function toBatchStatement(statement: Compilable): BatchStatement {
  const { sql, parameters } = statement.compile();
  return { sql, parameters: parameters.map(toStored) };
}

export function toBatchStep(step: MigrationStep): BatchStep {
  return { version: step.version, statements: step.statements.map(toBatchStatement) };
}
