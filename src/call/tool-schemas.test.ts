import { afterEach, describe, expect, it } from "vitest";

import { readTool } from "../../tests/fixtures/call/scripted-call-path.ts";
import { defaultLimits } from "../config/keys/limits.ts";
import type { ServerTool } from "./call-contract.ts";
import { ToolSchemas } from "./tool-schemas.ts";

const opened: ToolSchemas[] = [];
function open(): ToolSchemas {
  const schemas = new ToolSchemas(defaultLimits);
  opened.push(schemas);
  return schemas;
}
afterEach(async () => {
  for (const schemas of opened.splice(0)) await schemas.close();
});

const number = { type: "object", properties: { n: { type: "number" } }, required: ["n"] };
/** Too complex for this thread: how long it takes grows with every level. */
const complex = {
  $defs: {
    node: {
      anyOf: [
        { properties: { next: { $ref: "#/$defs/node" } }, required: ["a"] },
        { properties: { next: { $ref: "#/$defs/node" } }, required: ["b"] },
      ],
    },
  },
  $ref: "#/$defs/node",
};
const refused = { type: "object", $schema: "https://example.com/dialect" };
const toolOf = (change: Partial<ServerTool>): ServerTool => ({ ...readTool, ...change });

describe("the schemas of a tool", () => {
  it("BRG-05: say why a tool cannot be called at all", () => {
    const schemas = open();
    expect(schemas.refusal(toolOf({ inputSchema: number }))).toBeUndefined();
    expect(schemas.refusal(toolOf({ refusal: "too large" }))).toBe("too large");
    expect(schemas.refusal(toolOf({ inputSchema: refused }))).toEqual(expect.any(String));
  });

  it("BRG-04: judge arguments at once where that is possible", async () => {
    const schemas = open();
    const tool = toolOf({ inputSchema: number });
    // Before any connection nothing is there that could judge them.
    expect(schemas.validateNow(tool, { n: "1" })).toBe(false);
    await schemas.load();
    expect(schemas.validateNow(tool, { n: 1 })).toBe(true);
    expect(() => schemas.validateNow(tool, { n: "1" })).toThrow(
      expect.objectContaining({
        code: "invalid_arguments",
        message: expect.stringMatching(/^read: /),
        serverName: "files",
        details: {
          toolName: "read",
          reason: expect.any(String),
          problems: [expect.objectContaining({ keyword: "type" })],
        },
      }),
    );
  });

  it("BRG-05: that cannot be checked refuse the call", async () => {
    const schemas = open();
    for (const tool of [toolOf({ refusal: "too large" }), toolOf({ inputSchema: refused })])
      await expect(schemas.checkArguments(tool, {})).rejects.toMatchObject({
        code: "schema_refused",
        details: { toolName: "read" },
      });
    await expect(
      schemas.checkArguments(toolOf({ refusal: "too large" }), {}),
    ).rejects.toMatchObject({
      details: { reason: expect.stringContaining("too large") },
    });
  });

  it("BRG-03: of arguments that are no object say so", async () => {
    const args = ["x"] as unknown as Record<string, unknown>;
    await expect(open().checkArguments(toolOf({ inputSchema: {} }), args)).rejects.toMatchObject({
      code: "invalid_arguments",
    });
  });

  it("BRG-04: that are complex are judged elsewhere, arguments and results alike", async () => {
    const schemas = open();
    const tool = toolOf({ inputSchema: complex, outputSchema: complex });
    expect(schemas.validateNow(tool, { a: 1 })).toBe(false);
    await schemas.checkArguments(tool, { a: 1, next: { b: 2 } });
    await expect(schemas.checkArguments(tool, { a: 1, next: { c: 2 } })).rejects.toMatchObject({
      code: "invalid_arguments",
    });
    const good = schemas.checkResult(tool, { a: 1 });
    expect(good).toBeInstanceOf(Promise);
    expect(await good).toBeUndefined();
    expect(await schemas.checkResult(tool, { c: 1 })).toMatchObject({ code: "invalid_result" });
  });

  it("BRG-23: promise something of results, or nothing", async () => {
    const schemas = open();
    expect(schemas.checkResult(toolOf({}), { any: "thing" })).toBeUndefined();
    const tool = toolOf({ outputSchema: number });
    expect(await schemas.checkResult(tool, { n: 1 })).toBeUndefined();
    expect(schemas.checkResult(tool, { n: 1 })).toBeUndefined();
    expect(schemas.checkResult(tool, undefined)).toMatchObject({
      code: "invalid_result",
      details: {
        reason: "the result lacks the structured content that the tool promises",
        problems: [],
      },
    });
  });
});
