import fc from "fast-check";
import { describe, expect, it } from "vitest";

import { type Capability, CapabilitySet } from "./capability-set.ts";

/** A set made of whatever a program without types hands over. */
const made = (capabilities: unknown = []): CapabilitySet =>
  new CapabilitySet(capabilities as Iterable<Capability>);

describe("CapabilitySet", () => {
  it("PRM-02: a grant allows exactly that tool", () => {
    const capabilities = new CapabilitySet().grant("mcp:filesystem:read_file", "execute");
    expect(capabilities.allows("mcp:filesystem:read_file", "execute")).toBe(true);
    expect(capabilities.allows("mcp:filesystem:write_file", "execute")).toBe(false);
    expect(capabilities.allows("mcp:filesystem2:read_file", "execute")).toBe(false);
    expect(capabilities.allows("mcp:filesystem:read_file", "read")).toBe(false);
    expect(new CapabilitySet().allows("mcp:filesystem:read_file", "execute")).toBe(false);
  });

  it("PRM-22: wildcards stand for whole parts", () => {
    const github = new CapabilitySet().grant("mcp:github:*", "execute");
    expect(github.allows("mcp:github:create_issue", "execute")).toBe(true);
    expect(github.allows("mcp:github:a:b", "execute")).toBe(true);
    expect(github.allows("mcp:gitlab:create_issue", "execute")).toBe(false);
    expect(new CapabilitySet().grant("mcp:*:*").allows("mcp:x:y", "execute")).toBe(true);
    expect(new CapabilitySet().grant("mcp:*:read").allows("mcp:x:write", "execute")).toBe(false);
  });

  it("PRM-22: an action that is a wildcard stands for every action", () => {
    const capabilities = new CapabilitySet().grant("mcp:a:b", "*");
    expect(capabilities.allows("mcp:a:b", "execute")).toBe(true);
    expect(capabilities.allows("mcp:a:b", "read")).toBe(true);
    expect(capabilities.reaches("mcp:a", "read")).toBe(true);
  });

  it.each([
    ["mcp:github", "does not have three parts"],
    ["github", "does not have three parts"],
    ["mcp::x", "does not have three parts"],
    ["mcp:github:", "does not have three parts"],
    ["", "does not have three parts"],
    ["mcp:github:read_*", 'has a "*" beside other characters, which matches nothing'],
  ])(
    "ERR-17: a resource that could never match is refused with the reason: %j",
    (resource, flaw) => {
      expect(() => new CapabilitySet().grant(resource)).toThrow(
        expect.objectContaining({
          code: "config_invalid",
          message: expect.stringContaining(`the capability "${resource}" ${flaw}`),
          hint: "write mcp:server:tool, mcp:server:* or mcp:*:*",
        }),
      );
    },
  );

  it("what is asked with fewer than three parts is allowed by nothing", () => {
    const everything = new CapabilitySet().grant("mcp:*:*");
    for (const resource of ["", "mcp", "mcp:github"])
      expect(everything.allows(resource, "execute"), resource).toBe(false);
    expect(everything.reaches("mcp", "execute")).toBe(false);
    expect([...everything.attenuate(["mcp:github", "mcp:a:b"])]).toEqual([
      { resource: "mcp:a:b", action: "execute" },
    ]);
  });

  it.each<[string, () => unknown]>([
    ['CapabilitySet: "capabilities" must be a list of capabilities', () => made(7)],
    ['CapabilitySet: "capabilities" must be a list of capabilities', () => made(null)],
    ['CapabilitySet: "capabilities" must be a list of capabilities', () => made("mcp:a:b")],
    ['CapabilitySet: "capabilities" must be a list of capabilities', () => made({})],
    ['CapabilitySet: "capability" must be an object', () => made(["mcp:a:b"])],
    ['CapabilitySet.grant: "resource" must be a string', () => made().grant(7 as never)],
    ['CapabilitySet.grant: "action" must be a string', () => made().grant("mcp:a:b", 7 as never)],
    [
      'CapabilitySet.grant: "terms" must be an object',
      () => made().grant("mcp:a:b", "execute", 7 as never),
    ],
    [
      'CapabilitySet.attenuate: "resources" must be a list with every item a string',
      () => made().attenuate([7] as never),
    ],
    ['CapabilitySet.attenuate: "terms" must be an object', () => made().attenuate([], 7 as never)],
    ['CapabilitySet: "resource" must be a string', () => made().allows(7 as never, "execute")],
    ['CapabilitySet: "resource" must be a string', () => made().reaches(7 as never, "execute")],
  ])("ERR-06: a value of the wrong type is refused by its name: %s", (message, use) => {
    expect(use).toThrow(expect.objectContaining({ code: "invalid_arguments", message }));
  });

  it("PRM-22: a right for some time ends by the clock", () => {
    const capabilities = new CapabilitySet().grant("mcp:a:b", "execute", { expiresAt: 1_000 });
    expect(capabilities.allows("mcp:a:b", "execute", 999)).toBe(true);
    expect(capabilities.allows("mcp:a:b", "execute", 1_000)).toBe(false);
  });

  it.each([Number.NaN, "2030-01-01", "1900000000000", null, {}, true])(
    "PRM-22: an end that is no time is refused, never read as none: %j",
    (end) => {
      const terms = { expiresAt: end as number };
      const refusal = expect.objectContaining({
        code: "config_invalid",
        message: "a right cannot end at what is no time",
        hint: "expiresAt is a number: milliseconds since the epoch",
      });
      expect(() => new CapabilitySet().grant("mcp:a:b", "execute", terms)).toThrow(refusal);
      const capability = { resource: "mcp:a:b", action: "execute", ...terms };
      expect(() => new CapabilitySet([capability])).toThrow(refusal);
      const parent = new CapabilitySet().grant("mcp:a:b");
      expect(() => parent.attenuate(["mcp:a:b"], terms)).toThrow(refusal);
    },
  );

  it("PRM-22: a right may say that it never ends", () => {
    const expiresAt = Number.POSITIVE_INFINITY;
    const set = new CapabilitySet().grant("mcp:a:b", "execute", { expiresAt });
    expect(set.allows("mcp:a:b", "execute", Number.MAX_SAFE_INTEGER)).toBe(true);
  });

  it("PRM-22: of several rights to the same thing the one that lasts longest is found", () => {
    const short = { resource: "mcp:a:b", action: "execute", expiresAt: 10 };
    const long = { resource: "mcp:a:*", action: "execute", expiresAt: 20 };
    const endless = { resource: "mcp:*:*", action: "execute" };
    const found = (...rights: Capability[]): Capability | undefined =>
      new CapabilitySet(rights).find("mcp:a:b", "execute", 5);
    expect(found(short, long)).toStrictEqual(long);
    expect(found(long, short)).toStrictEqual(long);
    expect(found(endless, long)).toStrictEqual(endless);
    expect(found(short, endless, long)).toStrictEqual(endless);
    expect(new CapabilitySet([short, long]).find("mcp:a:b", "execute", 20)).toBeUndefined();
  });

  it("PRM-03: reaches the servers of which it allows anything, for as long as it does", () => {
    const set = new CapabilitySet()
      .grant("mcp:files:read", "execute", { expiresAt: 1_000 })
      .grant("mcp:a%3Ab:x")
      .grant("mcp:logs:read", "read");
    expect(set.reaches("mcp:files", "execute", 999)).toBe(true);
    expect(set.reaches("mcp:files", "execute", 1_000)).toBe(false);
    expect(set.reaches("mcp:file", "execute", 0)).toBe(false);
    expect(set.reaches("mcp:a%3Ab", "execute", 0)).toBe(true);
    expect(set.reaches("mcp:a", "execute", 0)).toBe(false);
    expect(set.reaches("mcp:logs", "execute", 0)).toBe(false);
    expect(new CapabilitySet().grant("mcp:*:read").reaches("mcp:x", "execute")).toBe(true);
    expect(new CapabilitySet().grant("a2a:*:*").reaches("mcp:x", "execute")).toBe(false);
    expect(new CapabilitySet().reaches("mcp:x", "execute")).toBe(false);
  });

  it("C-22: grows until it is frozen, and a frozen copy stays as it was", () => {
    const capabilities = new CapabilitySet().grant("mcp:a:b");
    const copy = capabilities.toFrozen();
    capabilities.grant("mcp:a:c");
    expect(copy.allows("mcp:a:c", "execute")).toBe(false);
    expect(() => copy.grant("mcp:a:c")).toThrow(
      expect.objectContaining({
        code: "denied",
        message: "this set of capabilities is frozen: nothing can be added to it",
      }),
    );
    expect(capabilities.freeze().toFrozen()).toBe(capabilities);
  });

  it("C-22: attenuating gives a frozen subset", () => {
    const parent = new CapabilitySet()
      .grant("mcp:github:*")
      .grant("mcp:files:read", "execute", { expiresAt: 5_000 });
    const child = parent.attenuate(["mcp:github:create_issue", "mcp:files:*", "mcp:other:*"]);
    expect(child.isFrozen).toBe(true);
    expect([...child]).toEqual([
      { resource: "mcp:github:create_issue", action: "execute" },
      { resource: "mcp:files:read", action: "execute", expiresAt: 5_000 },
    ]);
    expect(
      parent.attenuate(["mcp:*:*"], { expiresAt: 10 }).allows("mcp:github:x", "execute", 11),
    ).toBe(false);
    expect(parent.attenuate([]).size).toBe(0);
  });

  const part = fc.constantFrom("*", "a", "b", "c");
  const name = fc.constantFrom("a", "b", "c");
  const pattern = fc.tuple(part, part).map(([server, tool]) => `mcp:${server}:${tool}`);
  const resource = fc.tuple(name, name).map(([server, tool]) => `mcp:${server}:${tool}`);

  it("PRM-03: reaches exactly the servers of which it allows a tool", () => {
    const tools = ["a", "b", "c", "d"];
    fc.assert(
      fc.property(fc.array(pattern), name, (granted, server) => {
        const set = new CapabilitySet(granted.map((it) => ({ resource: it, action: "execute" })));
        expect(set.reaches(`mcp:${server}`, "execute")).toBe(
          tools.some((tool) => set.allows(`mcp:${server}:${tool}`, "execute")),
        );
      }),
    );
  });

  it("C-22: whatever is attenuated, and however often, allows nothing its parent does not", () => {
    fc.assert(
      fc.property(
        fc.array(fc.tuple(pattern, fc.option(fc.integer({ min: 0, max: 9 }), { nil: undefined }))),
        fc.array(fc.array(pattern), { maxLength: 3 }),
        resource,
        fc.integer({ min: 0, max: 9 }),
        (grants, narrowings, asked, now) => {
          const parent = new CapabilitySet();
          for (const [granted, expiresAt] of grants)
            parent.grant(granted, "execute", { expiresAt });
          let child = parent;
          for (const patterns of narrowings) {
            const before = child;
            child = child.attenuate(patterns);
            const isNamed = new CapabilitySet(
              patterns.map((it) => ({ resource: it, action: "execute" })),
            ).allows(asked, "execute", now);
            expect(child.allows(asked, "execute", now)).toBe(
              isNamed && before.allows(asked, "execute", now),
            );
          }
        },
      ),
    );
  });
});
