import type { Compilable } from "kysely";
import { afterEach, beforeEach, describe, expect, it } from "vitest";

import { auditWriter } from "../../tests/fixtures/store/audit-writer.ts";
import { DatabaseSync } from "../../tests/fixtures/store/database-sync.ts";
import { catalogs, consentId, launchId } from "../../tests/fixtures/store/made-up-ids.ts";
import { systemClock } from "../ports/clock.ts";
import { silentLogger } from "../ports/logger.ts";
import { AuditLog } from "./audit/audit-log.ts";
import { ApprovalRows } from "./rows/approval-rows.ts";
import { AreaWrites, type StoreContext } from "./rows/area-writes.ts";
import { CatalogRows } from "./rows/catalog-rows.ts";
import { GrantRows } from "./rows/grant-rows.ts";
import { PinRows } from "./rows/pin-rows.ts";
import { SecretRows } from "./rows/secret-rows.ts";
import { ServerRows } from "./rows/server-rows.ts";
import { MemoryDatabase } from "./sqlite/memory-database.ts";
import { runBatch } from "./sqlite/sqlite-batch.mjs";
import { migrateStore } from "./tables/migrate-store.ts";
import type { Durability } from "./tables/store-database.ts";

class RecordingDatabase extends MemoryDatabase {
  asked: Durability[] = [];

  override write(statements: readonly Compilable[], durability: Durability) {
    this.asked.push(durability);
    return super.write(statements, durability);
  }
}

describe("what must be on the disk before it is acknowledged", () => {
  const pin = { tool: "t", fingerprint: "f" };
  const grant = { agent: "a", consentId: consentId("i"), fingerprint: "h" };
  const approval = { launchId: launchId("i"), serverName: "s", facts: {}, approvedBy: "cli" };
  let database: RecordingDatabase;
  let context: StoreContext;

  beforeEach(async () => {
    database = new RecordingDatabase();
    await migrateStore(database);
    const areas = await AreaWrites.start(database, silentLogger);
    context = { database, areas, clock: systemClock, logger: silentLogger };
    database.asked = [];
  });

  afterEach(() => database.close());

  it.each<[string, Durability, () => Promise<unknown>]>([
    [
      "adding a server",
      "full",
      () => new ServerRows(context).put({ id: "a", name: "a", config: {} }),
    ],
    ["removing a server", "full", () => new ServerRows(context).remove("a")],
    ["an approval", "full", () => new ApprovalRows(context).approve(approval)],
    ["its end", "full", () => new ApprovalRows(context).revoke({ launchId: launchId("i") })],
    ["a grant", "full", () => new GrantRows(context).grant([grant])],
    ["its end", "full", () => new GrantRows(context).revoke({})],
    ["a pin", "full", () => new PinRows(context).acceptNew(new Map([[consentId("i"), [pin]]]))],
    ["a quarantine", "full", () => new PinRows(context).quarantine(consentId("i"), pin)],
    ["accepting a change", "full", () => new PinRows(context).accept(consentId("i"), "t", "f")],
    ["a secret", "full", () => new SecretRows(context).put("a", "b")],
    ["its end", "full", () => new SecretRows(context).remove("a")],
    [
      "a status",
      "normal",
      () => new ServerRows(context).setStatuses(new Map([["a", "connected"]])),
    ],
    ["a catalog", "normal", () => new CatalogRows(context).save(catalogs({ i: {} }))],
  ])("STO-08: %s is written %s", async (_, durability, write) => {
    await write();
    expect(database.asked).toEqual([durability]);
  });

  it("P14: the new tools of a thousand servers are pinned 500 to a transaction", async () => {
    const rows = new PinRows(context);
    const tools = Array.from({ length: 20 }, (_, index) => ({ ...pin, tool: `t${index}` }));
    const names = Array.from({ length: 1_000 }, (_, index) => consentId(`i${index}`));
    expect(await rows.acceptNew(new Map(names.map((name) => [name, tools])))).toEqual(new Set());
    expect(database.asked).toEqual(Array.from({ length: 40 }, () => "full"));
    expect(await rows.list(consentId("i999"))).toHaveLength(20);
    database.asked = [];
    const large = { ...pin, definition: { description: "x".repeat(60_000) } };
    const others = Array.from({ length: 40 }, (_, index) => consentId(`other${index}`));
    await rows.acceptNew(new Map(others.map((name) => [name, [large]])));
    expect(database.asked).toHaveLength(3);
  });

  it("P14: a thousand catalogs are saved in ten transactions, long ones in parts of a megabyte", async () => {
    const rows = new CatalogRows(context);
    const saveAll = async (count: number, instructions: string): Promise<number> => {
      database.asked = [];
      const names = Array.from({ length: count }, (_, index) => `${index}`);
      await rows.save(catalogs(Object.fromEntries(names.map((name) => [name, { instructions }]))));
      return database.asked.length;
    };
    expect(await saveAll(0, "")).toBe(0);
    expect(await saveAll(1_000, "short")).toBe(10);
    expect(await saveAll(20, "x".repeat(200_000))).toBe(4);
    expect(await saveAll(2, "x".repeat(3_000_000))).toBe(2);
    expect(await rows.find(consentId("19"))).toMatchObject({
      content: { instructions: "x".repeat(200_000) },
    });
  });

  it("STO-08: the audit trail is written behind the call, normal", async () => {
    const audit = auditWriter(new AuditLog(context));
    audit.append({ type: "x", at: 1 });
    expect(database.asked).toEqual([]);
    await audit.flush();
    expect(new Set(database.asked)).toEqual(new Set(["normal"]));
  });

  it("STO-08: full makes SQLite wait for the disk at every commit, normal does not", () => {
    const connection = new DatabaseSync(":memory:");
    const synchronous = (): unknown => connection.prepare("PRAGMA synchronous").get();
    runBatch(connection, [], "full");
    expect(synchronous()).toMatchObject({ synchronous: 2 });
    runBatch(connection, [], "normal");
    expect(synchronous()).toMatchObject({ synchronous: 1 });
    connection.close();
  });

  it("STO-08: statements of one write happen together or not at all", async () => {
    const queries = await database.queries();
    const good = queries.insertInto("secrets").values({ id: "a", envelope: "x", updated_at: 1 });
    await expect(database.write([good, good], "full")).rejects.toMatchObject({
      code: "store_failed",
    });
    expect(await new SecretRows(context).ids()).toEqual([]);
    await database.write([good], "full");
    expect(await new SecretRows(context).ids()).toEqual(["a"]);
  });
});
