import { plainQuery } from "../tables/plain-query.ts";
import type { StoreTables } from "../tables/store-tables.ts";
import type { StoreContext } from "./area-writes.ts";

/** Who holds a lease, and how often the holder has said that it is still at work. */
export interface LeaseState {
  readonly holder: string;
  readonly beat: number;
}

/**
 * Lets one process at a time do something on behalf of all. A lease has no time in it, because processes on several
 * machines have no common clock: whoever waits watches whether the beat goes on, by its own clock.
 */
export class LeaseRows {
  readonly #context: StoreContext;

  constructor(context: StoreContext) {
    this.#context = context;
  }

  /** Takes a lease that nobody holds; false when somebody does. */
  async take(name: string, holder: string): Promise<boolean> {
    return await this.#change(
      "insert into leases (name, holder, beat) values (?, ?, 0) on conflict (name) do nothing",
      [name, holder],
    );
  }

  async look(name: string): Promise<LeaseState | undefined> {
    const { database } = this.#context;
    const one = "select holder, beat from leases where name = ?";
    const [row] = await database.read(
      plainQuery<Pick<StoreTables["leases"], "holder" | "beat">>(database.dialect, one, [name]),
    );
    return row;
  }

  /** Says that the holder is still at work; false when the lease was taken over. */
  async beat(name: string, holder: string): Promise<boolean> {
    return await this.#change("update leases set beat = beat + 1 where name = ? and holder = ?", [
      name,
      holder,
    ]);
  }

  /** Takes over a lease that is exactly as it was seen; false when its holder, or another one, was faster. */
  async takeOver(name: string, seen: LeaseState, holder: string): Promise<boolean> {
    return await this.#change(
      "update leases set holder = ?, beat = 0 where name = ? and holder = ? and beat = ?",
      [holder, name, seen.holder, seen.beat],
    );
  }

  /** Gives a lease back; nothing happens when it was taken over. */
  async release(name: string, holder: string): Promise<void> {
    await this.#change("delete from leases where name = ? and holder = ?", [name, holder]);
  }

  async #change(text: string, parameters: readonly unknown[]): Promise<boolean> {
    const { database } = this.#context;
    const statement = plainQuery(database.dialect, text, parameters);
    const [changed] = await database.write([statement], "normal");
    return changed === 1;
  }
}
