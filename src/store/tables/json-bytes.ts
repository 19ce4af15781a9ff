import type { Expression, ExpressionBuilder, ExpressionWrapper } from "kysely";

import type { StoreDialect } from "./store-database.ts";
import type { StoreTables } from "./store-tables.ts";

type Builder<Table extends keyof StoreTables> = ExpressionBuilder<StoreTables, Table>;
type Wrapper<Table extends keyof StoreTables, Value> = ExpressionWrapper<StoreTables, Table, Value>;

/**
 * JSON that is given to the database as UTF-8 bytes: a page of the audit trail is never a string of this program.
 * The writer has made it storable (`toStoredJson`).
 */
export function jsonFromBytes<Table extends keyof StoreTables>(
  build: Builder<Table>,
  dialect: StoreDialect,
  bytes: Uint8Array,
): Wrapper<Table, string> {
  if (dialect === "sqlite") return build.cast<string>(build.val(bytes), "text");
  const text = build.fn<string>("convert_from", [build.val(bytes), build.val("UTF8")]);
  return build.cast<string>(text, "json");
}

/** The UTF-8 bytes of a column of JSON. */
export function bytesFromJson<Table extends keyof StoreTables>(
  build: Builder<Table>,
  dialect: StoreDialect,
  json: Expression<string | null>,
): Wrapper<Table, Uint8Array | null> {
  if (dialect === "sqlite") return build.cast<Uint8Array | null>(json, "blob");
  const text = build.cast<string>(json, "text");
  return build.cast(build.fn<Uint8Array | null>("convert_to", [text, build.val("UTF8")]), "bytea");
}

/** An empty value of a column of bytes. As a parameter, Node's driver of SQLite makes null of it. */
export function noBytes<Table extends keyof StoreTables>(
  build: Builder<Table>,
  dialect: StoreDialect,
): Wrapper<Table, Uint8Array> {
  return build.cast<Uint8Array>(build.val(""), dialect === "sqlite" ? "blob" : "bytea");
}
