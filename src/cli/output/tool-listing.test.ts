import { describe, expect, it } from "vitest";

import type { McpTool } from "../../session/mcp-tool.ts";
import { estimateTokens, renderTools, toolObject } from "./tool-listing.ts";

function toolWith(fields: Partial<McpTool>): McpTool {
  return {
    name: "mcp__demo__add",
    originalName: "add",
    source: "mcp",
    serverName: "demo",
    title: undefined,
    description: "Adds two numbers",
    inputSchema: {
      type: "object",
      properties: { a: { type: "number" }, b: { type: "number" } },
      required: ["a", "b"],
    },
    outputSchema: undefined,
    annotations: {},
    needsConsent: false,
    unusable: undefined,
    execute: () => Promise.reject(new Error("not called here")),
    ...fields,
  };
}

const tools = [
  toolWith({ annotations: { readOnlyHint: true }, outputSchema: { type: "number" } }),
  toolWith({
    originalName: "delete_note",
    annotations: { destructiveHint: true },
    description: "Gone\u001B[2J for good\nreally",
    inputSchema: { type: "object", properties: { id: { type: "string" } }, required: ["id"] },
  }),
  toolWith({ originalName: "odd", inputSchema: {}, unusable: "the schema is too deep" }),
];

describe("the list of tools", () => {
  it("CLI-16: has a signature, the server's claim and one safe line for each", () => {
    expect(renderTools("demo", tools, false)).toEqual([
      `demo · 3 tools · ~${estimateTokens(tools)} tokens`,
      "  add(a: number, b: number) → number  read-only    Adds two numbers",
      "  delete_note(id: string)             destructive  Gone for good really",
      "  odd()                                            cannot be used: the schema is too deep",
    ]);
  });

  it("CLI-16: cuts descriptions at 60 characters and shows them whole on request", () => {
    const long = toolWith({ description: "word ".repeat(50).trim() });
    const [, line = ""] = renderTools("demo", [long], false);
    expect(line).toMatch(/…$/);
    expect(line.length).toBeLessThan(100);
    const whole = renderTools("demo", [long], true).join("\n");
    expect(whole).toContain(long.description);
    expect(whole).toContain('"required": [');
  });

  it("is one line for a server without tools", () => {
    expect(renderTools("demo", [], false)).toEqual(["demo · 0 tools · ~0 tokens"]);
  });

  it("CLI-14: is complete for programs", () => {
    const [add] = tools;
    expect(toolObject(add as McpTool)).toEqual({
      name: "add",
      publicName: "mcp__demo__add",
      description: "Adds two numbers",
      inputSchema: add?.inputSchema,
      outputSchema: { type: "number" },
      annotations: { readOnlyHint: true },
      needsConsent: false,
    });
  });
});
