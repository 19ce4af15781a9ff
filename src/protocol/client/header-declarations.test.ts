import { describe, expect, it } from "vitest";

import { readHeaderDeclarations } from "./header-declarations.ts";

const text = (header: unknown) => ({ type: "string", "x-mcp-header": header });

describe("readHeaderDeclarations", () => {
  it("finds declarations at any depth of properties", () => {
    const schema = {
      type: "object",
      properties: {
        region: text("Region"),
        plain: { type: "string" },
        where: {
          type: "object",
          properties: { zone: { type: "integer", "x-mcp-header": "Zone" } },
        },
        dry: { type: "boolean", "x-mcp-header": "Dry-Run" },
      },
    };
    expect(readHeaderDeclarations(schema)).toEqual([
      { path: ["region"], name: "Region" },
      { path: ["dry"], name: "Dry-Run" },
      { path: ["where", "zone"], name: "Zone" },
    ]);
  });

  it.each([undefined, null, true, [], "x", {}, { properties: [] }, { properties: { a: true } }])(
    "a schema that is %j declares nothing",
    (schema) => {
      expect(readHeaderDeclarations(schema)).toEqual([]);
    },
  );

  it("a property that is itself called x-mcp-header is no declaration", () => {
    const schema = { properties: { "x-mcp-header": { type: "string" } } };
    expect(readHeaderDeclarations(schema)).toEqual([]);
  });

  it.each([
    "",
    "Has Space",
    "X\r\nX-Injected: 1",
    "Colon:",
    "é",
    "a".repeat(129),
    7,
    null,
    ["Region"],
  ])("D20: %j is no name of a header", (name) => {
    expect(readHeaderDeclarations({ properties: { a: text(name) } })).toEqual({
      problem: "it declares a header whose name no header may have",
    });
  });

  it.each(["object", "array", "number", "null", undefined, ["string", "null"]])(
    "a value of type %j cannot travel in a header",
    (type) => {
      const schema = { properties: { a: { type, "x-mcp-header": "A" } } };
      expect(readHeaderDeclarations(schema)).toEqual({
        problem: "it declares a header for what is no plain value",
      });
    },
  );

  it("a header may be declared once, whatever its case", () => {
    const schema = { properties: { a: text("Region"), b: text("REGION") } };
    expect(readHeaderDeclarations(schema)).toEqual({
      problem: "it declares the same header twice",
    });
  });

  it.each([
    ["the arguments as a whole", text("A")],
    ["items", { items: text("A") }],
    ["a list of items", { prefixItems: [{}, text("A")] }],
    ["an alternative", { properties: { a: { anyOf: [{}, { properties: { b: text("A") } }] } } }],
    ["a condition", { if: { properties: { a: text("A") } } }],
    ["a definition", { $defs: { a: text("A") } }],
    ["a pattern", { patternProperties: { "^a": text("A") } }],
    ["additional properties", { additionalProperties: text("A") }],
  ])("a declaration for %s is in the wrong place", (_, schema) => {
    expect(readHeaderDeclarations(schema)).toEqual({
      problem: "it declares a header in the wrong place",
    });
  });

  it("a huge or deep schema is looked at only so far", () => {
    const wide = Object.fromEntries(
      Array.from({ length: 200_000 }, (_, i) => [`p${i}`, { type: "string" }]),
    );
    expect(readHeaderDeclarations({ properties: { ...wide, last: text("") } })).toEqual([]);
    let deep: object = text("Deep");
    for (let i = 0; i < 100_000; i += 1) deep = { items: deep };
    expect(readHeaderDeclarations(deep)).toEqual([]);
  });
});
