import type { ConsentId } from "../../config/keys/server-ids.ts";
import { marksFor, plainQuery } from "../tables/plain-query.ts";
import type { StoreTables } from "../tables/store-tables.ts";
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
  /** The fingerprint of each tool, in the same order. */
  readonly fingerprints?: unknown;
  /** Whether the server declared resources, which are then offered as a tool. */
  readonly hasResources?: boolean | undefined;
  readonly resources?: readonly unknown[] | undefined;
  readonly resourceTemplates?: readonly unknown[] | undefined;
  readonly prompts?: readonly unknown[] | undefined;
}

export interface CatalogEntry {
  readonly content: CatalogContent;
  /** The JSON of the content, as it was saved. */
  readonly text: string;
  /** The time of the write; never in the future, even if the clock was set back since. */
  readonly savedAt: number;
}

const maxContentBytes = 4 * 1024 * 1024;
/** More than one configuration file may name: each of its servers can be listed before it is started. */
const maxEntries = 2_000;
/** Few enough that building the statement takes milliseconds, and that others wait as long for the lock. */
const entriesPerWrite = 100;
const bytesPerWrite = 1024 * 1024;

/** Stores the last known catalog of every server, so that tools are listed before any server is started. */
export class CatalogRows {
  readonly #context: StoreContext;

  constructor(context: StoreContext) {
    this.#context = context;
  }

  async find(consentId: ConsentId): Promise<CatalogEntry | undefined> {
    return (await this.findAll([consentId])).get(consentId);
  }

  /** Finds the catalogs of some servers with one query; those of which none is known are left out. */
  async findAll(consentIds: readonly ConsentId[]): Promise<ReadonlyMap<ConsentId, CatalogEntry>> {
    const { database, clock } = this.#context;
    if (consentIds.length === 0) return new Map();
    const sql = `select * from catalog where identity in (${marksFor(consentIds)})`;
    const rows = await database.read(
      plainQuery<StoreTables["catalog"]>(database.dialect, sql, consentIds),
    );
    const found = new Map<ConsentId, CatalogEntry>();
    for (const { identity, content: text, saved_at } of rows) {
      const content = parseObjectColumn(text);
      if (content === undefined) continue;
      found.set(identity, { content, text, savedAt: Math.min(saved_at, clock.now()) });
    }
    return found;
  }

  /**
   * Saves the catalog of each server, which is the JSON of a `CatalogContent`, many in one transaction. A catalog
   * that is too large is not kept, and neither is the former one, which is out of date.
   */
  async save(catalogs: ReadonlyMap<ConsentId, string>): Promise<void> {
    let part = new Map<ConsentId, string>();
    let bytesLeft = bytesPerWrite;
    for (const [consentId, text] of catalogs) {
      const bytes = Buffer.byteLength(text);
      if (bytes > maxContentBytes) {
        await this.remove(consentId);
        continue;
      }
      if (part.size === entriesPerWrite || (part.size > 0 && bytes > bytesLeft)) {
        await this.#savePart(part);
        part = new Map();
        bytesLeft = bytesPerWrite;
      }
      part.set(consentId, text);
      bytesLeft -= bytes;
    }
    if (part.size > 0) await this.#savePart(part);
  }

  async #savePart(catalogs: ReadonlyMap<ConsentId, string>): Promise<void> {
    const { database, areas, clock } = this.#context;
    const queries = await database.queries();
    const saved_at = clock.now();
    const save = queries
      .insertInto("catalog")
      .values([...catalogs].map(([identity, content]) => ({ identity, content, saved_at })))
      .onConflict((conflict) =>
        conflict
          .column("identity")
          .doUpdateSet((row) => ({ content: row.ref("excluded.content"), saved_at })),
      );
    const count = queries.selectFrom("catalog").select((row) => row.fn.countAll<number>().as("n"));
    const newest = queries
      .selectFrom("catalog")
      .select("identity")
      .orderBy("saved_at", "desc")
      .limit(maxEntries);
    const dropOldest = queries
      .deleteFrom("catalog")
      // Ordering reads every content to its end: most of the time there is nothing to drop.
      .where(count, ">", maxEntries)
      // A clock that was set back must not make the newest look like the oldest.
      .where("identity", "not in", [...catalogs.keys()])
      .where("identity", "not in", newest);
    // The server can be asked again, so the write need not wait for the disk.
    await areas.write("catalog", [save, dropOldest], "normal");
  }

  async remove(consentId: ConsentId): Promise<void> {
    const queries = await this.#context.database.queries();
    const statement = queries.deleteFrom("catalog").where("identity", "=", consentId);
    await this.#context.areas.write("catalog", [statement], "normal");
  }
}
