import type { AuditFilter, AuditQuery, AuditRow } from "./audit-entry.ts";
import { type AuditPage, maxEntriesPerPage, toAuditRows } from "./audit-page.ts";
import type { StoreContext } from "./store-context.ts";
import { storeError } from "./store-error.ts";

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
/** Few enough that reading them is not felt by a call. */
const entriesPerRead = 4_000;
const pagesPerRead = 500;
const prunedPerWrite = 500;
/** More than there can be to do; what is left, the next time takes. */
const maxPruningWrites = 1_000;
const pruneEveryRows = 10_000;

/** What happened, in the order it was recorded, a page at a time: see `AuditQueue`. */
export class AuditLog {
  readonly #context: StoreContext;
  readonly #limits: AuditLimits;
  #savedSincePrune = pruneEveryRows;

  constructor(context: StoreContext, limits: AuditLimits = defaultAuditLimits) {
    this.#context = context;
    this.#limits = limits;
  }

  /** Newest first. */
  async query(query: AuditQuery = {}): Promise<readonly AuditRow[]> {
    const limit = Math.min(query.limit ?? 100, maxRowsPerQuery);
    const { before = Number.POSITIVE_INFINITY } = query;
    const found: AuditRow[] = [];
    const newestPage = Number.isFinite(before)
      ? Math.floor(before / maxEntriesPerPage)
      : Number.MAX_SAFE_INTEGER;
    for await (const rows of this.#pages(query, { order: "desc", from: newestPage }))
      for (const row of rows.toReversed()) {
        if (found.length >= limit) return found;
        if (row.seq < before && fits(row, query)) found.push(row);
      }
    return found;
  }

  /** Everything that fits, oldest first. Reads a little at a time, so that a long trail holds nobody up. */
  async *export(filter: AuditFilter = {}): AsyncGenerator<AuditRow, void, undefined> {
    for await (const rows of this.#pages(filter, { order: "asc", from: 0 }))
      yield* rows.filter((row) => fits(row, filter));
  }

  /** Removes what is too old or too much, a little in each transaction; gives the number of pages. */
  async prune(): Promise<number> {
    const { database, clock } = this.#context;
    const { queries } = database;
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

  async save(page: AuditPage): Promise<void> {
    const { database, logger } = this.#context;
    await database.write([database.queries.insertInto("audit").values(page)], "normal");
    this.#savedSincePrune += page.entries;
    if (this.#savedSincePrune < pruneEveryRows) return;
    this.#savedSincePrune = 0;
    await this.prune().catch((error: unknown) => {
      logger.warn("old audit entries could not be removed", { error: String(error) });
    });
  }

  /** The rows of each page that may hold what fits, beginning with page `from`. */
  async *#pages(
    { since, until }: AuditFilter,
    { order, from }: { readonly order: "asc" | "desc"; readonly from: number },
  ): AsyncGenerator<readonly AuditRow[], void, undefined> {
    const { database } = this.#context;
    const isForward = order === "asc";
    let next = from;
    for (;;) {
      let heads = database.queries
        .selectFrom("audit")
        .select(["seq", "entries"])
        .where("seq", isForward ? ">=" : "<=", next)
        .orderBy("seq", order)
        .limit(pagesPerRead);
      if (since !== undefined) heads = heads.where("last_at", ">=", since);
      if (until !== undefined) heads = heads.where("first_at", "<=", until);
      const wanted = firstOf(await database.read(heads), entriesPerRead);
      if (wanted.length === 0) return;
      const pages = await database.read(
        database.queries
          .selectFrom("audit")
          .selectAll()
          .where("seq", "in", wanted)
          .orderBy("seq", order),
      );
      for (const page of pages) {
        // In a damaged table the order may lead in circles.
        if (isForward ? page.seq < next : page.seq > next)
          throw storeError("corrupt", database.place);
        next = isForward ? page.seq + 1 : page.seq - 1;
        yield toAuditRows(page);
      }
      // Pruned meanwhile.
      if (pages.length === 0) next = isForward ? Math.max(...wanted) + 1 : Math.min(...wanted) - 1;
    }
  }
}

/** The numbers of so many pages as hold about `entries`, the first in any case. */
function firstOf(
  pages: readonly { readonly seq: number; readonly entries: number }[],
  entries: number,
): readonly number[] {
  let total = 0;
  return pages
    .filter((page, index) => {
      total += page.entries;
      return index === 0 || total <= entries;
    })
    .map(({ seq }) => seq);
}

function fits(row: AuditRow, filter: AuditFilter): boolean {
  const { since = Number.NEGATIVE_INFINITY, until = Number.POSITIVE_INFINITY } = filter;
  if (row.at < since || row.at > until) return false;
  return (["type", "agent", "server", "tool", "code"] as const).every(
    (member) => filter[member] === undefined || filter[member] === row[member],
  );
}
