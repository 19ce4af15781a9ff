import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";

import { describe, expect, it } from "vitest";

import { ManualClock } from "../../tests/fixtures/protocol/manual-clock.ts";
import { parseServerEntry } from "../config/parse/parse-config.ts";
import { AccessRevision } from "../policy/access-revision.ts";
import { silentLogger } from "../ports/logger.ts";
import { HostStore } from "../store/host-store.ts";
import { ownCommand } from "../text/own-command.ts";
import { Approvals } from "./approvals.ts";
import { ApprovedLaunches } from "./approved-launches.ts";
import { entryIdOf, launchFacts } from "./launch-facts.ts";

function createApprovals(location: string | false = ":memory:") {
  const clock = new ManualClock();
  const store = new HostStore({ location: location || undefined, clock, logger: silentLogger });
  const state = { file: "/bin/run" };
  const launches = new ApprovedLaunches(
    () => ({ commandPath: state.file, folder: "/work" }),
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
  return { store, launches, approvals, server, load, state };
}

describe("approvals of several hosts", () => {
  it("PRM-21: one that another host gives counts here, and one that it takes back no longer does", async () => {
    const root = await mkdtemp(path.join(tmpdir(), "approvals-"));
    const location = path.join(root, "s.db");
    const [one, other] = [createApprovals(location), createApprovals(location)];
    const launchId = await one.approvals.approve(one.server, { by: "cli" });
    expect(one.launches.lookUp(one.server.config).launchId).toBe(launchId);
    expect(other.approvals.hasFor("p")).toBe(false);
    expect(await other.load()).toEqual([]);
    expect(other.launches.isApproved(other.server)).toBe(true);
    expect(other.approvals.hasFor("p")).toBe(true);
    expect(other.approvals.hasFor("q")).toBe(false);
    expect(await other.approvals.listFor("p")).toMatchObject([
      { launchId, serverName: "p", approvedBy: "cli" },
    ]);
    // A second launch of the same entry, so that one approval of the name is left.
    other.state.file = "/bin/other";
    await other.approvals.approve(other.server, {});
    expect(await other.approvals.listFor("p")).toMatchObject([
      { approvedBy: "host" },
      { approvedBy: "cli" },
    ]);
    await one.store.write((store) => store.approvals.revoke({ launchId }));
    expect(await other.load()).toEqual([]);
    expect(other.approvals.hasFor("p")).toBe(true);
    await one.approvals.revoke(one.server);
    expect(await other.load()).toEqual([other.server]);
    expect(other.launches.isApproved(other.server)).toBe(false);
    expect(other.approvals.hasFor("p")).toBe(false);
    expect(await other.load()).toEqual([]);
    for (const { store } of [one, other]) await store.close();
    await rm(root, { recursive: true });
  });

  it("PRM-21: files are looked at again, except behind a server that runs", async () => {
    const { store, approvals, launches, server, state } = createApprovals();
    const loadWhile = (isRunning: boolean) =>
      approvals.load(
        () => [server],
        () => isRunning,
      );
    await approvals.approve(server, {});
    state.file = "/bin/other";
    await loadWhile(true);
    expect(launches.isApproved(server)).toBe(true);
    await loadWhile(false);
    expect(launches.isApproved(server)).toBe(false);
    await store.close();
  });

  it("PRM-21: exactly what was shown is approved, or nothing", async () => {
    const { store, approvals, launches, server } = createApprovals();
    const { launchId } = launches.lookUp(server.config);
    await expect(approvals.approve(server, { launchId: "another" })).rejects.toMatchObject({
      code: "not_approved",
      message: expect.stringContaining('what "p" would start is not what was shown'),
      hint: `look at it again: ${ownCommand("approve", "p")}`,
      serverName: "p",
    });
    expect(launches.isApproved(server)).toBe(false);
    expect(await approvals.approve(server, { launchId })).toBe(launchId);
    expect(launches.isApproved(server)).toBe(true);
    await store.close();
  });

  it("without a store an approval counts as long as the host", async () => {
    const { approvals, launches, server, load } = createApprovals(false);
    await approvals.approve(server, {});
    expect(await load()).toEqual([]);
    expect(launches.isApproved(server)).toBe(true);
    expect(approvals.hasFor("p")).toBe(false);
    expect(await approvals.listFor("p")).toEqual([]);
    await approvals.revoke(server);
    expect(launches.isApproved(server)).toBe(false);
  });
});

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
