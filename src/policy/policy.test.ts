import { describe, expect, it } from "vitest";

import { type AccessFacts, decideAccess, decideLaunch, errorOfDenial } from "./decide-access.ts";
import {
  type ConsentFacts,
  needsConsent,
  serverAllowance,
  toolAllowance,
} from "./decide-consent.ts";

const trusted: AccessFacts = {
  serverName: "github",
  isEnabled: true,
  isLaunchApproved: true,
  isVisible: true,
  level: "trusted",
};

describe("decideAccess", () => {
  it.each<[string, Partial<AccessFacts>, string]>([
    ["trusted", {}, "allowed"],
    ["yolo", { level: "yolo" }, "allowed"],
    ["sandboxed", { level: "sandboxed" }, "level denied"],
    ["no level", { level: undefined }, "level denied"],
    ["disabled", { isEnabled: false }, "enabled server_disabled"],
    ["not approved", { isLaunchApproved: false }, "approval not_approved"],
    ["not approved, yolo", { isLaunchApproved: false, level: "yolo" }, "approval not_approved"],
    [
      "disabled, not approved and no level",
      { isEnabled: false, isLaunchApproved: false, level: undefined },
      "enabled server_disabled",
    ],
  ])("%s: %o gives %s", (_, facts, expected) => {
    const decision = decideAccess({ ...trusted, ...facts });
    expect(decision.isAllowed ? "allowed" : `${decision.rule} ${decision.code}`).toBe(expected);
  });

  it("launching looks at the server only, never at the agent", () => {
    expect(decideLaunch(trusted).isAllowed).toBe(true);
    expect(decideLaunch({ ...trusted, isEnabled: false })).toMatchObject({ rule: "enabled" });
  });

  it("ERR-10: a denial becomes a typed error that names server and rule", () => {
    const decision = decideAccess({ ...trusted, level: "sandboxed" });
    if (decision.isAllowed) throw new Error("must be denied");
    expect(errorOfDenial(decision, "github")).toMatchObject({
      name: "McpPermissionError",
      code: "denied",
      serverName: "github",
      details: { rule: "level" },
    });
  });
});

const unknownTool: ConsentFacts = {
  serverName: "github",
  toolName: "create_issue",
  level: "trusted",
  claimsReadOnly: false,
  claimsDestructive: false,
  skipReadOnlyPrompts: false,
  allowances: new Set(),
};

describe("needsConsent", () => {
  it.each<[string, Partial<ConsentFacts>, boolean]>([
    ["a trusted agent is asked", {}, true],
    ["yolo is not", { level: "yolo", claimsDestructive: true }, false],
    ["a claim to be read-only does not count by itself", { claimsReadOnly: true }, true],
    [
      "it counts where the entry believes it",
      { claimsReadOnly: true, skipReadOnlyPrompts: true },
      false,
    ],
    [
      "unless the same tool claims to be destructive",
      { claimsReadOnly: true, claimsDestructive: true, skipReadOnlyPrompts: true },
      true,
    ],
    ["the server was allowed", { allowances: new Set([serverAllowance("github")]) }, false],
    [
      "the server was allowed, the tool is destructive",
      { claimsDestructive: true, allowances: new Set([serverAllowance("github")]) },
      true,
    ],
    [
      "the tool was allowed",
      { allowances: new Set([toolAllowance("github", "create_issue")]) },
      false,
    ],
    ["another server was allowed", { allowances: new Set([serverAllowance("git")]) }, true],
    ["no level at all still needs it", { level: undefined }, true],
  ])("%s", (_, facts, expected) => {
    expect(needsConsent({ ...unknownTool, ...facts })).toBe(expected);
  });

  it("a server whose name looks like a tool's key is not that tool", () => {
    expect(serverAllowance("a:b")).not.toBe(toolAllowance("a", "b"));
    expect(serverAllowance("github")).toBe("mcp:github");
    expect(toolAllowance("github", "create_issue")).toBe("mcp:github:create_issue");
  });
});
