import type { Compilable } from "kysely";
import { describe, expect, it } from "vitest";

import { systemClock } from "../../ports/clock.ts";
import { silentLogger } from "../../ports/logger.ts";
import { AreaWrites } from "../rows/area-writes.ts";
import { MemoryDatabase } from "../sqlite/memory-database.ts";
import { migrateStore } from "../tables/migrate-store.ts";
import { AuditLog } from "./audit-log.ts";
import { AuditPageDraft } from "./audit-page-draft.ts";
import { insertPage } from "./page-rows.ts";

/** Gives the first answer to a question for ever, as a table does whose pages point at each other. */
class CircularDatabase extends MemoryDatabase {
  readonly #first = new Map<string, readonly unknown[]>();

  override async read<Row>(query: Compilable<Row>): Promise<readonly Row[]> {
    const { sql } = query.compile();
    const first = this.#first.get(sql) ?? (await super.read(query));
    this.#first.set(sql, first);
    return first as readonly Row[];
  }
}

describe("AuditLog", () => {
  it("STO-08: exporting a damaged trail ends with an error, not never", async () => {
    const database = new CircularDatabase();
    await migrateStore(database);
    const draft = new AuditPageDraft();
    draft.add({ at: 1, type: "x" });
    const page = draft.take();
    const insert = await insertPage(database, page);
    await database.write(
      Array.from({ length: 50 }, () => insert),
      "normal",
    );
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
