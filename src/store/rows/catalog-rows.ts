import type { ConsentId } from "../../config/keys/server-ids.ts";
import { parseObjectColumn } from "../tables/stored-text.ts";
import type { StoreContext } from "./area-writes.ts";

/** The last known catalog of a server. The store does not know the shapes in it; the rooms above do. */
export interface CatalogContent {
  /** The revision that the server spoke; the next connection begins with it. */
  readonly protocolVersion?: string | undefined;
  /** The era to begin with, if the revision that the server spoke belongs to the other one. */
  readonly provenEra?: string | undefined;
  readonly serverInfo?: unknown;
  readonly instructions?: string | undefined;
  readonly tools?: readonly unknown[] | undefined;
  /** Whether the server declared resources, which are then offered as a tool. */
  readonly hasResources?: boolean | undefined;
  readonly resources?: readonly unknown[] | undefined;
  readonly resourceTemplates?: readonly unknown[] | undefined;
  readonly prompts?: readonly unknown[] | undefined;
}

export interface CatalogEntry {
  readonly content: CatalogContent;
  /** The time of the write; never in the future, even if the clock was set back since. */
  readonly savedAt: number;
}

const maxContentBytes = 4 * 1024 * 1024;
const maxEntries = 500;

/** Stores the last known catalog of every server, so that tools are listed before any server is started. */
export class CatalogRows {
  readonly #context: StoreContext;

  constructor(context: StoreContext) {
    this.#context = context;
  }

  async find(consentId: ConsentId): Promise<CatalogEntry | undefined> {
    const { database, clock } = this.#context;
    const [row] = await database.read(
      database.queries.selectFrom("catalog").selectAll().where("identity", "=", consentId),
    );
    const content = row === undefined ? undefined : parseObjectColumn(row.content);
    if (row === undefined || content === undefined) return undefined;
    return { content, savedAt: Math.min(row.saved_at, clock.now()) };
  }

  /**
   * Stores the catalog of a server; false when it is too large. The former one is then removed, because it is
   * out of date. `text` is the JSON of the content where the caller already has it: serializing a long list
   * takes a while.
   */
  async save(
    consentId: ConsentId,
    content: CatalogContent,
    text: string = JSON.stringify(content),
  ): Promise<boolean> {
    if (Buffer.byteLength(text) > maxContentBytes) {
      await this.remove(consentId);
      return false;
    }
    const { database, areas, clock } = this.#context;
    const { queries } = database;
    const changed = { content: text, saved_at: clock.now() };
    const save = queries
      .insertInto("catalog")
      .values({ identity: consentId, ...changed })
      .onConflict((conflict) => conflict.column("identity").doUpdateSet(changed));
    const newest = queries
      .selectFrom("catalog")
      .select("identity")
      .orderBy("saved_at", "desc")
      .limit(maxEntries);
    const dropOldest = queries
      .deleteFrom("catalog")
      .where("identity", "!=", consentId)
      .where("identity", "not in", newest);
    // The server can be asked again, so the write need not wait for the disk.
    await areas.write("catalog", [save, dropOldest], "normal");
    return true;
  }

  async remove(consentId: ConsentId): Promise<void> {
    const statement = this.#context.database.queries
      .deleteFrom("catalog")
      .where("identity", "=", consentId);
    await this.#context.areas.write("catalog", [statement], "normal");
  }
}
