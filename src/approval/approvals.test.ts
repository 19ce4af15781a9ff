import { describe, expect, it } from "vitest";

import { scriptedConnection } from "../../tests/fixtures/connection/scripted-connection.ts";
import { ManualClock } from "../../tests/fixtures/protocol/manual-clock.ts";
import { parseServerEntry } from "../config/parse/parse-config.ts";
import { silentLogger } from "../ports/logger.ts";
import { ServerRegistry } from "../registry/server-registry.ts";
import { HostStore } from "../store/host-store.ts";
import { ApprovalBook } from "./approvals.ts";

function createBook() {
  const clock = new ManualClock();
  const store = new HostStore({ location: ":memory:", clock, logger: silentLogger });
  const registry = new ServerRegistry({
    createConnection: () => scriptedConnection().connection,
    locateLaunch: () => ({ commandPath: "/bin/run", folder: "/work" }),
  });
  const provenance = { layer: "project", path: "/project/.mcp.json" } as const;
  const server = registry.add(parseServerEntry("p", { command: "run" }, { provenance }));
  return { store, registry, server, book: new ApprovalBook({ store, registry }) };
}

describe("ApprovalBook", () => {
  it("PRM-21: an approval that is taken back does not come back with a list read at the same time", async () => {
    const { store, registry, server, book } = createBook();
    for (let moment = 0; moment < 60; moment += 1) {
      await book.approve(server, {});
      expect(registry.isApproved(server)).toBe(true);
      const loading = book.load();
      for (let step = 0; step < moment; step += 1) await Promise.resolve();
      const revoking = book.revoke(server);
      expect(registry.isApproved(server)).toBe(false);
      await Promise.all([loading, revoking]);
      expect(registry.isApproved(server), `after ${moment} steps`).toBe(false);
      await book.load();
      expect(registry.isApproved(server)).toBe(false);
    }
    await store.close();
  });

  it("PRM-21: an approval that is given while the list is read is not lost", async () => {
    const { store, registry, server, book } = createBook();
    for (let moment = 0; moment < 60; moment += 1) {
      const loading = book.load();
      for (let step = 0; step < moment; step += 1) await Promise.resolve();
      await Promise.all([loading, book.approve(server, {})]);
      expect(registry.isApproved(server), `after ${moment} steps`).toBe(true);
      await book.revoke(server);
    }
    await store.close();
  });
});
