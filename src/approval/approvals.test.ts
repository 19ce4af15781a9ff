import { describe, expect, it } from "vitest";

import { ManualClock } from "../../tests/fixtures/protocol/manual-clock.ts";
import { parseServerEntry } from "../config/parse/parse-config.ts";
import { AccessRevision } from "../policy/access-revision.ts";
import { silentLogger } from "../ports/logger.ts";
import { HostStore } from "../store/host-store.ts";
import { Approvals } from "./approvals.ts";
import { ApprovedLaunches } from "./approved-launches.ts";
import { entryIdOf, launchFacts } from "./launch-facts.ts";

function createApprovals() {
  const clock = new ManualClock();
  const store = new HostStore({ location: ":memory:", clock, logger: silentLogger });
  const launches = new ApprovedLaunches(
    () => ({ commandPath: "/bin/run", folder: "/work" }),
    new AccessRevision(),
  );
  const approvals = new Approvals(store, launches);
  const provenance = { layer: "project", path: "/project/.mcp.json" } as const;
  const config = parseServerEntry("p", { command: "run" }, { provenance });
  const server = { config, entryId: entryIdOf(launchFacts(config)) };
  const load = () =>
    approvals.load(
      () => [server],
      () => false,
    );
  return { store, launches, approvals, server, load };
}

describe("Approvals", () => {
  it("PRM-21: an approval that is taken back does not come back with a list read at the same time", async () => {
    const { store, launches, approvals, server, load } = createApprovals();
    for (let moment = 0; moment < 60; moment += 1) {
      await approvals.approve(server, {});
      expect(launches.isApproved(server)).toBe(true);
      const loading = load();
      for (let step = 0; step < moment; step += 1) await Promise.resolve();
      const revoking = approvals.revoke(server);
      expect(launches.isApproved(server)).toBe(false);
      await Promise.all([loading, revoking]);
      expect(launches.isApproved(server), `after ${moment} steps`).toBe(false);
      await load();
      expect(launches.isApproved(server)).toBe(false);
    }
    await store.close();
  });

  it("PRM-21: an approval that is given while the list is read is not lost", async () => {
    const { store, launches, approvals, server, load } = createApprovals();
    for (let moment = 0; moment < 60; moment += 1) {
      const loading = load();
      for (let step = 0; step < moment; step += 1) await Promise.resolve();
      await Promise.all([loading, approvals.approve(server, {})]);
      expect(launches.isApproved(server), `after ${moment} steps`).toBe(true);
      await approvals.revoke(server);
    }
    await store.close();
  });
});
