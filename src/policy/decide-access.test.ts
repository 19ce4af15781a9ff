import { describe, expect, it } from "vitest";

import { ownCommand } from "../text/own-command.ts";
import {
  type ToolFacts,
  accessRules,
  denyContent,
  denyLaunch,
  denyServer,
  denyTool,
  errorOfDenial,
  explainTool,
} from "./decide-access.ts";

const fine: ToolFacts = {
  serverName: "github",
  toolName: "create_issue",
  isEnabled: true,
  isLaunchApproved: true,
  isOffered: true,
  isVisible: true,
  level: "trusted",
  hasCapabilities: false,
  reachesServer: false,
  isCapable: false,
  pin: "accepted",
};

describe("the authorization chain", () => {
  it.each<[string, Partial<ToolFacts>, string]>([
    ["trusted", {}, "allowed"],
    ["yolo", { level: "yolo" }, "allowed"],
    ["PRM-12: sandboxed", { level: "sandboxed" }, "level denied"],
    ["PRM-07: no level", { level: undefined }, "level denied"],
    [
      "a set of capabilities in place of a level",
      { level: undefined, hasCapabilities: true, isCapable: true },
      "allowed",
    ],
    [
      "a set does not lift a sandboxed agent",
      { level: "sandboxed", hasCapabilities: true, isCapable: true },
      "level denied",
    ],
    ["PRM-03: not granted", { hasCapabilities: true }, "capability denied"],
    ["PRM-03: not granted, yolo", { level: "yolo", hasCapabilities: true }, "capability denied"],
    ["disabled", { isEnabled: false }, "enabled server_disabled"],
    ["not approved", { isLaunchApproved: false }, "approval not_approved"],
    ["not approved, yolo", { isLaunchApproved: false, level: "yolo" }, "approval not_approved"],
    ["PRM-15: filtered out", { isOffered: false }, "filter tool_unknown"],
    ["not visible", { isVisible: false }, "visibility server_unknown"],
    ["PRM-21: changed", { pin: "changed" }, "pin definition_changed"],
    ["changed, yolo", { pin: "changed", level: "yolo" }, "pin definition_changed"],
    ["reads like an attack", { pin: "suspect" }, "pin definition_changed"],
  ])("%s: %o gives %s", (_, facts, expected) => {
    const denial = denyTool({ ...fine, ...facts });
    expect(denial === undefined ? "allowed" : `${denial.rule} ${denial.code}`).toBe(expected);
  });

  it.each<[Partial<ToolFacts>, string, string | undefined]>([
    [{ isEnabled: false }, 'server "github" is disabled', 'set "enabled": true in its entry'],
    [
      { isLaunchApproved: false },
      'server "github" comes from a project file and has not been approved',
      `read its entry, then: ${ownCommand("approve", "github")}`,
    ],
    [
      { isOffered: false },
      'no tool "create_issue": the entry of "github" leaves it out',
      "see enabledTools and disabledTools of the entry",
    ],
    [{ isVisible: false }, 'no server "github"', undefined],
    [
      { level: undefined },
      "the agent has no permission level, so it may not use MCP servers",
      'give the session a level: "trusted" asks, "yolo" does not',
    ],
    [
      { level: "sandboxed" },
      "agents of level sandboxed may not use MCP servers",
      'give the session a level: "trusted" asks, "yolo" does not',
    ],
    [
      { hasCapabilities: true },
      "the agent was not granted mcp:github:create_issue",
      "grant it in the CapabilitySet before the session is made",
    ],
    [
      { pin: "changed" },
      "the definition of create_issue is not the one that was accepted",
      `see what it is now: ${ownCommand("approve", "github")}`,
    ],
    [
      { pin: "suspect" },
      "the definition of create_issue reads like an attack and nobody has accepted it",
      `see what it is now: ${ownCommand("approve", "github")}`,
    ],
  ])("ERR-17: %o is refused with what is wrong and what to do about it", (facts, reason, hint) => {
    expect(denyTool({ ...fine, ...facts })).toMatchObject({ reason });
    expect(denyTool({ ...fine, ...facts })?.hint).toBe(hint);
  });

  it("C-21: asks in the order of the design, and the first objection decides", () => {
    const wrong: Record<(typeof accessRules)[number], Partial<ToolFacts>> = {
      enabled: { isEnabled: false },
      approval: { isLaunchApproved: false },
      filter: { isOffered: false },
      visibility: { isVisible: false },
      level: { level: "sandboxed" },
      capability: { hasCapabilities: true, isCapable: false },
      pin: { pin: "changed" },
    };
    for (const [index, rule] of accessRules.entries()) {
      const facts = Object.assign({}, fine, ...accessRules.slice(index).map((it) => wrong[it]));
      expect(denyTool(facts as ToolFacts)?.rule).toBe(rule);
    }
  });

  it("every single rule is enough to say no", () => {
    const denials = [
      { isEnabled: false },
      { isLaunchApproved: false },
      { isOffered: false },
      { isVisible: false },
      { level: undefined },
      { hasCapabilities: true },
      { pin: "changed" as const },
    ].map((facts) => denyTool({ ...fine, level: "yolo", ...facts })?.rule);
    expect(denials).toEqual(accessRules);
  });

  it("launching looks at the server only, using it at the agent, too, and neither at the tool", () => {
    expect(
      denyLaunch({ ...fine, isVisible: false, level: undefined } as ToolFacts),
    ).toBeUndefined();
    expect(denyLaunch({ ...fine, isEnabled: false })).toMatchObject({ rule: "enabled" });
    expect(denyServer({ ...fine, level: undefined })).toMatchObject({ rule: "level" });
    expect(denyServer({ ...fine, pin: "changed", isOffered: false } as ToolFacts)).toBeUndefined();
  });

  it("PRM-03: a server that the set does not reach is not used; one that it does is, before its tools are known", () => {
    const granted = { ...fine, hasCapabilities: true };
    expect(denyServer(granted)).toEqual({
      rule: "capability",
      code: "denied",
      reason: 'the agent was granted nothing of server "github"',
      hint: "grant it in the CapabilitySet before the session is made",
    });
    expect(denyServer({ ...granted, reachesServer: true })).toBeUndefined();
    expect(denyServer({ ...granted, level: "yolo" })).toMatchObject({ rule: "capability" });
    expect(denyTool({ ...granted, reachesServer: true })).toMatchObject({ rule: "capability" });
  });

  it("what is no tool needs a right of its own, and knows neither filter nor pin", () => {
    const granted = { ...fine, hasCapabilities: true, reachesServer: true };
    expect(denyContent(granted)).toMatchObject({
      rule: "capability",
      reason: "the agent was not granted mcp:github:create_issue",
    });
    expect(
      denyContent({ ...granted, isCapable: true, isOffered: false, pin: "changed" } as ToolFacts),
    ).toBeUndefined();
    expect(denyContent({ ...fine, isLaunchApproved: false })).toMatchObject({ rule: "approval" });
    expect(denyContent({ ...fine, level: "sandboxed" })).toMatchObject({ rule: "level" });
  });

  it("explains every step, also those after the first objection", () => {
    const steps = explainTool({ ...fine, isEnabled: false, pin: "changed" });
    expect(steps.map(({ rule }) => rule)).toEqual(accessRules);
    expect(steps.filter(({ passes }) => !passes).map(({ rule }) => rule)).toEqual([
      "enabled",
      "pin",
    ]);
    expect(steps[0]?.reason).toBe('server "github" is disabled');
  });

  it("ERR-10: a denial becomes a typed error that names server and rule", () => {
    const denial = denyTool({ ...fine, level: "sandboxed" });
    if (denial === undefined) throw new Error("must be denied");
    expect(errorOfDenial(denial, "github")).toMatchObject({
      name: "McpPermissionError",
      code: "denied",
      serverName: "github",
      details: { rule: "level" },
    });
  });

  it("D8: a tool's name cannot write to the terminal from an error text", () => {
    const toolName = "\u001B[31mred\u202Edesrever\n";
    const denial = denyTool({ ...fine, toolName, pin: "changed" });
    expect(denial?.reason).toBe(
      "the definition of red\uFFFDdesrever  is not the one that was accepted",
    );
  });
});
