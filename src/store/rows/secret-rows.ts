import { plainQuery } from "../tables/plain-query.ts";
import type { StoreTables } from "../tables/store-tables.ts";
import type { StoreContext } from "./area-writes.ts";

/** Stores sealed secrets by id. The store never has the key, so it cannot read them. */
export class SecretRows {
  readonly #context: StoreContext;

  constructor(context: StoreContext) {
    this.#context = context;
  }

  async get(id: string): Promise<string | undefined> {
    const { database } = this.#context;
    const one = "select envelope from secrets where id = ?";
    const [row] = await database.read(
      plainQuery<Pick<StoreTables["secrets"], "envelope">>(database.dialect, one, [id]),
    );
    return row?.envelope;
  }

  async ids(): Promise<readonly string[]> {
    const { database } = this.#context;
    const queries = await database.queries();
    const rows = await database.read(queries.selectFrom("secrets").select("id").orderBy("id"));
    return rows.map(({ id }) => id);
  }

  async put(id: string, envelope: string): Promise<void> {
    const { database, areas, clock } = this.#context;
    const changed = { envelope, updated_at: clock.now() };
    const queries = await database.queries();
    const statement = queries
      .insertInto("secrets")
      .values({ id, ...changed })
      .onConflict((conflict) => conflict.column("id").doUpdateSet(changed));
    await areas.write("secrets", [statement]);
  }

  /** Removes a secret; returns whether there was one. */
  async remove(id: string): Promise<boolean> {
    const queries = await this.#context.database.queries();
    const statement = queries.deleteFrom("secrets").where("id", "=", id);
    const [removed] = await this.#context.areas.write("secrets", [statement]);
    return removed === 1;
  }
}
