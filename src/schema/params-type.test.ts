import { describe, expect, it } from "vitest";

import { paramsTypeOf } from "./params-type.ts";

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

  it("BRG-07: have no fields without a usable schema", () => {
    for (const schema of [undefined, true, "x", { $ref: "#/missing" }])
      expect(paramsTypeOf("a", { name: "b", inputSchema: schema }).fields).toEqual([]);
  });
});
