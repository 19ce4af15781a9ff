import { describe, expect, it } from "vitest";

import { inventoryValues } from "./render-inventory.ts";

describe("inventoryValues", () => {
  const values = inventoryValues([
    {
      serverName: "b",
      tools: [
        { name: "b_x", description: "X" },
        { name: "b_a", description: "" },
      ],
    },
    { serverName: "GitHub #1", tools: [] },
  ]);

  it("PRT-09: tools by server are a list in the order of the servers and their tools", () => {
    expect(values.get("tools_by_server")).toBe(
      "### b\n\n- `b_x` - X\n- `b_a`\n\n### GitHub \\#1\n\n- (no tools)",
    );
  });

  it("PRT-12 PRT-04: names are parted by comma and space, tools are counted", () => {
    expect(values.get("server_names")).toBe("b, GitHub \\#1");
    expect(values.get("tool_count")).toBe(2);
  });

  it("PRT-11: without any server there are no tools", () => {
    expect(inventoryValues([]).get("tools_by_server")).toBe("- (no tools)");
  });

  it("PRT-10: a description ends after 200 characters", () => {
    const tools = [{ name: "t", description: "word ".repeat(100) }];
    const text = String(inventoryValues([{ serverName: "s", tools }]).get("tools_by_server"));
    const description = text.split(" - ")[1] ?? "";
    expect(description).toHaveLength(200);
    expect(description.endsWith("…")).toBe(true);
  });
});
