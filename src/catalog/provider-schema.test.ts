import { describe, expect, it } from "vitest";

import { toMcpTool, toProviderSchema } from "./provider-schema.ts";

const empty = { type: "object", properties: {} };

describe("toProviderSchema", () => {
  it.each([
    [undefined, empty],
    [{}, empty],
    [true, empty],
    [[], empty],
    ["object", empty],
    [
      { properties: { a: { type: "string" } } },
      { type: "object", properties: { a: { type: "string" } } },
    ],
    [{ type: "object" }, empty],
    [{ type: ["object", "null"] }, empty],
    [{ type: "string" }, empty],
    [{ $schema: "http://json-schema.org/draft-07/schema#", $id: "x", type: "object" }, empty],
    [
      { type: "object", description: "d", additionalProperties: false },
      { ...empty, description: "d", additionalProperties: false },
    ],
  ])("BRG-19: %j becomes an object with properties", (schema, expected) => {
    expect(toProviderSchema(schema)).toEqual(expected);
  });

  it("BRG-19: alternatives at the top become one set of fields", () => {
    const schema = {
      type: "object",
      properties: { id: { type: "string" } },
      required: ["id"],
      anyOf: [
        {
          properties: { by: { const: "name" }, name: { type: "string" } },
          required: ["by", "name"],
        },
        { properties: { by: { const: "age" }, age: { type: "number" } }, required: ["by", "age"] },
      ],
      allOf: [{ properties: { page: { type: "integer" } }, required: ["page"] }],
      not: { required: ["forbidden"] },
    };
    expect(toProviderSchema(schema)).toEqual({
      type: "object",
      properties: {
        id: { type: "string" },
        page: { type: "integer" },
        by: { const: "name" },
        name: { type: "string" },
        age: { type: "number" },
      },
      required: ["id", "page", "by"],
    });
  });

  it("BRG-19: a reference at the top is replaced by what it means", () => {
    const definitions = {
      Args: { type: "object", properties: { q: { type: "string" } }, required: ["q"] },
    };
    expect(toProviderSchema({ $ref: "#/definitions/Args", definitions })).toEqual({
      definitions,
      type: "object",
      properties: { q: { type: "string" } },
      required: ["q"],
    });
  });

  it("BRG-19: objects without properties and lists without items are completed below", () => {
    const schema = {
      type: "object",
      properties: {
        options: { type: "object" },
        tags: { type: "array" },
        pair: { type: "array", prefixItems: [{ type: "array" }] },
        matrix: { type: "array", items: { type: ["array", "null"] } },
        anything: true,
        map: { type: "object", additionalProperties: { type: "array" } },
        either: { anyOf: [{ type: "object" }, { type: "null" }] },
      },
    };
    expect(toProviderSchema(schema)).toEqual({
      type: "object",
      properties: {
        options: { type: "object", properties: {} },
        tags: { type: "array", items: {} },
        pair: { type: "array", prefixItems: [{ type: "array", items: {} }] },
        matrix: { type: "array", items: { type: ["array", "null"], items: {} } },
        anything: {},
        map: { type: "object", additionalProperties: { type: "array", items: {} }, properties: {} },
        either: { anyOf: [{ type: "object", properties: {} }, { type: "null" }] },
      },
    });
  });

  it("BRG-19: what a strict provider refuses is translated or left out, at every depth", () => {
    const schema = {
      $schema: "http://json-schema.org/draft-07/schema#",
      type: "object",
      properties: {
        pair: { type: "array", items: [{ type: "number" }, { type: "strin" }] },
        age: { type: "number", minimum: 0, exclusiveMinimum: true, required: true },
        again: { $ref: "#/anyOf/0/properties/by" },
        broken: "string",
      },
      anyOf: [{ properties: { by: { enum: [] } } }],
    };
    expect(toProviderSchema(schema)).toEqual({
      type: "object",
      properties: {
        pair: { type: "array", prefixItems: [{ type: "number" }, {}] },
        age: { type: "number", exclusiveMinimum: 0 },
        again: {},
        broken: {},
        by: {},
      },
    });
  });

  it("BRG-19: the schema itself stays as the server wrote it", () => {
    const schema = Object.freeze({ anyOf: Object.freeze([Object.freeze({ type: "object" })]) });
    toProviderSchema(schema);
    expect(schema).toEqual({ anyOf: [{ type: "object" }] });
  });

  it("BRG-19: a required field that no alternative declares is not asked for", () => {
    expect(toProviderSchema({ type: "object", required: ["ghost"] })).toEqual(empty);
  });

  it("BRG-22: a property called __proto__ stays a property", () => {
    const schema: unknown = JSON.parse('{"properties":{"__proto__":{"type":"object"}}}');
    expect(JSON.stringify(toProviderSchema(schema))).toBe(
      '{"properties":{"__proto__":{"type":"object","properties":{}}},"type":"object"}',
    );
  });

  it("BRG-19: circles, bombs and bottomless schemas come to an end", () => {
    expect(
      toProviderSchema({ $ref: "#/$defs/a", $defs: { a: { $ref: "#/$defs/a" } } }),
    ).toMatchObject(empty);
    const $defs: Record<string, unknown> = { d60: { properties: { x: { type: "string" } } } };
    for (let level = 0; level < 60; level += 1)
      $defs[`d${level}`] = {
        anyOf: Array.from({ length: 20 }, () => ({ $ref: `#/$defs/d${level + 1}` })),
      };
    expect(toProviderSchema({ $defs, $ref: "#/$defs/d0" })).toMatchObject({ type: "object" });
    const required = Array.from({ length: 20_000 }, (_, index) => `f${index}`);
    expect(toProviderSchema({ anyOf: [{ required }, { required }] })).toMatchObject(empty);
    let deep: unknown = { type: "array" };
    for (let level = 0; level < 5_000; level += 1) deep = { type: "array", items: deep };
    expect(toProviderSchema({ properties: { deep } })).toMatchObject({ type: "object" });
  });
});

describe("toMcpTool", () => {
  it("NAM-11: gives the definition back under the server's own name", () => {
    const inputSchema = { type: "object" };
    expect(toMcpTool({ name: "mcp__files__read", description: "Reads", inputSchema })).toEqual({
      name: "read",
      description: "Reads",
      inputSchema,
    });
    expect(toMcpTool({ name: "native", description: "", inputSchema }).name).toBe("native");
  });
});
