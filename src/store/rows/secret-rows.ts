import { plainQuery } from "../tables/plain-query.ts";
import type { StoreTables } from "../tables/store-tables.ts";
import type { StoreContext } from "./area-writes.ts";

type PlainStatement = readonly [text: string, parameters: readonly unknown[]];

/** Postgres takes parameters of a selection for text. */
const newRow = "cast(? as text), cast(? as text), cast(? as bigint)";

/** A row as somebody has read it; a change that names one is made only while the row is still so. */
export interface SecretRow {
  readonly id: string;
  readonly envelope: string;
}

/** All rows at one moment. */
export interface SecretSnapshot {
  /** Counts the writes to the table, of every process. */
  readonly revision: number;
  readonly rows: readonly SecretRow[];
}

/**
 * Stores sealed secrets by id. The store never has the key, so it cannot read them. One of the rows says under which
 * key the others are sealed: whoever adds rows names it as they know it, and adds nothing when it is another by then.
 */
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

  /** Adds the first row of all; false, and nothing is changed, when there is any row. */
  async addFirst({ id, envelope }: SecretRow): Promise<boolean> {
    const [added] = await this.#write([
      [
        `insert into secrets (id, envelope, updated_at) select ${newRow} where not exists (select 1 from secrets) on conflict (id) do nothing`,
        [id, envelope, this.#context.clock.now()],
      ],
    ]);
    return added === 1;
  }

  /** Puts a row in place of the one with its id; false, and nothing is changed, when `key` is not as given. */
  async putUnder(key: SecretRow, { id, envelope }: SecretRow): Promise<boolean> {
    // In Postgres a change of the key row waits for this transaction, or this one for it.
    const lock = this.#context.database.dialect === "postgres" ? " for share" : "";
    const [put] = await this.#write([
      [
        `insert into secrets (id, envelope, updated_at) select ${newRow} from secrets where id = ? and envelope = ?${lock} on conflict (id) do update set envelope = excluded.envelope, updated_at = excluded.updated_at`,
        [id, envelope, this.#context.clock.now(), key.id, key.envelope],
      ],
    ]);
    return put === 1;
  }

  /** Changes one row; false, and nothing is changed, when it is not as given. */
  async replace({ id, envelope }: SecretRow, by: string): Promise<boolean> {
    const [replaced] = await this.#write([
      [
        "update secrets set envelope = ?, updated_at = ? where id = ? and envelope = ?",
        [by, this.#context.clock.now(), id, envelope],
      ],
    ]);
    return replaced === 1;
  }

  async snapshot(): Promise<SecretSnapshot> {
    const { database } = this.#context;
    // The revision first: a write between the two reads then makes it an old one, which `replaceAll` refuses.
    const [counted] = await database.read(
      plainQuery<Pick<StoreTables["revisions"], "revision">>(
        database.dialect,
        "select revision from revisions where area = ?",
        ["secrets"],
      ),
    );
    const rows = await database.read(
      plainQuery<SecretRow>(database.dialect, "select id, envelope from secrets"),
    );
    return { revision: Number(counted?.revision), rows };
  }

  /**
   * Changes the key row and all others in one transaction; false, and nothing is changed, when anything was written
   * since the snapshot with that revision.
   */
  async replaceAll(
    revision: number,
    key: SecretRow & { readonly by: string },
    rows: readonly SecretRow[],
  ): Promise<boolean> {
    const now = this.#context.clock.now();
    const [, replaced] = await this.#write([
      // Postgres: waits for every `putUnder` under way, so that the next statement sees the revision it leaves.
      [
        "update secrets set updated_at = updated_at where id = ? and envelope = ?",
        [key.id, key.envelope],
      ],
      [
        "update secrets set envelope = ?, updated_at = ? where id = ? and envelope = ? and exists (select 1 from revisions where area = ? and revision = ?)",
        [key.by, now, key.id, key.envelope, "secrets", revision],
      ],
      ...rows.map(({ id, envelope }): PlainStatement => [
        "update secrets set envelope = ?, updated_at = ? where id = ? and exists (select 1 from secrets key_row where key_row.id = ? and key_row.envelope = ?)",
        [envelope, now, id, key.id, key.by],
      ]),
    ]);
    return replaced === 1;
  }

  /** Removes a secret; returns whether there was one. */
  async remove(id: string): Promise<boolean> {
    const queries = await this.#context.database.queries();
    const statement = queries.deleteFrom("secrets").where("id", "=", id);
    const [removed] = await this.#context.areas.write("secrets", [statement]);
    return removed === 1;
  }

  #write(statements: readonly PlainStatement[]): Promise<readonly number[]> {
    const { database, areas } = this.#context;
    const queries = statements.map(([text, parameters]) =>
      plainQuery(database.dialect, text, parameters),
    );
    return areas.write("secrets", queries);
  }
}
