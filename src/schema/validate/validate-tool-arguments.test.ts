import { describe, expect, it } from "vitest";

import { validateToolArguments } from "./validate-tool-arguments.ts";
import { ValidatorCache } from "./validator-cache.ts";

const search = {
  type: "object",
  properties: { query: { type: "string" }, limit: { type: "integer", default: 10 } },
  required: ["query"],
};

describe("validateToolArguments", () => {
  it("BRG-03: a plain schema is answered at once", () => {
    expect(validateToolArguments(search, { query: "x" })).toBeUndefined();
    expect(validateToolArguments(search, {})).toMatchObject({
      kind: "invalid",
      message: '"query" is required (string)',
    });
  });

  it("BRG-05: a failed check is a value with the problems, not an exception", () => {
    expect(validateToolArguments(search, { query: 1, limit: "x" })).toMatchObject({
      kind: "invalid",
      problems: [{ path: "/query" }, { path: "/limit" }],
    });
  });

  it("BRG-20: extra arguments pass where the schema is open", () => {
    expect(validateToolArguments(search, { query: "x", extra: 1 })).toBeUndefined();
    expect(validateToolArguments({ type: "object" }, { anything: 1 })).toBeUndefined();
    const typed = { ...search, additionalProperties: { type: "number" } };
    expect(validateToolArguments(typed, { query: "x", extra: 1 })).toBeUndefined();
    expect(validateToolArguments(typed, { query: "x", extra: "y" })).toBeDefined();
  });

  it("BRG-20: extra arguments are refused where the schema is closed", () => {
    const closed = { ...search, additionalProperties: false };
    expect(validateToolArguments(closed, { query: "x", limt: 1 })).toMatchObject({
      message: '"limt" is not a known property; did you mean "limit"?',
    });
  });

  it.each([
    ["missing", undefined],
    ["empty", {}],
    [
      "only described",
      { title: "Args", description: "Nothing", $schema: "http://json-schema.org/draft-07/schema#" },
    ],
  ])(
    "BRG-20: with a %s schema any arguments are right, or none where that is asked for",
    (_name, schema) => {
      expect(validateToolArguments(schema, {})).toBeUndefined();
      expect(validateToolArguments(schema, { a: 1 })).toBeUndefined();
      expect(validateToolArguments(schema, 1)).toMatchObject({
        message: "the arguments must be an object",
      });
      const none = { withoutSchema: "none" } as const;
      expect(validateToolArguments(schema, { a: undefined }, none)).toBeUndefined();
      expect(validateToolArguments(schema, { a: 1 }, none)).toMatchObject({
        message: '"a" is not expected: the tool takes no arguments',
      });
    },
  );

  it("BRG-20: a schema without a type is held to what else it says", () => {
    const schema = { properties: { a: { type: "number" } }, required: ["a"] };
    expect(validateToolArguments(schema, { a: 1, b: 2 })).toBeUndefined();
    expect(validateToolArguments(schema, { b: 2 })).toMatchObject({
      problems: [{ path: "/a", keyword: "required" }],
    });
  });

  it("BRG-22: nothing is added to the arguments", () => {
    const args = Object.freeze({ query: "x" });
    expect(validateToolArguments(search, args)).toBeUndefined();
    expect(args).toEqual({ query: "x" });
  });

  it("BRG-22: arguments must be a plain JSON object", () => {
    for (const value of [undefined, null, 1, "x", [], () => 1])
      expect(validateToolArguments(search, value)).toMatchObject({
        message: "the arguments must be an object",
      });
    expect(validateToolArguments(search, { query: 1n })).toMatchObject({ kind: "invalid" });
    expect(validateToolArguments({}, new Date(0))).toMatchObject({ kind: "invalid" });
  });

  it("BRG-22: an argument called __proto__ is judged by its own rule", () => {
    const args: unknown = JSON.parse('{"query":"x","__proto__":{"polluted":true}}');
    expect(validateToolArguments({ ...search, additionalProperties: false }, args)).toMatchObject({
      message: '"__proto__" is not a known property',
    });
    expect(({} as Record<string, unknown>)["polluted"]).toBeUndefined();
  });

  it("DSC-17: a schema that is no object gives no verdict", () => {
    for (const schema of [null, true, [], "object"])
      expect(validateToolArguments(schema, {})).toMatchObject({ kind: "unchecked" });
  });

  it("BRG-21: a schema with a pattern is answered too", async () => {
    const schema = { properties: { date: { type: "string", pattern: "^\\d{4}-\\d{2}$" } } };
    expect(await validateToolArguments(schema, { date: "2024-01" })).toBeUndefined();
    expect(await validateToolArguments(schema, { date: "x" })).toMatchObject({ kind: "invalid" });
  });

  it("BRG-03: the host's own validators and limits are used when given", () => {
    const limits = {
      maxSchemaBytes: 20,
      maxSchemaDepth: 8,
      maxSchemaNodes: 100,
      schemaTimeoutMs: 1,
    };
    const validators = new ValidatorCache({ limits });
    expect(validateToolArguments(search, { query: "x" }, { validators })).toMatchObject({
      kind: "unchecked",
      message: "the schema cannot be used: it is larger than 20 bytes",
    });
  });
});
