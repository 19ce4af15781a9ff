import { describe, expect, it } from "vitest";

import { parseServerEntry } from "../config/parse/parse-config.ts";
import type { ListedTool } from "../protocol/protocol-client.ts";
import { ToolCatalog } from "./tool-catalog.ts";

function catalogOf(servers: Readonly<Record<string, Readonly<Record<string, unknown>>>>) {
  const catalog = new ToolCatalog();
  for (const [name, entry] of Object.entries(servers))
    catalog.declare(parseServerEntry(name, { command: "x", ...entry }));
  return catalog;
}

const listing = (...names: readonly string[]) => ({
  tools: names.map((name): ListedTool => ({ name, inputSchema: { type: "object" } })),
  rejected: [],
});

const publicNames = (catalog: ToolCatalog) =>
  catalog.named("mcp__server__tool").tools.map(({ name }) => name);

describe("ToolCatalog", () => {
  it("DSC-14 DSC-21 CFG-36: lists by server as configured, then as the server listed, whoever answered first", () => {
    const catalog = catalogOf({ b: {}, a: {} });
    catalog.replace("a", listing("z", "y"));
    catalog.replace("b", listing("x"));
    expect(publicNames(catalog)).toEqual(["mcp__b__x", "mcp__a__z", "mcp__a__y"]);
  });

  it("NAM-03 NAM-11: equal tool names of two servers stay apart and keep their own names", () => {
    const catalog = catalogOf({ a: {}, b: {} });
    catalog.replace("a", listing("query"));
    catalog.replace("b", listing("query"));
    const { byName } = catalog.named("mcp__server__tool");
    expect(byName.get("mcp__a__query")?.tool).toMatchObject({
      serverName: "a",
      originalName: "query",
    });
    expect(byName.get("mcp__b__query")?.tool).toMatchObject({
      serverName: "b",
      originalName: "query",
    });
  });

  it("DSC-18: of two tools with one name the first is kept and the second reported", () => {
    const catalog = catalogOf({ a: {} });
    catalog.replace("a", {
      tools: [
        { name: "t", description: "first" },
        { name: "t", description: "second" },
      ],
      rejected: [],
    });
    expect(catalog.tools("a").map(({ description }) => description)).toEqual(["first"]);
    expect(catalog.problems("a")).toMatchObject([
      { toolName: "t", text: expect.stringContaining("twice") as string },
    ]);
  });

  it("DSC-12 DSC-20: filters by original name and reports entries that match nothing", () => {
    const catalog = catalogOf({ a: { enabledTools: ["read", "wirte"], disabledTools: [] } });
    catalog.replace("a", listing("read", "write"));
    expect(publicNames(catalog)).toEqual(["mcp__a__read"]);
    expect(catalog.problems("a")[0]?.text).toMatch(/wirte.*write/);
  });

  it("DSC-15 DSC-17: missing description and schema get defaults, rejected entries are reported", () => {
    const catalog = catalogOf({ a: {} });
    catalog.replace("a", {
      tools: [{ name: "bare" }],
      rejected: [{ name: null, reason: "has no name" }],
    });
    expect(catalog.tools("a")[0]).toMatchObject({
      description: "",
      inputSchema: {},
      outputSchema: undefined,
    });
    expect(catalog.problems("a")).toEqual([
      { serverName: "a", toolName: null, text: "has no name" },
    ]);
  });

  it("C-14: a description is whole unless the entry limits it", () => {
    const catalog = catalogOf({ whole: {}, cut: { descriptionLimit: 10 } });
    for (const name of ["whole", "cut"])
      catalog.replace(name, {
        tools: [{ name: "t", description: "0123456789abcdef" }],
        rejected: [],
      });
    expect(catalog.tools("whole")[0]?.description).toBe("0123456789abcdef");
    expect(catalog.tools("cut")[0]?.description).toBe("012345678…");
  });

  it("NAM-10: an entry may choose another scheme and prefix for its own tools", () => {
    const catalog = catalogOf({
      github: { naming: "prefix_tool" },
      files: { naming: "prefix_tool", toolPrefix: "fs" },
    });
    catalog.replace("github", listing("create_issue"));
    catalog.replace("files", listing("read_file"));
    expect(publicNames(catalog)).toEqual(["github_create_issue", "fs_read_file"]);
  });

  it("DSC-11: a live list replaces what was registered from schemas", () => {
    const catalog = catalogOf({ a: {} });
    catalog.register("a", [{ name: "offline" }]);
    expect(catalog.tools("a")[0]).toMatchObject({ originalName: "offline", isLive: false });
    catalog.replace("a", listing("live"));
    expect(catalog.tools("a").map((tool) => [tool.originalName, tool.isLive])).toEqual([
      ["live", true],
    ]);
  });

  it("an empty list is a known list, and clearing forgets tools but not the place", () => {
    const catalog = catalogOf({ a: {}, b: {} });
    expect(catalog.isKnown("a")).toBe(false);
    catalog.replace("a", listing());
    expect(catalog.isKnown("a")).toBe(true);
    catalog.replace("b", listing("x"));
    catalog.clear("a");
    expect(catalog.isKnown("a")).toBe(false);
    catalog.replace("a", listing("y"));
    expect(publicNames(catalog)).toEqual(["mcp__a__y", "mcp__b__x"]);
  });

  it("lists of servers nobody declared are ignored", () => {
    const catalog = catalogOf({});
    catalog.replace("ghost", listing("x"));
    expect(publicNames(catalog)).toEqual([]);
  });
});
