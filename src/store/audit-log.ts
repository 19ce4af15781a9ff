import { type AuditColumns, toAuditColumns, toAuditRow } from "./audit-columns.ts";
import type { AuditEntry, AuditFilter, AuditRow } from "./audit-entry.ts";
import { AuditQueue } from "./audit-queue.ts";
import type { StoreContext } from "./store-context.ts";
import { storeError } from "./store-error.ts";

export interface AuditLimits {
  readonly maxRows: number;
  readonly maxAgeMs: number;
}

export interface AuditQuery extends AuditFilter {
  /** 100 by default, 1,000 at most. */
  readonly limit?: number | undefined;
  /** Only rows before this one: the `seq` of the last row of the page before. */
  readonly before?: number | undefined;
}

const defaultAuditLimits: AuditLimits = {
  maxRows: 100_000,
  maxAgeMs: 90 * 24 * 60 * 60 * 1_000,
};

/** The newest rows stay whatever their age: a clock that jumps ahead must not empty the trail. */
const neverPrunedRows = 1_000;
const maxPageRows = 1_000;
/** Few enough that reading them is not felt by a call. */
const exportedPerRead = 200;
const prunedPerWrite = 500;
/** More than there can be to do; what is left, the next time takes. */
const maxPruningWrites = 1_000;
const pruneEveryRows = 1_000;

/**
 * What happened, in the order it was recorded. Recording never waits and never fails: entries are saved
 * in batches behind the call, and a crash loses the last batch at most.
 */
export class AuditLog {
  readonly #context: StoreContext;
  readonly #limits: AuditLimits;
  readonly #queue: AuditQueue;
  #savedSincePrune = pruneEveryRows;

  constructor(context: StoreContext, limits: AuditLimits = defaultAuditLimits) {
    this.#context = context;
    this.#limits = limits;
    const { clock, logger } = context;
    this.#queue = new AuditQueue({ clock, logger, save: (entries) => this.#save(entries) });
  }

  /** Entries that had to be given up. */
  get lost(): number {
    return this.#queue.lost;
  }

  append(entry: AuditEntry): void {
    this.#queue.add(toAuditColumns(entry));
  }

  flush(): Promise<void> {
    return this.#queue.flush();
  }

  /** Newest first, a page at a time. */
  async query(query: AuditQuery = {}): Promise<readonly AuditRow[]> {
    await this.flush();
    const limit = Math.min(query.limit ?? 100, maxPageRows);
    let rows = this.#select(query).orderBy("seq", "desc").limit(limit);
    if (query.before !== undefined) rows = rows.where("seq", "<", query.before);
    return (await this.#context.database.read(rows)).map(toAuditRow);
  }

  /** Everything that fits, oldest first. Reads a page at a time, so that a long trail holds nobody up. */
  async *export(filter: AuditFilter = {}): AsyncGenerator<AuditRow, void, undefined> {
    await this.flush();
    let after = 0;
    for (;;) {
      const page = this.#select(filter)
        .where("seq", ">", after)
        .orderBy("seq")
        .limit(exportedPerRead);
      const rows = await this.#context.database.read(page);
      yield* rows.map(toAuditRow);
      if (rows.length < exportedPerRead) return;
      const last = rows.at(-1)?.seq ?? after;
      // In a damaged table the order may lead in circles.
      if (last <= after) throw storeError("corrupt", this.#context.database.place);
      after = last;
    }
  }

  /** Removes what is too old or too much, a little in each transaction; gives the number of rows. */
  async prune(): Promise<number> {
    const { database, clock } = this.#context;
    const { queries } = database;
    const [newest] = await database.read(
      queries.selectFrom("audit").select("seq").orderBy("seq", "desc").limit(1),
    );
    if (newest === undefined) return 0;
    const tooMany = newest.seq - this.#limits.maxRows;
    const tooOld = clock.now() - this.#limits.maxAgeMs;
    const doomed = queries
      .selectFrom("audit")
      .select("seq")
      .where((row) =>
        row.or([
          row("seq", "<=", tooMany),
          row.and([row("seq", "<=", newest.seq - neverPrunedRows), row("at", "<", tooOld)]),
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

  async close(): Promise<void> {
    const left = await this.#queue.close();
    if (left > 0) this.#context.logger.error("audit entries were not saved", { count: left });
  }

  async #save(entries: readonly AuditColumns[]): Promise<void> {
    const { database, logger } = this.#context;
    const statement = database.queries.insertInto("audit").values(entries);
    await database.write([statement], "normal");
    this.#savedSincePrune += entries.length;
    if (this.#savedSincePrune < pruneEveryRows) return;
    this.#savedSincePrune = 0;
    await this.prune().catch((error: unknown) => {
      logger.warn("old audit entries could not be removed", { error: String(error) });
    });
  }

  #select(filter: AuditFilter) {
    let rows = this.#context.database.queries.selectFrom("audit").selectAll();
    if (filter.since !== undefined) rows = rows.where("at", ">=", filter.since);
    if (filter.until !== undefined) rows = rows.where("at", "<=", filter.until);
    for (const column of ["type", "agent", "server", "tool", "code"] as const) {
      const value = filter[column];
      if (value !== undefined) rows = rows.where(column, "=", value);
    }
    return rows;
  }
}
