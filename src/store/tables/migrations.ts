import {
  type Compilable,
  type CreateTableBuilder,
  type Kysely,
  type RawBuilder,
  sql,
} from "kysely";

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
  { version: 5, statements: addServerFailures },
  { version: 6, statements: addLeases },
];

/** The areas of version 1; later versions add theirs. */
const firstAreas = ["servers", "approvals", "grants", "pins", "catalog", "secrets"] as const;

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

function addServerFailures(queries: QueryBuilder): readonly Compilable[] {
  const failures = schemaOf(queries)
    .createTable("server_failures")
    .addColumn("identity", "text", (column) => column.notNull())
    .addColumn("server_name", "text", (column) => column.notNull())
    .addColumn("entry", "text", (column) => column.notNull())
    .addColumn("code", "text", (column) => column.notNull())
    .addColumn("message", "text", (column) => column.notNull())
    .addColumn("failed_at", "bigint", (column) => column.notNull())
    .addPrimaryKeyConstraint("server_failures_key", ["identity", "server_name"]);
  return [failures];
}

/** Who does what only one process may do at a time: see `lease-rows.ts`. */
function addLeases(queries: QueryBuilder): readonly Compilable[] {
  return [
    schemaOf(queries)
      .createTable("leases")
      .addColumn("name", "text", (column) => column.primaryKey().notNull())
      .addColumn("holder", "text", (column) => column.notNull())
      .addColumn("beat", "bigint", (column) => column.notNull()),
  ];
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

/**
 * The view through which people read the audit trail, one row for each entry. `audit-page.ts` says what the pages
 * hold: a line whose second member is a number is a call that succeeded, and the number is the place of its head.
 * A page that is no JSON, or none yet, has no rows here.
 */
const createAuditView: Readonly<Record<StoreDialect, RawBuilder<unknown>>> = {
  // For SQLite 3.38 and newer. It has one representation of a list inside of a list: its text.
  sqlite: sql`
    CREATE VIEW audit_entries AS
    SELECT
      seq,
      strftime('%Y-%m-%dT%H:%M:%fZ', at_ms / 1000.0, 'unixepoch') AS at,
      CASE WHEN head IS NULL THEN json_extract(line, '$[1]') ELSE 'call' END AS type,
      CASE WHEN head IS NULL THEN json_extract(line, '$[2]') ELSE json_extract(head, '$[0]') END AS agent,
      CASE WHEN head IS NULL THEN json_extract(line, '$[3]') ELSE json_extract(head, '$[1]') END AS server,
      CASE WHEN head IS NULL THEN json_extract(line, '$[4]') ELSE json_extract(head, '$[2]') END AS tool,
      CASE WHEN head IS NULL THEN json_extract(line, '$[5]') ELSE 'ok' END AS code,
      json_extract(detail, '$.rule') AS rule,
      json_extract(detail, '$.consent') AS consent,
      json_extract(detail, '$.durationMs') AS duration_ms,
      json_extract(detail, '$.sideEffects') AS side_effects,
      json_extract(detail, '$.callId') AS call_id,
      json_extract(detail, '$.argumentsHash') AS arguments_hash,
      detail
    FROM (
      SELECT seq, line, head,
        coalesce(json_extract(head, '$[5]'), 0) + json_extract(line, '$[0]') AS at_ms,
        CASE WHEN head IS NULL THEN json_extract(line, '$[6]') ELSE json_object(
          'consent', json_extract(head, '$[3]'),
          'callId', CASE WHEN json_type(line, '$[4]') = 'integer' THEN json_extract(head, '$[4]') ELSE '' END
            || json_extract(line, '$[4]'),
          'durationMs', json_extract(line, '$[2]'),
          'sideEffects', CASE WHEN json_type(line, '$[5]') IS NULL THEN 'possible' ELSE 'none' END,
          'argumentsHash', json_extract(line, '$[3]')
        ) END AS detail
      FROM (
        SELECT audit.seq * 4000 + lines.key AS seq, lines.value AS line,
          CASE WHEN json_type(lines.value, '$[1]') = 'integer'
            THEN coalesce(json_extract(audit.heads, '$[' || json_extract(lines.value, '$[1]') || ']'), '[]')
          END AS head
        FROM audit
        JOIN json_each(CASE WHEN json_valid(audit.lines) THEN audit.lines ELSE '[]' END) AS lines
      )
    )`,
  // `OFFSET 0` keeps the planner from repeating an expression wherever its name is used.
  postgres: sql`
    CREATE VIEW audit_entries AS
    SELECT
      audit.seq * 4000 + lines.place - 1 AS seq,
      to_timestamp(at_ms / 1000) + at_ms % 1000 * interval '1 millisecond' AS at,
      CASE WHEN head IS NULL THEN line->>1 ELSE 'call' END AS type,
      CASE WHEN head IS NULL THEN line->>2 ELSE head->>0 END AS agent,
      CASE WHEN head IS NULL THEN line->>3 ELSE head->>1 END AS server,
      CASE WHEN head IS NULL THEN line->>4 ELSE head->>2 END AS tool,
      CASE WHEN head IS NULL THEN line->>5 ELSE 'ok' END AS code,
      detail->>'rule' AS rule,
      detail->>'consent' AS consent,
      CASE WHEN jsonb_typeof(detail->'durationMs') = 'number'
        THEN (detail->'durationMs')::double precision END AS duration_ms,
      detail->>'sideEffects' AS side_effects,
      detail->>'callId' AS call_id,
      detail->>'argumentsHash' AS arguments_hash,
      detail
    FROM audit
    CROSS JOIN LATERAL (SELECT audit.heads::jsonb AS heads OFFSET 0) AS page
    CROSS JOIN LATERAL jsonb_array_elements(audit.lines::jsonb) WITH ORDINALITY AS lines(line, place)
    CROSS JOIN LATERAL (
      SELECT CASE WHEN jsonb_typeof(line->1) = 'number'
        THEN coalesce(page.heads->((line->1)::integer), '[]')
      END AS head OFFSET 0
    ) AS heads
    CROSS JOIN LATERAL (
      SELECT coalesce((head->5)::bigint, 0) + (line->0)::bigint AS at_ms
    ) AS times
    CROSS JOIN LATERAL (
      SELECT CASE WHEN head IS NULL THEN line->6 ELSE jsonb_build_object(
        'consent', head->>3,
        'callId', CASE WHEN jsonb_typeof(line->4) = 'number' THEN head->>4 ELSE '' END || (line->>4),
        'durationMs', line->2,
        'sideEffects', CASE WHEN line->5 IS NULL THEN 'possible' ELSE 'none' END,
        'argumentsHash', line->>3
      ) END AS detail
    ) AS details`,
};
