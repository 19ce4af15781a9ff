import { describe, expect, it } from "vitest";

import { McpSchemaError } from "../../src/index.ts";
import { anyTool, recordedHost } from "./recorded-host.ts";

describe("a schema that cannot be used", () => {
  it("BRG-15: is known of its tool alone, and a call fails as a schema error with server, tool and reason", async () => {
    const elsewhere = { ...anyTool, name: "elsewhere", inputSchema: { $ref: "https://h.test/x" } };
    const shapeless = { ...anyTool, name: "shapeless", inputSchema: "anything" };
    await using context = await recordedHost({ tools: [elsewhere, shapeless, anyTool] });
    const session = context.host.session({ level: "yolo" });
    expect(await session.ready()).toEqual({ fake: true });
    const listed = session.tools().map(({ originalName, unusable }) => [originalName, unusable]);
    expect(listed).toEqual([
      ["elsewhere", expect.stringContaining("never fetched")],
      ["any", undefined],
    ]);
    // What is no schema at all is no tool either; the list says why.
    expect(context.host.server("fake").problems).toMatchObject([
      { serverName: "fake", toolName: "shapeless", text: "its input schema is not an object" },
    ]);
    const thrown = await session
      .execute("mcp__fake__elsewhere", {})
      .catch((error: unknown) => error);
    expect(thrown).toBeInstanceOf(McpSchemaError);
    expect(thrown).toMatchObject({
      code: "schema_refused",
      serverName: "fake",
      toolName: "elsewhere",
      reason: expect.stringContaining("https://h.test/x") as string,
    });
    expect(await session.call("mcp__fake__elsewhere", {})).toMatchObject({
      error: { code: "schema_refused" },
      sideEffects: "none",
    });
    expect(await session.call("mcp__fake__any", {})).toMatchObject({ ok: true });
    expect(context.calls.map(({ name }) => name)).toEqual(["any"]);
  });
});
