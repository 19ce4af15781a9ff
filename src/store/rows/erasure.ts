import type { Compilable } from "kysely";

import { plainQuery } from "../tables/plain-query.ts";
import type { StoreDialect } from "../tables/store-database.ts";
import { erasureMark, type StoreContext } from "./area-writes.ts";

/**
 * Erases what was changed and deleted before, for good. A write after which that is due leaves a mark with it, so that
 * whoever opens the store next finishes what a process that ended early has begun.
 */
export class Erasure {
  readonly #context: StoreContext;
  #isDue: boolean;

  constructor(context: StoreContext) {
    this.#context = context;
    this.#isDue = context.areas.isErasureDue;
  }

  /** Whether something was to be erased when the store was opened, and has not been since. */
  get isDue(): boolean {
    return this.#isDue;
  }

  /** Whether the database keeps copies of its own, which nothing here can erase. */
  get isBeyondReach(): boolean {
    return this.#context.database.dialect === "postgres";
  }

  /** Erases; false when others use the file so that the next one to open it has to finish. */
  async run(): Promise<boolean> {
    const { database } = this.#context;
    if (!(await database.erase())) return false;
    const forget = plainQuery(database.dialect, "delete from revisions where area = ?", [
      erasureMark,
    ]);
    await database.write([forget], "full");
    this.#isDue = false;
    return true;
  }
}

/** Makes the statement that leaves the mark, to be written together with what makes it due. */
export function markErasure(dialect: StoreDialect): Compilable {
  const sql = "insert into revisions (area, revision) values (?, 0) on conflict do nothing";
  return plainQuery(dialect, sql, [erasureMark]);
}
