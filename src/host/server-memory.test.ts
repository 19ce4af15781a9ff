import { describe, expect, it } from "vitest";

import { scriptedConnection } from "../../tests/fixtures/connection/scripted-connection.ts";
import { ManualClock } from "../../tests/fixtures/protocol/manual-clock.ts";
import { ToolCatalog } from "../catalog/tool-catalog.ts";
import { parseServerEntry } from "../config/parse-config.ts";
import { EventBus } from "../events/event-bus.ts";
import { silentLogger } from "../ports/logger.ts";
import { ServerRegistry } from "../registry/server-registry.ts";
import { HostStore } from "./host-store.ts";
import { PinBook } from "./pin-book.ts";
import { ServerMemory } from "./server-memory.ts";

function createMemory() {
  const clock = new ManualClock();
  const store = new HostStore({ location: ":memory:", clock, logger: silentLogger });
  const catalog = new ToolCatalog();
  const registry = new ServerRegistry({
    createConnection: () => scriptedConnection().connection,
    locateLaunch: () => ({ commandPath: "/bin/run", folder: "/work" }),
  });
  const provenance = { layer: "project", path: "/project/.mcp.json" } as const;
  const server = registry.add(parseServerEntry("p", { command: "run" }, { provenance }));
  const events = new EventBus(() => {});
  const pins = new PinBook({ store, registry, events, clock });
  return { store, registry, server, memory: new ServerMemory(store, registry, catalog, pins) };
}

describe("ServerMemory", () => {
  it("PRM-21: an approval that is taken back does not come back with a list read at the same time", async () => {
    const { store, registry, server, memory } = createMemory();
    for (let moment = 0; moment < 60; moment += 1) {
      await memory.approve(server, {});
      expect(registry.isApproved(server)).toBe(true);
      const recalling = memory.recall();
      for (let step = 0; step < moment; step += 1) await Promise.resolve();
      const revoking = memory.revoke(server);
      expect(registry.isApproved(server)).toBe(false);
      await Promise.all([recalling, revoking]);
      expect(registry.isApproved(server), `after ${moment} steps`).toBe(false);
      await memory.recall();
      expect(registry.isApproved(server)).toBe(false);
    }
    await store.close();
  });

  it("PRM-21: an approval that is given while the list is read is not lost", async () => {
    const { store, registry, server, memory } = createMemory();
    for (let moment = 0; moment < 60; moment += 1) {
      const recalling = memory.recall();
      for (let step = 0; step < moment; step += 1) await Promise.resolve();
      await Promise.all([recalling, memory.approve(server, {})]);
      expect(registry.isApproved(server), `after ${moment} steps`).toBe(true);
      await memory.revoke(server);
    }
    await store.close();
  });
});
