import type { Compilable } from "kysely";

import type { StoreDialect } from "./store-database.ts";

/**
 * A query that is written out, with `?` for each parameter. What every start reads is asked for in this way: the query
 * builder is larger than the rest of the store, and takes longer to load than all of these queries take together.
 */
export function plainQuery<Row>(
  dialect: StoreDialect,
  text: string,
  parameters: readonly unknown[] = [],
): Compilable<Row> {
  let count = 0;
  const sql = dialect === "sqlite" ? text : text.replaceAll("?", () => `$${(count += 1)}`);
  // Whoever runs a query takes nothing else of what the builder compiles.
  return { compile: () => ({ sql, parameters }) } as unknown as Compilable<Row>;
}

/** Marks for so many parameters, as they stand in a list of SQL. */
export function marksFor(parameters: readonly unknown[]): string {
  return parameters.map(() => "?").join(", ");
}
