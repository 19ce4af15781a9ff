import { describe, expect, it } from "vitest";

import { paramsTypeOf } from "./params-type.ts";
import { ToolModule } from "./tool-module.ts";

describe("the arguments of a tool as data", () => {
  const inputSchema = {
    type: "object",
    properties: {
      owner: { type: "string", description: "Who owns it" },
      labels: { type: "array", items: { type: "string" } },
      "repo-name": { type: ["string", "null"] },
    },
    required: ["owner"],
  };

  it("BRG-06, BRG-07: have a name and fields, and cannot be changed", () => {
    const type = paramsTypeOf("github", { name: "create_issue", inputSchema });
    expect(type).toEqual({
      name: "GithubCreateIssueParams",
      fields: [
        { name: "owner", type: "string", isRequired: true, description: "Who owns it" },
        { name: "labels", type: "readonly string[]", isRequired: false, description: undefined },
        { name: "repo-name", type: "string | null", isRequired: false, description: undefined },
      ],
    });
    const listed = { name: "mcp__github__x", originalName: "create_issue", inputSchema };
    expect(paramsTypeOf("github", listed)).toEqual(type);
    for (const part of [type, type.fields, ...type.fields])
      expect(Object.isFrozen(part)).toBe(true);
  });

  it("BRG-07: do not take a reference called like them for themselves", () => {
    const text = { type: "string" };
    const schema = {
      type: "object",
      properties: {
        a: { $ref: "#/$defs/params" },
        b: { $ref: "#/$defs/result" },
        c: { $ref: "#" },
      },
      $defs: { params: text, result: { type: "number" } },
    };
    const { name, fields } = paramsTypeOf("s", { name: "t", inputSchema: schema });
    expect(name).toBe("STParams");
    expect(fields.map(({ type }) => type)).toEqual(["STParams2", "STResult2", "STParams"]);
    const module = [...new ToolModule("s", [{ name: "t", inputSchema: schema }]).pieces()].join("");
    for (const { name: field, type } of fields)
      expect(module).toContain(`readonly ${field}?: ${type};`);
  });

  it.each([undefined, "http://json-schema.org/draft-07/schema#"])(
    "BRG-07: are those of what the whole schema refers to ($schema %s)",
    ($schema) => {
      const node = { type: "object", properties: { next: { $ref: "#/$defs/node" } } };
      const inputSchema = {
        $schema,
        $ref: "#/$defs/first",
        $defs: { first: { $ref: "#/$defs/node" }, node },
      };
      const { fields } = paramsTypeOf("s", { name: "t", inputSchema });
      expect(fields).toEqual([
        { name: "next", type: "STNode", isRequired: false, description: undefined },
      ]);
    },
  );

  it("BRG-07: name the fields that only a condition speaks of", () => {
    const inputSchema = {
      type: "object",
      properties: { mode: { type: "string" } },
      if: { required: ["mode"] },
      // oxlint-disable-next-line unicorn/no-thenable -- a keyword of JSON Schema
      then: { properties: { path: { type: "string", description: "Where" } }, required: ["path"] },
    };
    expect(paramsTypeOf("s", { name: "t", inputSchema }).fields[1]).toEqual({
      name: "path",
      type: "unknown",
      isRequired: false,
      description: "Where",
    });
  });

  it("BRG-07: have no fields without a usable schema", () => {
    for (const schema of [undefined, true, "x", { $ref: "#/missing" }])
      expect(paramsTypeOf("a", { name: "b", inputSchema: schema }).fields).toEqual([]);
  });
});
