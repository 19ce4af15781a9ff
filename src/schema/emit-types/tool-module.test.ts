import { describe, expect, it } from "vitest";

import { type DescribedTool, ToolModule } from "./tool-module.ts";

const moduleOf = (serverName: string, tools: readonly DescribedTool[]): string =>
  [...new ToolModule(serverName, tools).pieces()].join("");

/** Every name that the module declares. */
function declaredIn(source: string): readonly string[] {
  return [...source.matchAll(/^export (?:type|interface|function) (\w+)/gm)].map(
    ([, name = ""]) => name,
  );
}

describe("the module of a server", () => {
  it("BRG-07: declares arguments and result of each tool, a map, a client and a function", () => {
    expect(declaredIn(moduleOf("github", [{ name: "create_issue" }, { name: "list" }]))).toEqual([
      "GithubCreateIssueParams",
      "GithubCreateIssueResult",
      "GithubListParams",
      "GithubListResult",
      "GithubTools",
      "GithubClient",
      "github",
    ]);
  });

  it("BRG-06: a tool's description is cut at 200 characters, a result without a schema is unknown", () => {
    const source = moduleOf("x", [{ name: "t", description: "d".repeat(300) }]);
    expect(source).toContain(`/** ${"d".repeat(199)}… */\nexport type XTParams`);
    expect(source).toContain("export type XTResult = unknown;");
  });

  it("gives no name twice, whatever the server, its tools and their references are called", () => {
    const inputSchema = {
      type: "object",
      properties: { a: { $ref: "#/$defs/Params" }, b: { $ref: "#/$defs/params" } },
      $defs: { Params: { type: "string" }, params: { type: "number" } },
    };
    for (const server of ["tool", "create tool client", "session", "", "搜"]) {
      const tools = ["x", "X", "x_params", "", " ", "then", "x"].map((name) => ({
        name,
        inputSchema,
        outputSchema: inputSchema,
      }));
      const names = declaredIn(moduleOf(server, tools));
      expect(new Set([...names, "createToolClient", "Session", "ToolClient"]).size).toBe(
        names.length + 3,
      );
      // Six different tools with two types and four references each, and three names of the server.
      expect(names).toHaveLength(6 * 6 + 3);
    }
  });

  it("the first of two tools with the same name counts", () => {
    const source = moduleOf("x", [
      { name: "t", inputSchema: { type: "object", properties: { first: {} } } },
      { name: "t", inputSchema: { type: "object", properties: { second: {} } } },
    ]);
    expect(source).toContain("first");
    expect(source).not.toContain("second");
  });

  it("has one client method for each tool, quoted where it must be", () => {
    const source = moduleOf("x", [{ name: "a-b" }, { name: "__proto__" }, { name: '"*/' }]);
    expect(source).toContain('(session, "x", ["a-b", "__proto__", "\\"*/"]);');
    expect(source).toContain('  readonly "a-b": {\n    readonly params: XABParams;');
  });

  it("LIM-04: does not grow without bound: further tools have types without fields, which say so", () => {
    const properties = Object.fromEntries(
      Array.from({ length: 700 }, (_, index) => [`f${index}`, { description: "d".repeat(200) }]),
    );
    const inputSchema = { type: "object", properties };
    const tools = Array.from({ length: 60 }, (_, index) => ({ name: `t${index}`, inputSchema }));
    const source = moduleOf("x", tools);
    expect(source.length).toBeLessThan(9_000_000);
    expect(source).toContain("export interface XT0Params {");
    expect(source).toContain(
      "/** wider than the schema: there are too many tools */\nexport type XT59Params = Readonly<Record<string, unknown>>;",
    );
  });
});
