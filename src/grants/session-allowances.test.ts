import { describe, expect, it } from "vitest";

import { consentId } from "../../tests/fixtures/store/made-up-ids.ts";
import { AccessRevision } from "../policy/access-revision.ts";
import type { ConsentSubject } from "./consent-subject.ts";
import { SessionAllowances } from "./session-allowances.ts";

const read: ConsentSubject = {
  serverName: "files",
  toolName: "read",
  consentId: consentId("id"),
  epoch: 1,
  fingerprint: "of read",
};
const write: ConsentSubject = { ...read, toolName: "write", fingerprint: "of write" };

describe("SessionAllowances", () => {
  it("PRM-09: a tool is allowed by its key, and no other one is", () => {
    const allowances = new SessionAllowances(new AccessRevision());
    expect([...allowances.keysFor(read)]).toEqual([]);
    allowances.allowTool(read);
    expect([...allowances.keysFor(read)]).toEqual(["mcp:files:read"]);
    expect([...allowances.keysFor(write)]).toEqual([]);
    expect([...allowances.keysFor({ ...read, serverName: "other" })]).toEqual([]);
  });

  it("PRM-09: a server is allowed with the tools that it had then", () => {
    const allowances = new SessionAllowances(new AccessRevision());
    allowances.allowServer(read, ["of read", "of write"]);
    for (const subject of [read, write])
      expect([...allowances.keysFor(subject)]).toEqual(["mcp:files"]);
    expect([...allowances.keysFor({ ...read, toolName: "new", fingerprint: "of new" })]).toEqual(
      [],
    );
    allowances.allowTool(read);
    expect([...allowances.keysFor(read)]).toEqual(["mcp:files", "mcp:files:read"]);
  });

  it.each<[string, Partial<ConsentSubject>]>([
    ["another server behind the same name", { consentId: consentId("another id") }],
    ["a server that was disconnected on purpose since then", { epoch: 2 }],
    ["another definition of the tool", { fingerprint: "another" }],
  ])("PRM-09: nothing is allowed of %s", (_, change) => {
    const allowances = new SessionAllowances(new AccessRevision());
    allowances.allowTool(read);
    allowances.allowServer(read, [read.fingerprint]);
    expect([...allowances.keysFor({ ...read, ...change })]).toEqual([]);
  });

  it("what is allowed counts for verdicts that were given before", () => {
    const revision = new AccessRevision();
    const allowances = new SessionAllowances(revision);
    const seen = [revision.count];
    allowances.allowTool(read);
    seen.push(revision.count);
    allowances.allowServer(read, []);
    seen.push(revision.count);
    expect(new Set(seen).size).toBe(3);
  });
});
