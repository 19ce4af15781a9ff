import { describe, expect, it } from "vitest";

import { parseServerEntry } from "../config/parse/parse-config.ts";
import { AccessRevision } from "../policy/access-revision.ts";
import { ApprovedLaunches } from "./approved-launches.ts";
import { entryIdOf, launchFacts } from "./launch-facts.ts";

function serverOf(entry: object) {
  const config = parseServerEntry("s", entry);
  return { config, entryId: entryIdOf(launchFacts(config)) };
}

/** A machine on which every command stands for `file`, which can be exchanged. */
function machine() {
  const state = { file: "/bin/one", folder: "/work", looks: 0 };
  const revision = new AccessRevision();
  const approvals = new ApprovedLaunches(() => {
    state.looks += 1;
    return { commandPath: state.file, folder: state.folder };
  }, revision);
  return { state, approvals, revision };
}

describe("approved launches", () => {
  const server = serverOf({ command: "run" });

  it("a look counts as a change of access when it finds something else than the one before", () => {
    const { state, approvals, revision } = machine();
    approvals.add(approvals.lookUp(server.config));
    const { count } = revision;
    approvals.lookUp(server.config);
    expect(approvals.has(server)).toBe(true);
    expect(revision.count).toBe(count);
    state.file = "/tmp/two";
    approvals.lookUp(server.config);
    expect([approvals.has(server), revision.count]).toEqual([false, count + 1]);
  });

  it("forgetting a look counts as a change of access where there was one", () => {
    const { state, approvals, revision } = machine();
    approvals.forgetLook(server);
    expect(revision.count).toBe(0);
    approvals.add(approvals.lookUp(server.config));
    const { count } = revision;
    state.file = "/tmp/two";
    approvals.forgetLook(server);
    expect([approvals.has(server), revision.count]).toEqual([false, count + 1]);
  });

  it("PRM-21, I1: the path of an entry that nobody approved is not even looked at", () => {
    const { state, approvals } = machine();
    expect(approvals.has(server)).toBe(false);
    approvals.add(approvals.lookUp(serverOf({ command: "other" }).config));
    const looks = state.looks;
    expect(approvals.has(server)).toBe(false);
    expect(state.looks).toBe(looks);
  });

  it("PRM-21: an approval covers the entry, the folder and the file behind the command", () => {
    const { state, approvals } = machine();
    approvals.add(approvals.lookUp(server.config));
    expect(approvals.has(server)).toBe(true);
    for (const change of [{ file: "/tmp/two" }, { folder: "/elsewhere" }]) {
      const before = { ...state };
      Object.assign(state, change);
      approvals.forgetLook(server);
      expect(approvals.has(server)).toBe(false);
      Object.assign(state, before);
      approvals.forgetLook(server);
      expect(approvals.has(server)).toBe(true);
    }
  });

  it("the file is looked up once, until somebody wants to know again", () => {
    const { state, approvals } = machine();
    const launch = approvals.lookUp(server.config);
    approvals.add(launch);
    for (let count = 0; count < 3; count += 1) expect(approvals.has(server)).toBe(true);
    approvals.add(launch);
    expect(approvals.has(server)).toBe(true);
    expect(state.looks).toBe(1);
  });

  it("PRM-21: who approves again what was approved before has approved it", () => {
    const { state, approvals } = machine();
    approvals.add(approvals.lookUp(server.config));
    state.file = "/bin/two";
    approvals.forgetLook(server);
    expect(approvals.has(server)).toBe(false);
    state.file = "/bin/one";
    approvals.add(approvals.lookUp(server.config));
    expect(approvals.has(server)).toBe(true);
  });

  it("several files of one command can be approved, and are taken back one by one or together", () => {
    const { state, approvals } = machine();
    const one = approvals.lookUp(server.config);
    approvals.add(one);
    state.file = "/bin/two";
    approvals.add(approvals.lookUp(server.config));
    expect(approvals.has(server)).toBe(true);
    approvals.delete(one.launchId);
    expect(approvals.has(server)).toBe(true);
    approvals.deleteAll(server);
    expect(approvals.has(server)).toBe(false);
  });
});
