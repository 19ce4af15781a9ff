import { describe, expect, it } from "vitest";

import { pinTools } from "./pin-tools.ts";
import { fingerprintOf } from "./tool-fingerprint.ts";

const tool = (description: string, name = "send") => ({
  name,
  description,
  inputSchema: { type: "object" as const },
});
const accepted = (...tools: ReturnType<typeof tool>[]) =>
  tools.map((it) => [it.name, { fingerprint: fingerprintOf(it) }] as const);

const twice = [tool("a"), tool("b")];
const isTrusting = () => true;
const isSuspicious = () => false;

describe("pinTools", () => {
  it.each([
    { what: "a new one that reads well", before: [], listed: [tool("a")], verdict: "fresh" },
    {
      what: "one that is as it was",
      before: [tool("a")],
      listed: [tool("a")],
      verdict: "accepted",
    },
    { what: "one that has changed", before: [tool("a")], listed: [tool("b")], verdict: "changed" },
    { what: "the first of two", before: [tool("a")], listed: twice, verdict: "accepted" },
    { what: "the first of two, changed", before: [tool("b")], listed: twice, verdict: "changed" },
    {
      what: "a new one that reads like an attack",
      before: [],
      listed: [tool("a")],
      readsWell: isSuspicious,
      verdict: "suspect",
    },
    {
      what: "a known one, which is not read again",
      before: [tool("a")],
      listed: [tool("a")],
      readsWell: isSuspicious,
      verdict: "accepted",
    },
  ])("PRM-21: $what", async ({ before, listed, readsWell = isTrusting, verdict }) => {
    const judged = await pinTools(listed, accepted(...before), readsWell);
    const isFresh = judged.fresh.length > 0;
    const reason = judged.quarantined.get("send")?.reason;
    expect(reason ?? (isFresh ? "fresh" : "accepted")).toBe(verdict);
    expect(judged.quarantined.size + judged.fresh.length).toBeLessThanOrEqual(1);
  });

  it("what was accepted stays so when it is no longer listed", async () => {
    const { accepted: after } = await pinTools([], accepted(tool("a")), isTrusting);
    expect([...after.keys()]).toEqual(["send"]);
  });

  it("L7: holds a hundred definitions of tools that are gone, and every pin", async () => {
    const stored = Array.from({ length: 60 }, (_, index) => tool("a", `stored-${index}`));
    const gone = Array.from({ length: 150 }, (_, index) => tool("a", `gone-${index}`));
    const listed = Array.from({ length: 120 }, (_, index) => tool("a", `listed-${index}`));
    const { accepted: before } = await pinTools(
      [...gone, ...listed],
      accepted(...stored),
      isTrusting,
    );
    const { accepted: after } = await pinTools(listed, before, isTrusting);
    const held = [...after].filter(([, { definition }]) => definition !== undefined);
    const ofKind = (kind: string) => held.filter(([name]) => name.startsWith(kind)).length;
    expect([ofKind("stored"), ofKind("gone"), ofKind("listed")]).toEqual([0, 100, 120]);
    for (const one of [...stored, ...gone, ...listed])
      expect(after.get(one.name)?.fingerprint).toBe(fingerprintOf(one));
  });

  it("decision 7: gives way to other work after a while, however few tools there are", async () => {
    const read: string[] = [];
    const readBetween = new Promise<number>((resolve) => {
      setImmediate(() => setImmediate(() => resolve(read.length)));
    });
    const slowToRead = (fingerprint: string): boolean => {
      const until = performance.now() + 15;
      while (performance.now() < until);
      read.push(fingerprint);
      return true;
    };
    const listed = ["a", "b", "c", "d", "e"].map((name) => tool("A large one", name));
    await pinTools(listed, [], slowToRead);
    expect(read).toHaveLength(5);
    expect(await readBetween).toBeLessThan(5);
  });

  it("L7: of a server that names new tools again and again, those beyond the cap wait unread", async () => {
    const named = (round: number) =>
      Array.from({ length: 3_000 }, (_, index) => tool("a", `r${round}-${index}`));
    let read = 0;
    const counting = () => (read += 1) > 0;
    const first = await pinTools(named(1), [], counting);
    expect([first.fresh.length, first.quarantined.size]).toEqual([3_000, 0]);
    const second = await pinTools(named(2), first.accepted, counting);
    expect([second.fresh.length, second.quarantined.size, read]).toEqual([2_000, 1_000, 5_000]);
    expect(second.quarantined.get("r2-2999")?.reason).toBe("suspect");
    const third = await pinTools([...named(3), tool("a", "r1-0")], second.accepted, counting);
    expect([third.accepted.size, third.quarantined.size, read]).toEqual([5_000, 3_000, 5_000]);
    // A known tool is what it was, and few definitions of those that are gone are held.
    expect(third.quarantined.has("r1-0")).toBe(false);
    const held = [...third.accepted.values()].filter(({ definition }) => definition !== undefined);
    expect(held.length).toBeLessThanOrEqual(101);
  });
});
