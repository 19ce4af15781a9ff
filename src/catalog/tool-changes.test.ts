import { describe, expect, it } from "vitest";

import type { CatalogTool } from "./catalog-tool.ts";
import { compareTools } from "./tool-changes.ts";

function tool(originalName: string, description = ""): CatalogTool {
  return {
    serverName: "s",
    originalName,
    title: undefined,
    description,
    inputSchema: { type: "object", properties: { a: { type: "string" } } },
    outputSchema: undefined,
    annotations: {},
    icons: undefined,
    meta: undefined,
    isLive: true,
    listed: { name: "one" },
  };
}

describe("compareTools", () => {
  it("LIM-05: names what came, what went and what is no longer the same", () => {
    const before = [tool("stays"), tool("goes"), tool("changes", "old")];
    const after = [tool("comes"), tool("changes", "new"), tool("stays")];
    expect(compareTools(before, after)).toEqual({
      added: ["comes"],
      removed: ["goes"],
      changed: ["changes"],
    });
  });

  it("the order of members and of tools is no change", () => {
    const turned = {
      ...tool("a"),
      inputSchema: { properties: { a: { type: "string" } }, type: "object" },
    };
    expect(compareTools([tool("a"), tool("b")], [tool("b"), turned])).toEqual({
      added: [],
      removed: [],
      changed: [],
    });
  });
});
