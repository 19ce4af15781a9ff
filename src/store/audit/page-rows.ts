import type { Compilable, Expression, ExpressionBuilder, ExpressionWrapper } from "kysely";

import { TimeSlice } from "../../async/time-slice.ts";
import { McpError } from "../../errors/mcp-error.ts";
import type { StoreContext } from "../rows/area-writes.ts";
import type { QueryBuilder, StoreDatabase, StoreDialect } from "../tables/store-database.ts";
import { storeError } from "../tables/store-error.ts";
import type { StoreTables } from "../tables/store-tables.ts";
import type { AuditPage } from "./audit-page.ts";
import { type BinaryPage, fromBinaryPage } from "./binary-page.ts";

/** A page as the table has it: in JSON, or in binary as long as nobody has converted it. */
export interface StoredPage extends BinaryPage {
  readonly seq: number;
  readonly heads: Uint8Array | null;
  readonly lines: Uint8Array | null;
}

export interface PageRange {
  readonly order: "asc" | "desc";
  /** The number of the page to begin with. */
  readonly from: number;
  /** Pages without entries between these times are left out. */
  readonly since?: number | undefined;
  readonly until?: number | undefined;
  readonly onlyBinary?: boolean | undefined;
}

/** Few enough that reading them is not felt by a call. */
const pagesPerRead = 500;
const bytesPerRead = 512 * 1024;

export async function insertPage(database: StoreDatabase, page: AuditPage): Promise<Compilable> {
  const { dialect } = database;
  const queries = await database.queries();
  const { first_at, last_at, entries, heads, lines } = page;
  return queries.insertInto("audit").values((build) => ({
    first_at,
    last_at,
    entries,
    content: noBytes(build, dialect),
    bytes: heads.length + lines.length,
    heads: jsonFromBytes(build, dialect, heads),
    lines: jsonFromBytes(build, dialect, lines),
  }));
}

/**
 * Replaces a binary page by its JSON, under the same number. Does nothing if another process has done it. The binary
 * form of a damaged page is kept beside what could be read of it.
 */
function convertPage(queries: QueryBuilder, dialect: StoreDialect, page: StoredPage): Compilable {
  const { heads, lines, isWhole } = fromBinaryPage(page);
  return queries
    .updateTable("audit")
    .set((build) => ({
      ...(isWhole && { content: noBytes(build, dialect) }),
      bytes: heads.length + lines.length,
      heads: jsonFromBytes(build, dialect, heads),
      lines: jsonFromBytes(build, dialect, lines),
    }))
    .where("seq", "=", page.seq)
    .where("lines", "is", null);
}

/** Whether there is a page with exactly these entries. */
export async function hasPage(database: StoreDatabase, page: AuditPage): Promise<boolean> {
  const { dialect } = database;
  const queries = await database.queries();
  const { first_at, last_at, entries, heads, lines } = page;
  const same = queries
    .selectFrom("audit")
    .select("seq")
    .where("first_at", "=", first_at)
    .where("last_at", "=", last_at)
    .where("entries", "=", entries)
    .where("bytes", "=", heads.length + lines.length)
    .where((build) => build(bytesFromJson(build, dialect, build.ref("lines")), "=", lines))
    .limit(1);
  return (await database.read(same)).length > 0;
}

/** Reads the pages of a range, so many at a time as are not too much to read at once. */
export async function* readPages(
  database: StoreDatabase,
  { order, from, since, until, onlyBinary = false }: PageRange,
): AsyncGenerator<readonly StoredPage[], void, undefined> {
  const { dialect, place } = database;
  const queries = await database.queries();
  const isForward = order === "asc";
  let next = from;
  for (;;) {
    let query = queries
      .selectFrom("audit")
      .select([
        "seq",
        ({ fn }) => fn.coalesce("bytes", fn<number>("length", ["content"])).as("bytes"),
      ])
      .where("seq", isForward ? ">=" : "<=", next)
      .orderBy("seq", order)
      .limit(pagesPerRead);
    if (since !== undefined) query = query.where("last_at", ">=", since);
    if (until !== undefined) query = query.where("first_at", "<=", until);
    if (onlyBinary) query = query.where("lines", "is", null);
    const sizes = await database.read(query);
    if (sizes.length === 0) return;
    for (const { seq } of sizes) {
      // In a damaged table the order may lead in circles.
      if (isForward ? seq < next : seq > next) throw storeError("corrupt", place);
      next = isForward ? seq + 1 : seq - 1;
    }
    for (const numbers of inPortions(sizes))
      yield await database.read(
        queries
          .selectFrom("audit")
          .select(["seq", "first_at", "last_at", "entries", "content"])
          .select((build) => bytesFromJson(build, dialect, build.ref("heads")).as("heads"))
          .select((build) => bytesFromJson(build, dialect, build.ref("lines")).as("lines"))
          .where("seq", "in", numbers)
          .orderBy("seq", order),
      );
  }
}

/** The numbers of pages, so many together as are not too much to read at once. */
function* inPortions(
  sizes: readonly { readonly seq: number; readonly bytes: number }[],
): Generator<readonly number[], void, undefined> {
  let numbers: number[] = [];
  let total = 0;
  for (const { seq, bytes } of sizes) {
    if (numbers.length > 0 && total + bytes > bytesPerRead) {
      yield numbers;
      numbers = [];
      total = 0;
    }
    numbers.push(seq);
    total += bytes;
  }
  yield numbers;
}

type Builder<Table extends keyof StoreTables> = ExpressionBuilder<StoreTables, Table>;
type Wrapper<Table extends keyof StoreTables, Value> = ExpressionWrapper<StoreTables, Table, Value>;

/**
 * JSON that is given to the database as UTF-8 bytes: a page of the audit trail is never a string of this program.
 * The writer has made it storable (`toStoredJson`).
 */
function jsonFromBytes<Table extends keyof StoreTables>(
  build: Builder<Table>,
  dialect: StoreDialect,
  bytes: Uint8Array,
): Wrapper<Table, string> {
  if (dialect === "sqlite") return build.cast<string>(build.val(bytes), "text");
  const text = build.fn<string>("convert_from", [build.val(bytes), build.val("UTF8")]);
  return build.cast<string>(text, "json");
}

/** The UTF-8 bytes of a column of JSON. */
function bytesFromJson<Table extends keyof StoreTables>(
  build: Builder<Table>,
  dialect: StoreDialect,
  json: Expression<string | null>,
): Wrapper<Table, Uint8Array | null> {
  if (dialect === "sqlite") return build.cast<Uint8Array | null>(json, "blob");
  const text = build.cast<string>(json, "text");
  return build.cast(build.fn<Uint8Array | null>("convert_to", [text, build.val("UTF8")]), "bytea");
}

/** An empty value of a column of bytes. As a parameter, Node's driver of SQLite makes null of it. */
function noBytes<Table extends keyof StoreTables>(
  build: Builder<Table>,
  dialect: StoreDialect,
): Wrapper<Table, Uint8Array> {
  return build.cast<Uint8Array>(build.val(""), dialect === "sqlite" ? "blob" : "bytea");
}

/**
 * Converts the pages that version 2 of the store wrote, some at a time and each in one statement: at every moment a
 * page is there once, in one form or the other, whoever is killed and whoever else converts. Pages that cannot be
 * converted now are read as they are, and the next time takes them. Never rejects.
 */
export async function convertBinaryPages({ database, logger }: StoreContext): Promise<void> {
  try {
    const slice = new TimeSlice();
    const queries = await database.queries();
    for await (const pages of readPages(database, { order: "asc", from: 0, onlyBinary: true })) {
      const statements = [];
      for (const page of pages) {
        if (slice.isOver) await slice.next();
        statements.push(convertPage(queries, database.dialect, page));
      }
      await database.write(statements, "normal");
      logger.debug("pages of the audit trail were converted to JSON", { pages: pages.length });
    }
  } catch (error) {
    // A store that is closed meanwhile has said nothing wrong.
    if (!McpError.is(error, "closed"))
      logger.warn("pages of the audit trail could not be converted", { error: String(error) });
  }
}
