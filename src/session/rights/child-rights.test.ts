import { describe, expect, it } from "vitest";

import { CapabilitySet } from "../../policy/capability-set.ts";
import type { PermissionLevel } from "../../policy/permission-level.ts";
import { childRights } from "./child-rights.ts";

type Level = PermissionLevel | undefined;

const rights = (level: Level, capabilities?: CapabilitySet) => ({
  agent: "main",
  level,
  capabilities,
});

describe("the rights of a child session", () => {
  it.each<[Level, Level, Level]>([
    ["yolo", "trusted", "trusted"],
    ["yolo", undefined, "yolo"],
    ["trusted", "yolo", "trusted"],
    ["trusted", "sandboxed", "sandboxed"],
    ["sandboxed", "yolo", "sandboxed"],
    [undefined, "yolo", undefined],
    [undefined, "sandboxed", "sandboxed"],
  ])("C-22: of a parent of level %s a child that wants %s has %s", (parent, wish, expected) => {
    expect(childRights(rights(parent), { level: wish }).level).toBe(expected);
  });

  it("C-22: capabilities only shrink", () => {
    const set = new CapabilitySet([{ resource: "mcp:github:*", action: "execute" }]);
    const { capabilities } = childRights(rights("yolo", set), {
      attenuate: ["mcp:github:list_issues", "mcp:files:*"],
    });
    expect([...(capabilities ?? [])].map(({ resource }) => resource)).toEqual([
      "mcp:github:list_issues",
    ]);
    expect(capabilities?.isFrozen).toBe(true);
    expect(childRights(rights("yolo", set), {}).capabilities).toBe(set);
  });

  it("C-22: a parent without a set gives exactly what is named", () => {
    const { capabilities } = childRights(rights("yolo"), { attenuate: ["mcp:files:*"] });
    expect(capabilities?.allows("mcp:files:read", "execute")).toBe(true);
    expect(capabilities?.allows("mcp:github:list", "execute")).toBe(false);
  });
});
