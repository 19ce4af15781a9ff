import type { Compilable } from "kysely";

import type { Clock } from "../../ports/clock.ts";
import type { Logger } from "../../ports/logger.ts";
import { plainQuery } from "../tables/plain-query.ts";
import type { Durability, StoreDatabase } from "../tables/store-database.ts";
import { type StoreArea, storeAreas, type StoreTables } from "../tables/store-tables.ts";

/** The dependencies of every repository. */
export interface StoreContext {
  readonly database: StoreDatabase;
  readonly areas: AreaWrites;
  readonly clock: Clock;
  readonly logger: Logger;
}

/** Stands in place of an area while something has to be erased. */
export const erasureMark = "erasure";

export type StoreChangeListener = (areas: ReadonlySet<StoreArea>) => void;

/** The number of writes to an area, by writer. */
interface AreaCount {
  /** Writes of other processes that were detected. */
  foreign: number;
  /** Own writes that are done. */
  own: number;
  /** Own writes under way; a revision that is read meanwhile may or may not include them. */
  underWay: number;
  started: number;
}

/**
 * Detects writes of other processes. Every write to an area increments its revision in the same
 * transaction, so the excess of the revision over the own writes is the number of writes by others.
 */
export class AreaWrites {
  readonly #database: StoreDatabase;
  readonly #logger: Logger;
  readonly #counts: Readonly<Record<StoreArea, AreaCount>>;
  readonly #listeners = new Set<StoreChangeListener>();
  /** Whether an erasure was begun before and not finished: see `Erasure`. */
  readonly isErasureDue: boolean;
  #endWatch: (() => void) | undefined;
  #isLooking = false;
  #mustLookAgain = false;

  private constructor(
    database: StoreDatabase,
    logger: Logger,
    revisions: ReadonlyMap<string, number>,
  ) {
    this.#database = database;
    this.#logger = logger;
    this.isErasureDue = revisions.has(erasureMark);
    const counts = storeAreas.map((area) => [
      area,
      { foreign: revisions.get(area) ?? 0, own: 0, underWay: 0, started: 0 },
    ]);
    this.#counts = Object.fromEntries(counts) as Record<StoreArea, AreaCount>;
  }

  /** Starts counting. Every later write of another process is reported, even to a listener added after it. */
  static async start(database: StoreDatabase, logger: Logger): Promise<AreaWrites> {
    return new AreaWrites(database, logger, await readRevisions(database));
  }

  async write(
    area: StoreArea,
    statements: readonly Compilable[],
    durability: Durability = "full",
  ): Promise<readonly number[]> {
    const countUp = plainQuery(
      this.#database.dialect,
      "update revisions set revision = revision + 1 where area = ?",
      [area],
    );
    const count = this.#counts[area];
    count.underWay += 1;
    count.started += 1;
    try {
      const changed = await this.#database.write([...statements, countUp], durability);
      count.own += 1;
      return changed.slice(0, -1);
    } finally {
      count.underWay -= 1;
      if (this.#mustLookAgain) void this.#look();
    }
  }

  onchange(listener: StoreChangeListener): () => void {
    this.#listeners.add(listener);
    this.#endWatch ??= this.#database.watch(() => void this.#look());
    return () => {
      this.#listeners.delete(listener);
      if (this.#listeners.size === 0) this.stop();
    };
  }

  stop(): void {
    this.#endWatch?.();
    this.#endWatch = undefined;
  }

  async #look(): Promise<void> {
    if (this.#endWatch === undefined) return;
    if (this.#isLooking) {
      this.#mustLookAgain = true;
      return;
    }
    this.#isLooking = true;
    this.#mustLookAgain = false;
    try {
      const before = storeAreas.map((area) => ({ ...this.#counts[area] }));
      const revisions = await readRevisions(this.#database);
      const changed = storeAreas.filter((area, index) => {
        const count = this.#counts[area];
        if (before[index]?.underWay !== 0 || before[index].started !== count.started) {
          // The revision may or may not include an own write under way, so it is read again afterwards.
          this.#mustLookAgain = true;
          return false;
        }
        const foreign = (revisions.get(area) ?? 0) - count.own;
        const hasGrown = foreign > count.foreign;
        count.foreign = Math.max(count.foreign, foreign);
        return hasGrown;
      });
      if (changed.length > 0) this.#report(new Set(changed));
    } catch (error) {
      this.#logger.debug("changes of the store could not be read", { error: String(error) });
    } finally {
      this.#isLooking = false;
    }
    const isQuiet = storeAreas.every((area) => this.#counts[area].underWay === 0);
    if (this.#mustLookAgain && isQuiet) await this.#look();
  }

  #report(changed: ReadonlySet<StoreArea>): void {
    if (this.#endWatch === undefined) return;
    for (const listener of this.#listeners) {
      try {
        listener(changed);
      } catch (error) {
        this.#logger.warn("a listener for changes of the store failed", { error: String(error) });
      }
    }
  }
}

async function readRevisions(database: StoreDatabase): Promise<Map<string, number>> {
  const all = plainQuery<StoreTables["revisions"]>(database.dialect, "select * from revisions");
  const rows = await database.read(all);
  return new Map(rows.map(({ area, revision }) => [area, revision]));
}
