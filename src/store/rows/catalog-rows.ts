import type { ConsentId } from "../../config/keys/server-ids.ts";
import { parseObjectColumn } from "../tables/stored-text.ts";
import type { StoreContext } from "./area-writes.ts";

/** What a server last said about itself; the rooms above know the shapes, the store does not. */
export interface CatalogContent {
  /** The revision it spoke, so that the next connection need not find out. */
  readonly protocolVersion?: string | undefined;
  /** The era to begin with, where the revision it spoke is not of that era. */
  readonly provenEra?: string | undefined;
  readonly serverInfo?: unknown;
  readonly instructions?: string | undefined;
  readonly tools?: readonly unknown[] | undefined;
  /** It said that it has resources, so that they can be offered as a tool. */
  readonly hasResources?: boolean | undefined;
  readonly resources?: readonly unknown[] | undefined;
  readonly resourceTemplates?: readonly unknown[] | undefined;
  readonly prompts?: readonly unknown[] | undefined;
}

export interface CatalogEntry {
  readonly content: CatalogContent;
  /** Never in the future, whatever the clock did since. */
  readonly savedAt: number;
}

const maxContentBytes = 4 * 1024 * 1024;
const maxEntries = 500;

/** The last known catalog of every server, so that tools are listed before anything is started. */
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
   * False when the content is too large: then nothing is known, since the former one is out of date. `text`
   * is the content's JSON, where the caller has made it already: a long list takes a while to write.
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
    // It can be asked for again, so it need not wait for the disk.
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
