import { describe, expect, it } from "vitest";

import { coerceArgument } from "./coerce-argument.ts";

const schema = {
  properties: {
    text: { type: "string" },
    number: { type: "number" },
    integer: { type: "integer" },
    flag: { type: "boolean" },
    nothing: { type: "null" },
    list: { type: "array" },
    object: { type: "object" },
    optional: { type: ["number", "null"] },
    either: { type: ["string", "number"] },
    union: { anyOf: [{ type: "integer" }, { type: "boolean" }] },
    choice: { enum: [1, 2] },
    words: { enum: ["1", "2"] },
    fixed: { const: true },
    reference: { $ref: "#/$defs/count" },
    both: { allOf: [{ type: ["string", "number"] }, { type: ["number", "boolean"] }] },
    loop: { $ref: "#/properties/loop" },
    anything: {},
  },
  $defs: { count: { type: "integer" } },
};

describe("coerceArgument", () => {
  it.each([
    ["text", "5", "5"],
    ["text", "true", "true"],
    ["number", "2", 2],
    ["number", "-1.5e3", -1_500],
    ["integer", "7", 7],
    ["flag", "false", false],
    ["nothing", "null", null],
    ["list", '[1,"a"]', [1, "a"]],
    ["object", '{"a":1}', { a: 1 }],
    ["optional", "null", null],
    ["optional", "3", 3],
    ["either", "3", "3"],
    ["union", "true", true],
    ["union", "4", 4],
    ["choice", "2", 2],
    ["words", "2", "2"],
    ["fixed", "true", true],
    ["reference", "9", 9],
    ["both", "9", 9],
    ["loop", "9", "9"],
    ["anything", "5", "5"],
    ["unknown", "5", "5"],
    ["constructor", "5", "5"],
  ])("%s=%s", (key, text, value) => {
    expect(coerceArgument(schema, key, text)).toEqual(value);
  });

  it.each([
    ["number", "two"],
    ["number", ""],
    ["number", " 2 x"],
    ["flag", "yes"],
    ["list", "a,b"],
    ["object", "[1]"],
    ["integer", '"7"'],
    ["nothing", "0"],
  ])("%s=%s stays text, so that validation explains it", (key, text) => {
    expect(coerceArgument(schema, key, text)).toBe(text);
  });

  it("BRG-11: a whole number too large to keep exactly stays text", () => {
    expect(coerceArgument(schema, "integer", "9007199254740993")).toBe("9007199254740993");
    expect(coerceArgument(schema, "integer", "9007199254740991")).toBe(Number.MAX_SAFE_INTEGER);
  });

  it("gives up on a schema whose alternatives multiply", () => {
    const $defs: Record<string, unknown> = { d30: { type: "integer" } };
    for (let level = 0; level < 30; level += 1)
      $defs[`d${level}`] = {
        anyOf: Array.from({ length: 9 }, () => ({ $ref: `#/$defs/d${level + 1}` })),
      };
    expect(coerceArgument({ $defs, properties: { a: { $ref: "#/$defs/d0" } } }, "a", "1")).toBe(
      "1",
    );
  });

  it("knows no types without a schema", () => {
    expect(coerceArgument(undefined, "a", "1")).toBe("1");
    expect(coerceArgument({ properties: [] }, "a", "1")).toBe("1");
  });
});
