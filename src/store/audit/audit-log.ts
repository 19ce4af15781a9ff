import { TimeSlice } from "../../async/time-slice.ts";
import { createError } from "../../errors/families.ts";
import type { StoreContext } from "../rows/area-writes.ts";
import { plainQuery } from "../tables/plain-query.ts";
import type { AuditFilter, AuditQuery, AuditRow } from "./audit-entry.ts";
import { type AuditPage, maxEntriesPerPage, readAuditPage } from "./audit-page.ts";
import { fromBinaryPage } from "./binary-page.ts";
import {
  type StoredPage,
  convertBinaryPages,
  hasPage,
  insertPage,
  readPages,
} from "./page-rows.ts";

export interface AuditLimits {
  readonly maxRows: number;
  readonly maxAgeMs: number;
}

const defaultAuditLimits: AuditLimits = {
  maxRows: 100_000,
  maxAgeMs: 90 * 24 * 60 * 60 * 1_000,
};

/** The newest rows stay whatever their age: a clock that jumps ahead must not empty the trail. */
const neverPrunedRows = 1_000;
const maxRowsPerQuery = 1_000;
const prunedPerWrite = 500;
/** More than there can be to do; what is left, the next time takes. */
const maxPruningWrites = 1_000;
const tidyEveryRows = 10_000;

/** What happened, in the order it was recorded, a page at a time: see `AuditQueue`. */
export class AuditLog {
  readonly #context: StoreContext;
  readonly #limits: AuditLimits;
  #savedSinceTidy = tidyEveryRows;
  #converting: Promise<void> | undefined;
  /** A page that could not be saved, as far as anyone can tell. */
  #doubtful: AuditPage | undefined;

  constructor(context: StoreContext, limits: AuditLimits = defaultAuditLimits) {
    this.#context = context;
    this.#limits = limits;
  }

  /** Newest first. */
  async query(query: AuditQuery = {}): Promise<readonly AuditRow[]> {
    const filter = wholeFilter(query);
    const limit = Math.min(wholeNumber("limit", query.limit ?? 100, Math.floor), maxRowsPerQuery);
    const before = wholeNumber("before", query.before ?? Number.MAX_SAFE_INTEGER, Math.ceil);
    const found: AuditRow[] = [];
    const from = Math.floor(before / maxEntriesPerPage);
    for await (const rows of this.#rows(filter, { order: "desc", from }))
      for (const row of rows) {
        if (found.length >= limit) return found;
        if (row.seq < before && fitsFilter(row, filter)) found.push(row);
      }
    return found;
  }

  /** Everything that fits, oldest first. Reads a little at a time, so that a long trail holds nobody up. */
  async *export(filter: AuditFilter = {}): AsyncGenerator<AuditRow, void, undefined> {
    const wanted = wholeFilter(filter);
    const from = Math.max(0, Math.floor((wanted.after ?? 0) / maxEntriesPerPage));
    for await (const rows of this.#rows(wanted, { order: "asc", from }))
      yield* rows.filter((row) => fitsFilter(row, wanted));
  }

  /** The highest number that an entry can have which is there now; -1 when there is none. Costs next to nothing. */
  async end(): Promise<number> {
    const { database } = this.#context;
    const newest = "select max(seq) as seq from audit";
    const [page] = await database.read(
      plainQuery<{ readonly seq: number | null }>(database.dialect, newest),
    );
    return page?.seq == null ? -1 : (page.seq + 1) * maxEntriesPerPage - 1;
  }

  /** Removes what is too old or too much, a little in each transaction; gives the number of pages. */
  async prune(): Promise<number> {
    const { database, clock } = this.#context;
    const queries = await database.queries();
    const tooOld = clock.now() - this.#limits.maxAgeMs;
    // `total`: the entries of a page and of all newer ones.
    const pages = queries
      .selectFrom("audit")
      .select(["seq", "last_at", "entries"])
      .select(({ fn }) =>
        fn
          .sum<number>("entries")
          .over((window) => window.orderBy("seq", "desc"))
          .as("total"),
      )
      .as("pages");
    const doomed = queries
      .selectFrom(pages)
      .select("seq")
      .where((page) =>
        page.or([
          page("total", ">", this.#limits.maxRows),
          page.and([
            page(page("total", "-", page.ref("entries")), ">=", neverPrunedRows),
            page("last_at", "<", tooOld),
          ]),
        ]),
      )
      .orderBy("seq")
      .limit(prunedPerWrite);
    const statement = queries.deleteFrom("audit").where("seq", "in", doomed);
    let total = 0;
    for (let writes = 0; writes < maxPruningWrites; writes += 1) {
      const [pruned = 0] = await database.write([statement], "normal");
      total += pruned;
      if (pruned < prunedPerWrite) break;
    }
    return total;
  }

  /** What failed may be tried again: no page is there twice. */
  async save(page: AuditPage): Promise<void> {
    const { database, logger } = this.#context;
    // A connection can be lost after a page was saved and before anybody was told.
    if (this.#doubtful === page && (await hasPage(database, page))) return;
    this.#doubtful = page;
    await database.write([await insertPage(database, page)], "normal");
    this.#doubtful = undefined;
    this.#savedSinceTidy += page.entries;
    if (this.#savedSinceTidy < tidyEveryRows) return;
    this.#savedSinceTidy = 0;
    void this.convert();
    await this.prune().catch((error: unknown) => {
      logger.warn("old audit entries could not be removed", { error: String(error) });
    });
  }

  /** Converts the pages of version 2 that are left, once for all who ask meanwhile. Never rejects. */
  convert(): Promise<void> {
    this.#converting ??= convertBinaryPages(this.#context).finally(() => {
      this.#converting = undefined;
    });
    return this.#converting;
  }

  /** The rows of each page that may hold what fits, beginning with page `from`, some at a time. */
  async *#rows(
    { since, until }: AuditFilter,
    { order, from }: { readonly order: "asc" | "desc"; readonly from: number },
  ): AsyncGenerator<readonly AuditRow[], void, undefined> {
    const isForward = order === "asc";
    // A file is read without ever leaving the event loop.
    const slice = new TimeSlice();
    for await (const pages of readPages(this.#context.database, { order, from, since, until }))
      for (const page of pages) {
        const rows: AuditRow[] = [];
        for (const row of rowsOf(page)) {
          rows.push(row);
          if (!slice.isOver) continue;
          if (isForward) yield rows.splice(0);
          await slice.next();
        }
        yield isForward ? rows : rows.toReversed();
      }
  }
}

function rowsOf(page: StoredPage): Iterable<AuditRow> {
  const { seq, heads, lines } = page;
  if (heads === null || lines === null) return readAuditPage({ seq, ...fromBinaryPage(page) });
  return readAuditPage({ seq, heads, lines });
}

/** The filter in whole milliseconds, which is what entries have and all that Postgres takes. */
function wholeFilter(filter: AuditFilter): AuditFilter {
  const { since, until, type, agent, server, tool, code, outcome, after } = filter;
  return {
    since: since === undefined ? undefined : wholeNumber("since", since, Math.ceil),
    until: until === undefined ? undefined : wholeNumber("until", until, Math.floor),
    type,
    agent,
    server,
    tool,
    code,
    outcome,
    after: after === undefined ? undefined : wholeNumber("after", after, Math.floor),
  };
}

/** Also of an infinite one, as far as it can be told. Throws for what is no number: a date that makes no sense. */
function wholeNumber(
  name: "since" | "until" | "limit" | "before" | "after",
  value: number,
  round: (value: number) => number,
): number {
  if (typeof value !== "number" || Number.isNaN(value))
    throw createError("config_invalid", `"${name}" of a query of the audit trail is no number`);
  return Math.min(Math.max(round(value), Number.MIN_SAFE_INTEGER), Number.MAX_SAFE_INTEGER);
}

function fitsFilter(row: AuditRow, filter: AuditFilter): boolean {
  const { since = Number.NEGATIVE_INFINITY, until = Number.POSITIVE_INFINITY } = filter;
  if (row.at < since || row.at > until) return false;
  if (filter.after !== undefined && row.seq <= filter.after) return false;
  if (filter.outcome !== undefined && outcomeOf(row) !== filter.outcome) return false;
  return (["type", "agent", "server", "tool", "code"] as const).every(
    (member) => filter[member] === undefined || filter[member] === row[member],
  );
}

/** Decisions have codes of their own, which are no failures. */
function outcomeOf({ type, code }: AuditRow): "ok" | "failed" | undefined {
  if (code === "ok") return "ok";
  return type === "call" || type === "content" ? "failed" : undefined;
}
