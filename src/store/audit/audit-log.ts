import { TimeSlice } from "../../async/time-slice.ts";
import type { StoreContext } from "../rows/area-writes.ts";
import { storeError } from "../tables/store-error.ts";
import type { AuditFilter, AuditQuery, AuditRow } from "./audit-entry.ts";
import { fitsFilter, wholeFilter, wholeNumber } from "./audit-filter.ts";
import { type AuditPage, maxEntriesPerPage, readAuditPage } from "./audit-page.ts";

export interface AuditLimits {
  readonly maxRows: number;
  readonly maxAgeMs: number;
}

const defaultAuditLimits: AuditLimits = {
  maxRows: 100_000,
  maxAgeMs: 90 * 24 * 60 * 60 * 1_000,
};

type AuditOrder = "asc" | "desc";
type StoredPage = AuditPage & { readonly seq: number };

/** The newest rows stay whatever their age: a clock that jumps ahead must not empty the trail. */
const neverPrunedRows = 1_000;
const maxRowsPerQuery = 1_000;
/** Few enough that reading them is not felt by a call. */
const pagesPerRead = 500;
const bytesPerRead = 512 * 1024;
const prunedPerWrite = 500;
/** More than there can be to do; what is left, the next time takes. */
const maxPruningWrites = 1_000;
const pruneEveryRows = 10_000;

/** What happened, in the order it was recorded, a page at a time: see `AuditQueue`. */
export class AuditLog {
  readonly #context: StoreContext;
  readonly #limits: AuditLimits;
  #savedSincePrune = pruneEveryRows;
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
    for await (const rows of this.#rows(wanted, { order: "asc", from: 0 }))
      yield* rows.filter((row) => fitsFilter(row, wanted));
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

  /** What failed may be tried again: no page is there twice. */
  async save(page: AuditPage): Promise<void> {
    const { database, logger } = this.#context;
    if (this.#doubtful === page && (await this.#isThere(page))) return;
    this.#doubtful = page;
    await database.write([database.queries.insertInto("audit").values(page)], "normal");
    this.#doubtful = undefined;
    this.#savedSincePrune += page.entries;
    if (this.#savedSincePrune < pruneEveryRows) return;
    this.#savedSincePrune = 0;
    await this.prune().catch((error: unknown) => {
      logger.warn("old audit entries could not be removed", { error: String(error) });
    });
  }

  /** A connection can be lost after a page was saved and before anybody was told. */
  async #isThere({ first_at, last_at, entries, content }: AuditPage): Promise<boolean> {
    const { database } = this.#context;
    const found = await database.read(
      database.queries
        .selectFrom("audit")
        .select("seq")
        .where("first_at", "=", first_at)
        .where("last_at", "=", last_at)
        .where("entries", "=", entries)
        .where("content", "=", content)
        .limit(1),
    );
    return found.length > 0;
  }

  /** The rows of each page that may hold what fits, beginning with page `from`, some at a time. */
  async *#rows(
    filter: AuditFilter,
    { order, from }: { readonly order: AuditOrder; readonly from: number },
  ): AsyncGenerator<readonly AuditRow[], void, undefined> {
    const isForward = order === "asc";
    // A file is read without ever leaving the event loop.
    const slice = new TimeSlice();
    for await (const pages of this.#pages(filter, { order, from }))
      for (const page of pages) {
        const rows: AuditRow[] = [];
        for (const row of readAuditPage(page)) {
          rows.push(row);
          if (!slice.isOver) continue;
          if (isForward) yield rows.splice(0);
          await slice.next();
        }
        yield isForward ? rows : rows.toReversed();
      }
  }

  /** Those pages, a few at a time. */
  async *#pages(
    { since, until }: AuditFilter,
    { order, from }: { readonly order: AuditOrder; readonly from: number },
  ): AsyncGenerator<readonly StoredPage[], void, undefined> {
    const { database } = this.#context;
    const isForward = order === "asc";
    let next = from;
    for (;;) {
      let query = database.queries
        .selectFrom("audit")
        .select(["seq", ({ fn }) => fn<number>("length", ["content"]).as("bytes")])
        .where("seq", isForward ? ">=" : "<=", next)
        .orderBy("seq", order)
        .limit(pagesPerRead);
      if (since !== undefined) query = query.where("last_at", ">=", since);
      if (until !== undefined) query = query.where("first_at", "<=", until);
      const heads = await database.read(query);
      if (heads.length === 0) return;
      for (const { seq } of heads) {
        // In a damaged table the order may lead in circles.
        if (isForward ? seq < next : seq > next) throw storeError("corrupt", database.place);
        next = isForward ? seq + 1 : seq - 1;
      }
      for (const numbers of inPortions(heads))
        yield await database.read(
          database.queries
            .selectFrom("audit")
            .selectAll()
            .where("seq", "in", numbers)
            .orderBy("seq", order),
        );
    }
  }
}

/** The numbers of pages, so many together as are not too much to read at once. */
function* inPortions(
  heads: readonly { readonly seq: number; readonly bytes: number }[],
): Generator<readonly number[], void, undefined> {
  let numbers: number[] = [];
  let total = 0;
  for (const { seq, bytes } of heads) {
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
