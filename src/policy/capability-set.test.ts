import fc from "fast-check";
import { describe, expect, it } from "vitest";

import { CapabilitySet } from "./capability-set.ts";

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

  it.each(["mcp:github", "github", "mcp:github:read_*", "mcp::x", "mcp:github:", ""])(
    "a resource that could never match is refused: %j",
    (resource) => {
      expect(() => new CapabilitySet().grant(resource)).toThrow(
        expect.objectContaining({ code: "config_invalid" }),
      );
    },
  );

  it("PRM-22: a right for some time ends by the clock", () => {
    const capabilities = new CapabilitySet().grant("mcp:a:b", "execute", { expiresAt: 1_000 });
    expect(capabilities.allows("mcp:a:b", "execute", 999)).toBe(true);
    expect(capabilities.allows("mcp:a:b", "execute", 1_000)).toBe(false);
  });

  it.each([Number.NaN, "2030-01-01", "1900000000000", null, {}, true])(
    "PRM-22: an end that is no time is refused, never read as none: %j",
    (end) => {
      const terms = { expiresAt: end as number };
      const refusal = expect.objectContaining({ code: "config_invalid" });
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
    expect(() => copy.grant("mcp:a:c")).toThrow(expect.objectContaining({ code: "denied" }));
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
