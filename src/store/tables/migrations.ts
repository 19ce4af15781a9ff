import {
  type Compilable,
  type CreateTableBuilder,
  type Kysely,
  type RawBuilder,
  sql,
} from "kysely";

import { createAuditView } from "./audit-view.ts";
import type { MigrationStep, QueryBuilder, StoreDialect } from "./store-database.ts";

interface Migration {
  readonly version: number;
  readonly statements: (queries: QueryBuilder, dialect: StoreDialect) => readonly Compilable[];
}

/**
 * Released versions are never edited: a change is a new version at the end, and it adds. Statements only,
 * no code between them, so that a step is one transaction that either happened or did not. What takes code to
 * convert stays readable as it was, and is converted after the step, a little at a time.
 */
const migrations: readonly Migration[] = [
  { version: 1, statements: createFirstTables },
  { version: 2, statements: keepAuditInPages },
  { version: 3, statements: keepAuditAsJson },
  { version: 4, statements: addConnectRequests },
];

/** The areas of version 1; later versions add theirs. */
const firstAreas = ["servers", "approvals", "grants", "pins", "catalog", "secrets"] as const;

export const latestVersion = Math.max(...migrations.map(({ version }) => version));

export function migrationSteps(
  queries: QueryBuilder,
  dialect: StoreDialect,
): readonly MigrationStep[] {
  return migrations.map(({ version, statements }) => ({
    version,
    statements: statements(queries, dialect),
  }));
}

function createFirstTables(queries: QueryBuilder, dialect: StoreDialect): readonly Compilable[] {
  const schema = schemaOf(queries);
  // `json` keeps the text as it was written, which `jsonb` does not.
  const json = sql`JSON`;
  const mcpServers = schema
    .createTable("mcp_servers")
    .addColumn("id", "text", (column) => column.primaryKey().notNull())
    .addColumn("name", "text", (column) => column.notNull())
    .addColumn("config", json, (column) => column.notNull())
    .addColumn("status", "text", (column) => column.notNull());
  const approvals = schema
    .createTable("approvals")
    .addColumn("identity", "text", (column) => column.primaryKey().notNull())
    .addColumn("server_name", "text", (column) => column.notNull())
    .addColumn("facts", json, (column) => column.notNull())
    .addColumn("approved_at", "bigint", (column) => column.notNull())
    .addColumn("approved_by", "text", (column) => column.notNull());
  const grants = schema
    .createTable("grants")
    .addColumn("agent", "text", (column) => column.notNull())
    .addColumn("identity", "text", (column) => column.notNull())
    .addColumn("tool", "text", (column) => column.notNull())
    .addColumn("definition_hash", "text", (column) => column.notNull())
    .addColumn("granted_at", "bigint", (column) => column.notNull())
    .addColumn("expires_at", "bigint")
    .addPrimaryKeyConstraint("grants_key", ["agent", "identity", "tool"]);
  const pins = schema
    .createTable("pins")
    .addColumn("identity", "text", (column) => column.notNull())
    .addColumn("tool", "text", (column) => column.notNull())
    .addColumn("state", "text", (column) => column.notNull())
    .addColumn("fingerprint", "text", (column) => column.notNull())
    .addColumn("definition", json)
    .addColumn("pinned_at", "bigint", (column) => column.notNull())
    .addPrimaryKeyConstraint("pins_key", ["identity", "tool", "state"]);
  const catalog = schema
    .createTable("catalog")
    .addColumn("identity", "text", (column) => column.primaryKey().notNull())
    .addColumn("content", json, (column) => column.notNull())
    .addColumn("saved_at", "bigint", (column) => column.notNull());
  const secrets = schema
    .createTable("secrets")
    .addColumn("id", "text", (column) => column.primaryKey().notNull())
    .addColumn("envelope", "text", (column) => column.notNull())
    .addColumn("updated_at", "bigint", (column) => column.notNull());
  const audit = withSequence(schema.createTable("audit"), dialect)
    .addColumn("at", "bigint", (column) => column.notNull())
    .addColumn("type", "text", (column) => column.notNull())
    .addColumn("agent", "text")
    .addColumn("server", "text")
    .addColumn("tool", "text")
    .addColumn("code", "text")
    .addColumn("detail", json, (column) => column.notNull());
  const revisions = schema
    .createTable("revisions")
    .addColumn("area", "text", (column) => column.primaryKey().notNull())
    .addColumn("revision", "bigint", (column) => column.notNull());
  return [
    mcpServers,
    approvals,
    grants,
    pins,
    catalog,
    secrets,
    audit,
    revisions,
    queries.insertInto("revisions").values(firstAreas.map((area) => ({ area, revision: 0 }))),
    ...(dialect === "postgres" ? notifyOfRevisions(queries) : []),
  ];
}

/** The first table of the trail had a row for each entry, and nothing was ever written to it. */
function keepAuditInPages(queries: QueryBuilder, dialect: StoreDialect): readonly Compilable[] {
  const schema = schemaOf(queries);
  const audit = withSequence(schema.createTable("audit"), dialect)
    .addColumn("first_at", "bigint", (column) => column.notNull())
    .addColumn("last_at", "bigint", (column) => column.notNull())
    .addColumn("entries", "integer", (column) => column.notNull())
    .addColumn("content", dialect === "sqlite" ? "blob" : "bytea", (column) => column.notNull());
  return [schema.dropTable("audit"), audit];
}

/**
 * Pages of version 2 stay where they are and are converted one by one, by code: see `convertBinaryPages`. A program
 * that still has the store open as version 2 goes on writing such pages, and sees empty pages in place of new ones.
 */
function keepAuditAsJson(queries: QueryBuilder, dialect: StoreDialect): readonly Compilable[] {
  const schema = schemaOf(queries);
  // SQLite adds one column at a time.
  const columns = [
    schema.alterTable("audit").addColumn("bytes", "integer"),
    schema.alterTable("audit").addColumn("heads", "json"),
    schema.alterTable("audit").addColumn("lines", "json"),
  ];
  const binaryPages = schema
    .createIndex("audit_binary")
    .on("audit")
    .column("seq")
    .where(sql.ref("lines"), "is", null);
  return [...columns, binaryPages, asStatement(createAuditView[dialect], queries)];
}

function addConnectRequests(queries: QueryBuilder): readonly Compilable[] {
  const requests = schemaOf(queries)
    .createTable("connect_requests")
    .addColumn("identity", "text", (column) => column.notNull())
    .addColumn("server_name", "text", (column) => column.notNull())
    .addColumn("id", "text", (column) => column.notNull())
    .addColumn("content", sql`JSON`, (column) => column.notNull())
    .addColumn("requested_at", "bigint", (column) => column.notNull())
    .addPrimaryKeyConstraint("connect_requests_key", ["identity", "server_name"]);
  const area = { area: "connect-requests", revision: 0 };
  return [requests, queries.insertInto("revisions").values(area)];
}

/** Tables are made by name: the types describe the latest version only. */
function schemaOf(queries: QueryBuilder) {
  return (queries as unknown as Kysely<Record<string, Record<string, unknown>>>).schema;
}

/** Numbers that are never given twice, also after the newest rows are gone. */
function withSequence<Table extends string>(
  table: CreateTableBuilder<Table>,
  dialect: StoreDialect,
): CreateTableBuilder<Table, "seq"> {
  return dialect === "sqlite"
    ? table.addColumn("seq", "integer", (column) => column.primaryKey().autoIncrement())
    : table.addColumn("seq", "bigserial", (column) => column.primaryKey());
}

/** Other machines hear of a change when it is committed, and not by asking again and again. */
function notifyOfRevisions(queries: QueryBuilder): readonly Compilable[] {
  return [
    sql`CREATE FUNCTION plugboard_notify() RETURNS trigger LANGUAGE plpgsql AS
      $$ BEGIN PERFORM pg_notify('plugboard_changes', NEW.area); RETURN NULL; END $$`,
    sql`CREATE TRIGGER plugboard_notify AFTER UPDATE ON revisions
      FOR EACH ROW EXECUTE FUNCTION plugboard_notify()`,
  ].map((statement) => asStatement(statement, queries));
}

function asStatement(statement: RawBuilder<unknown>, queries: QueryBuilder): Compilable {
  return { compile: () => statement.compile(queries) };
}
