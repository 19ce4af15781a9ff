import { describe, expect, it } from "vitest";

import { CapabilitySet, executeAction } from "./capability-set.ts";
import { type ConsentFacts, decideConsent } from "./decide-consent.ts";
import { canUseMcp, requiresMcpConfirmation } from "./permission-level.ts";
import { serverResource, toolResource } from "./resource-name.ts";

const first: ConsentFacts = {
  serverName: "github",
  toolName: "create_issue",
  level: "trusted",
  mode: "ask-per-server",
  claimsReadOnly: false,
  claimsDestructive: false,
  skipReadOnlyPrompts: false,
  allowances: new Set(),
  isGranted: false,
  isCapable: false,
  isParentAsked: false,
};
const ofServer = new Set([serverResource("github")]);
const ofTool = new Set([toolResource("github", "create_issue")]);

describe("consent", () => {
  it.each<[string, Partial<ConsentFacts>, string]>([
    ["PRM-06: a trusted agent is asked", {}, "ask"],
    ["PRM-06: yolo never is", { level: "yolo", claimsDestructive: true }, "yolo"],
    ["PRM-13: allow-all", { mode: "allow-all", claimsDestructive: true }, "allow-all"],
    ["a stored grant", { isGranted: true }, "grant"],
    ["a stored grant of a destructive tool", { isGranted: true, claimsDestructive: true }, "grant"],
    ["D10: a claim to be read-only does not count by itself", { claimsReadOnly: true }, "ask"],
    [
      "it counts where the entry believes it",
      { claimsReadOnly: true, skipReadOnlyPrompts: true },
      "read-only",
    ],
    [
      "unless the same tool claims to be destructive",
      { claimsReadOnly: true, claimsDestructive: true, skipReadOnlyPrompts: true },
      "ask",
    ],
    ["PRM-09: the server was allowed", { allowances: ofServer }, "server-allowed"],
    [
      "the server was allowed, the tool is destructive",
      { claimsDestructive: true, allowances: ofServer },
      "ask",
    ],
    [
      "PRM-14: asked per tool, the server's allowance is not enough",
      { mode: "ask-per-tool", allowances: ofServer },
      "ask",
    ],
    [
      "asked per tool, the tool was allowed",
      { mode: "ask-per-tool", allowances: ofTool },
      "tool-allowed",
    ],
    ["the tool was allowed", { allowances: ofTool }, "tool-allowed"],
    ["another server was allowed", { allowances: new Set([serverResource("git")]) }, "ask"],
    ["no level at all still needs it", { level: undefined }, "ask"],
    [
      "PRM-05: a set given in place of a level is the program's consent",
      { level: undefined, isCapable: true },
      "capability",
    ],
    [
      "PRM-05: to destructive tools, too, and whatever the mode of the connection",
      { level: undefined, isCapable: true, claimsDestructive: true, mode: "ask-per-tool" },
      "capability",
    ],
    ["a set beside a level only narrows", { isCapable: true }, "ask"],
    ["C-22: a grant, if the parent has to ask", { isGranted: true, isParentAsked: true }, "ask"],
    ["C-22: yolo, if the parent has to ask", { level: "yolo", isParentAsked: true }, "ask"],
    ["C-22: allow-all, if the parent asks", { mode: "allow-all", isParentAsked: true }, "ask"],
    [
      "C-22: what the session itself was allowed, whatever its parent",
      { isGranted: true, isParentAsked: true, allowances: ofTool },
      "tool-allowed",
    ],
  ])("%s", (_, facts, expected) => {
    expect(decideConsent({ ...first, ...facts })).toBe(expected);
  });

  it("a server whose name looks like a tool's key is not that tool", () => {
    expect(serverResource("a:b")).not.toBe(toolResource("a", "b"));
    expect(serverResource("github")).toBe("mcp:github");
    expect(toolResource("github", "create_issue")).toBe("mcp:github:create_issue");
  });
});

describe("the name of a resource", () => {
  it("PRM-03: the name of a server or a tool is never a wildcard", () => {
    const github = new CapabilitySet().grant("mcp:github:create_issue");
    for (const name of ["*", "git*", "**"])
      expect(github.reaches(serverResource(name), executeAction), name).toBe(false);
    const star = new CapabilitySet().grant(toolResource("*", "read"));
    expect(star.allows(toolResource("*", "read"), executeAction)).toBe(true);
    expect(star.allows(toolResource("github", "read"), executeAction)).toBe(false);
    const tool = new CapabilitySet().grant(toolResource("files", "*"));
    expect(tool.allows(toolResource("files", "*"), executeAction)).toBe(true);
    expect(tool.allows(toolResource("files", "delete"), executeAction)).toBe(false);
  });

  it("PRM-03: a name that reads like an escaped one is another name", () => {
    expect(toolResource("files", "%2A")).not.toBe(toolResource("files", "*"));
    expect(serverResource("%2A")).not.toBe(serverResource("*"));
    expect(toolResource("files", "a:b")).toBe("mcp:files:a:b");
    expect(serverResource("a:b")).toBe("mcp:a%3Ab");
    expect(serverResource("50%")).toBe("mcp:50%25");
  });
});

describe("the seeds' permission table", () => {
  const none = new Set<string>();
  it.each([
    ["yolo", true, false],
    ["trusted", true, true],
    ["sandboxed", false, true],
    [undefined, false, true],
    [null, false, true],
    [{ level: "yolo" }, true, false],
    [{}, false, true],
  ] as const)(
    "PRM-06, PRM-07, PRM-08: %o: may use MCP %s, is asked first %s",
    (level, may, asks) => {
      expect(canUseMcp(level)).toBe(may);
      expect(requiresMcpConfirmation(level, "github", none)).toBe(asks);
    },
  );

  it("ERR-06: a name that is no text is refused by its parameter", () => {
    expect(() => requiresMcpConfirmation("trusted", 7 as never)).toThrow(
      'requiresMcpConfirmation: "serverName" must be a string',
    );
  });

  it("PRM-08, PRM-09: an allowance of the very server ends the question", () => {
    expect(requiresMcpConfirmation("trusted", "github", new Set(["mcp:github"]))).toBe(false);
    expect(requiresMcpConfirmation("trusted", "git", new Set(["mcp:github"]))).toBe(true);
    expect(requiresMcpConfirmation(undefined, "github", new Set(["mcp:github"]))).toBe(false);
  });
});
