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
  it("LIM-05: names what came, what went and what is no longer the same", async () => {
    const before = [tool("stays"), tool("goes"), tool("changes", "old")];
    const after = [tool("comes"), tool("changes", "new"), tool("stays")];
    expect(await compareTools(before, after)).toEqual({
      added: ["comes"],
      removed: ["goes"],
      changed: ["changes"],
    });
  });

  it("the order of members and of tools is no change", async () => {
    const turned = {
      ...tool("a"),
      inputSchema: { properties: { a: { type: "string" } }, type: "object" },
    };
    expect(await compareTools([tool("a"), tool("b")], [tool("b"), turned])).toEqual({
      added: [],
      removed: [],
      changed: [],
    });
  });

  it("decision 7: gives way to other work after a while", async () => {
    let compared = 0;
    const slow = (name: string): CatalogTool => ({
      ...tool(name),
      get annotations() {
        const until = performance.now() + 15;
        while (performance.now() < until);
        compared += 1;
        return {};
      },
    });
    const comparedBetween = new Promise<number>((resolve) => {
      setImmediate(() => setImmediate(() => resolve(compared)));
    });
    const names = ["a", "b", "c", "d", "e"];
    const [before, after] = [names.map((name) => slow(name)), names.map((name) => slow(name))];
    await compareTools(before, after);
    expect(await comparedBetween).toBeLessThan(compared);
  });
});
