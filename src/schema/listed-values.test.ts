import { describe, expect, it } from "vitest";

import { listedValues } from "./listed-values.ts";

const valuesOf = (declared: unknown, rest: object = {}): readonly unknown[] =>
  listedValues({ type: "object", properties: { key: declared }, ...rest }, "key");

describe("listedValues", () => {
  it.each([
    ["enum", { enum: ["a", 2, null] }, ["a", 2, null]],
    ["const", { const: "a" }, ["a"]],
    ["a boolean", { type: "boolean" }, [true, false]],
    ["alternatives that all list theirs", { anyOf: [{ enum: ["a"] }, { const: "b" }] }, ["a", "b"]],
    ["a nullable boolean", { oneOf: [{ type: "boolean" }, { type: "null" }] }, [true, false, null]],
    ["an alternative that allows anything", { anyOf: [{ enum: ["a"] }, { type: "string" }] }, []],
    ["a string", { type: "string" }, []],
    ["no schema", undefined, []],
    ["a schema that is true", true, []],
  ])("%s", (_, declared, values) => {
    expect(valuesOf(declared)).toEqual(values);
  });

  it("follows references, and ends where they go round in circles", () => {
    expect(valuesOf({ $ref: "#/$defs/a" }, { $defs: { a: { enum: ["x"] } } })).toEqual(["x"]);
    expect(valuesOf({ $ref: "#/$defs/a" }, { $defs: { a: { $ref: "#/$defs/a" } } })).toEqual([]);
    expect(valuesOf({ $ref: "#/$defs/none" })).toEqual([]);
  });

  it("knows no property but the schema's own", () => {
    expect(listedValues({ properties: {} }, "toString")).toEqual([]);
    expect(listedValues(null, "key")).toEqual([]);
  });
});
