import { describe, expect, it } from "vitest";

import { consentId } from "../../../tests/fixtures/store/made-up-ids.ts";
import { systemClock } from "../../ports/clock.ts";
import { silentLogger } from "../../ports/logger.ts";
import { MemoryDatabase } from "../sqlite/memory-database.ts";
import { migrateStore } from "../tables/migrate-store.ts";
import { ApprovalRows } from "./approval-rows.ts";
import { AreaWrites } from "./area-writes.ts";
import { CatalogRows } from "./catalog-rows.ts";
import { ConnectRequestRows } from "./connect-request-rows.ts";
import { FailureRows } from "./failure-rows.ts";
import { GrantRows } from "./grant-rows.ts";
import { PinRows } from "./pin-rows.ts";
import { SecretRows } from "./secret-rows.ts";
import { ServerRows } from "./server-rows.ts";

class CountingDatabase extends MemoryDatabase {
  asked = 0;

  override queries() {
    this.asked += 1;
    return super.queries();
  }
}

describe("what every start reads", () => {
  it("P15: takes no query builder, which is larger than the rest of the store", async () => {
    const database = new CountingDatabase();
    await migrateStore(database);
    database.asked = 0;
    const areas = await AreaWrites.start(database, silentLogger);
    const context = { database, areas, clock: systemClock, logger: silentLogger };
    await migrateStore(database);
    await new ServerRows(context).list();
    await new ApprovalRows(context).list();
    await new GrantRows(context).list();
    await new PinRows(context).accepted([consentId("i")]);
    await new CatalogRows(context).findAll([consentId("i")]);
    await new SecretRows(context).get("a");
    await new ConnectRequestRows(context).list();
    await new FailureRows(context).list();
    await new FailureRows(context).end([
      { consentId: consentId("i"), serverName: "a", connectedAt: 1 },
    ]);
    expect(database.asked).toBe(0);
    await new SecretRows(context).put("a", "x");
    expect(database.asked).toBe(1);
    await database.close();
  });
});
