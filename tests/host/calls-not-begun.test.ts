import { describe, expect, it } from "vitest";

import { toToolResult } from "../../src/entries/tools.ts";
import { createHost } from "../../src/index.ts";
import { anyTool, recordedHost } from "./recorded-host.ts";

describe("a native tool that was never run", () => {
  const tool = (ran: string[]) => ({
    name: "note",
    description: "Takes a note",
    inputSchema: { type: "object" },
    handler: () => ran.push("note"),
  });

  it("LIM-19: because the host closes, has changed nothing", async () => {
    const ran: string[] = [];
    await using host = await createHost({ config: false });
    const session = host.session({ level: "yolo" });
    session.defineTool(tool(ran));
    const closing = host.close();
    expect(await session.call("note")).toMatchObject({
      error: { code: "closed" },
      sideEffects: "none",
    });
    await closing;
    expect(ran).toEqual([]);
  });

  it("PRO-22: because its start was heard and the call taken back, has changed nothing", async () => {
    const ran: string[] = [];
    await using host = await createHost({ config: false });
    const session = host.session({ level: "yolo" });
    session.defineTool(tool(ran));
    const caller = new AbortController();
    session.on("call-start", () => caller.abort());
    expect(await session.call("note", {}, { signal: caller.signal })).toMatchObject({
      error: { code: "cancelled" },
      sideEffects: "none",
    });
    expect(ran).toEqual([]);
  });
});

describe("an RPC error", () => {
  it.each([
    ["no such table", "no such table"],
    ["", "MCP error"],
  ])("BRG-13: with the message %j is no success, has no value and says %j", async (said, told) => {
    await using context = await recordedHost({
      tools: [anyTool],
      answers: () => {
        throw Object.assign(new Error(said), { code: -32_050 });
      },
    });
    const outcome = await context.host.session({ level: "yolo" }).call("mcp__fake__any", {});
    expect(toToolResult(outcome)).toEqual({ message: told, value: null, success: false });
  });
});
