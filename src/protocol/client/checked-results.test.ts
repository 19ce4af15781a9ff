import { describe, expect, it } from "vitest";

import { McpError } from "../../errors/mcp-error.ts";
import type { JsonObject } from "../../text/json-object.ts";
import { checkToolPage, checkToolResult } from "./checked-results.ts";

const exchange = { serverName: "scripted", method: "tools/x" };
const check = (result: JsonObject) => checkToolResult(result, "echo", exchange);
const page = (...tools: readonly unknown[]) => checkToolPage({ tools }, exchange);

describe("a tool result", () => {
  it("keeps every block, the structured content and the metadata as they are", () => {
    const result = {
      content: [
        { type: "text", text: "a" },
        { type: "vendor/thing", any: { deep: [1] } },
      ],
      structuredContent: { a: 1 },
      _meta: { trace: "x" },
    };
    expect(check(result)).toEqual({ ...result, isError: false });
  });

  it("is an error only when it says so with true", () => {
    expect(check({ content: [], isError: true }).isError).toBe(true);
    for (const isError of [false, null, undefined])
      expect(check({ content: [], isError }).isError).toBe(false);
    for (const isError of ["true", 1, 0, {}])
      expect(() => check({ content: [], isError })).toThrow("its error flag is not a boolean");
  });

  it.each([{ a: 1 }, [1], null, "text"])(
    "without content has an empty one when there is structured content (%j)",
    (structuredContent) => {
      expect(check({ structuredContent })).toEqual({
        content: [],
        structuredContent,
        isError: false,
      });
    },
  );

  it.each([
    {},
    { content: null },
    { content: "text" },
    { content: [null] },
    { content: ["text"] },
    { content: [{ type: "text" }, { text: "no type" }] },
    { content: [{ type: 7 }] },
    { toolResult: 1 },
  ])("%j is refused as invalid", (result) => {
    expect(() => check(result)).toThrow(McpError);
    try {
      check(result);
    } catch (error) {
      expect(McpError.is(error, "invalid_result") && error.details["toolName"]).toBe("echo");
    }
  });
});

describe("a page of tools", () => {
  it("DSC-17: bad entries are reported by name and reason, the good ones kept", async () => {
    const { items, rejected } = await page(
      null,
      "tool",
      [],
      {},
      { name: 7 },
      { name: "" },
      { name: "x".repeat(129) },
      { name: "a\u0000b" },
      { name: "schema", inputSchema: "object" },
      { name: "null-schema", inputSchema: null },
      { name: "output", inputSchema: {}, outputSchema: "object" },
      { name: "good", inputSchema: { type: "object" } },
    );
    expect(items).toEqual([{ name: "good", inputSchema: { type: "object" } }]);
    expect(rejected.map(({ name }) => name)).toEqual([
      null,
      null,
      null,
      null,
      null,
      "",
      "x".repeat(128).replace(/x$/, "…"),
      "a\uFFFDb",
      "schema",
      "null-schema",
      "output",
    ]);
    for (const { reason } of rejected) expect(reason).toMatch(/^(its|the entry) /);
  });

  it("D11: entries after the most that are wanted are not looked at", async () => {
    const tools = [{ name: "one" }, 2, { name: "three" }, 4];
    const judged: unknown[] = [];
    const problemOf = (tool: JsonObject) => void judged.push(tool["name"]);
    const { items, rejected } = await checkToolPage({ tools }, exchange, {
      problemOf,
      maxEntries: 2,
    });
    expect([items.length, rejected.length, judged]).toEqual([1, 1, ["one"]]);
  });

  it("odd names are kept: naming them is not this check's business", async () => {
    const names = ["constructor", "__proto__", "a b", "ü/😀", "../x", "x".repeat(128)];
    const { items } = await page(...names.map((name) => ({ name })));
    expect(items.map(({ name }) => name)).toEqual(names);
  });

  it("DSC-15: descriptive members of the wrong type are left out, the others kept", async () => {
    const { items } = await page({
      name: "a",
      title: 7,
      description: null,
      outputSchema: null,
      annotations: "none",
      icons: [{ src: "x" }],
      _meta: { k: 1 },
      unknown: true,
    });
    expect(items).toEqual([{ name: "a", icons: [{ src: "x" }], _meta: { k: 1 } }]);
  });

  it.each([
    ["one long text", { description: "x".repeat(300_000) }],
    ["many texts", { inputSchema: { enum: Array.from({ length: 70_000 }, () => "xx") } }],
    ["long keys", { outputSchema: { ["x".repeat(150_000)]: 1, ["y".repeat(150_000)]: 1 } }],
    ["claims", { annotations: { title: "x".repeat(300_000) } }],
  ])(
    "DSC-17: of a definition over the schema limit only the name is kept: %s",
    async (_, large) => {
      const problemOf = (): never => expect.unreachable("it has not been read");
      const tools = [{ name: "large", title: "a", ...large }, { name: "small" }];
      const { items, rejected } = await checkToolPage({ tools: tools.slice(0, 1) }, exchange, {
        problemOf,
      });
      const refusal = "its definition is larger than 262144 bytes";
      expect([items, rejected]).toEqual([[{ name: "large", refusal }], []]);
      expect((await page(...tools)).items.map(({ name }) => name)).toEqual(["large", "small"]);
    },
  );

  it("icons do not count: nobody reads them here, and they may be pictures", async () => {
    const icons = [{ src: `data:image/png;base64,${"A".repeat(300_000)}` }];
    const { items } = await page({ name: "a", icons, _meta: { k: "x".repeat(300_000) } });
    expect(items.map(({ refusal }) => refusal)).toEqual([undefined]);
  });

  it.each([{}, { tools: null }, { tools: { 0: {} } }])(
    "%j as a whole is invalid",
    async (result) => {
      await expect(checkToolPage(result, exchange)).rejects.toThrow(McpError);
    },
  );
});
