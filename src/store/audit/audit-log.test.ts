import type { Compilable } from "kysely";
import { describe, expect, it } from "vitest";

import { systemClock } from "../../ports/clock.ts";
import { silentLogger } from "../../ports/logger.ts";
import { AreaWrites } from "../rows/area-writes.ts";
import { MemoryDatabase } from "../sqlite/memory-database.ts";
import { migrateStore } from "../tables/migrate-store.ts";
import { AuditLog } from "./audit-log.ts";
import { AuditPageDraft } from "./audit-page-draft.ts";

/** Gives the first answer to a question for ever, as a table does whose pages point at each other. */
class CircularDatabase extends MemoryDatabase {
  #first: readonly unknown[] | undefined;

  override async read<Row>(query: Compilable<Row>): Promise<readonly Row[]> {
    if (!query.compile().sql.includes(`from "audit"`)) return super.read(query);
    this.#first ??= await super.read(query);
    return this.#first as readonly Row[];
  }
}

describe("AuditLog", () => {
  it("STO-08: exporting a damaged trail ends with an error, not never", async () => {
    const database = new CircularDatabase();
    await migrateStore(database);
    const draft = new AuditPageDraft();
    draft.add({ at: 1, type: "x" });
    const page = draft.take();
    const rows = Array.from({ length: 50 }, () => page);
    await database.write([database.queries.insertInto("audit").values(rows)], "normal");
    const areas = await AreaWrites.start(database, silentLogger);
    const audit = new AuditLog({ database, areas, clock: systemClock, logger: silentLogger });
    const exported: number[] = [];
    const exportAll = async (): Promise<void> => {
      for await (const { seq } of audit.export()) exported.push(seq);
    };
    await expect(exportAll()).rejects.toMatchObject({ details: { problem: "corrupt" } });
    expect(exported.length).toBeLessThan(500);
    await database.close();
  });
});
