import { describe, expect, it } from "vitest";

import { CapabilitySet, createHost, type ToolInvoked } from "../../src/index.ts";
import { testServerEntry } from "../../src/testing/index.ts";
import { anyTool, recordedHost } from "./recorded-host.ts";

describe("the life of a session", () => {
  it("SES-01: it has its servers from the start, ready connects them, and the end of the host ends them", async () => {
    const servers = { one: testServerEntry(), two: testServerEntry() };
    await using host = await createHost({ config: false, servers });
    const session = host.session({ level: "yolo" });
    const states = () => host.servers().map(({ state }) => state);
    expect([session.servers(), states()]).toEqual([
      ["one", "two"],
      ["idle", "idle"],
    ]);
    expect(await session.ready()).toMatchObject({ one: { ready: true }, two: { ready: true } });
    expect(states()).toEqual(["connected", "connected"]);
    expect(session.tools()).toHaveLength(6);
    const pids = host.servers().map(({ pid }) => pid as number);
    await host.close();
    for (const pid of pids) expect(() => process.kill(pid, 0)).toThrow("ESRCH");
    expect(await session.call("mcp__one__get_time")).toMatchObject({ error: { code: "closed" } });
    expect(await session.ready()).toMatchObject({ one: { ready: false }, two: { ready: false } });
  });
});

describe("the bus of a session", () => {
  it("SES-05: calls of a section's tools are on the bus of its session, and on no other one's", async () => {
    await using context = await recordedHost({ tools: [anyTool] });
    const { host } = context;
    const mine = host.session({ agent: "mine", level: "yolo", history: true });
    const other = host.session({ agent: "other", level: "yolo", history: true });
    const heard: { readonly by: string; readonly event: ToolInvoked }[] = [];
    mine.on("tool-invoked", (event) => heard.push({ by: "mine", event }));
    other.on("tool-invoked", (event) => heard.push({ by: "other", event }));
    await using section = await mine.section().open();
    await using _alsoOpen = await other.section().open();
    await section.tools()[0]?.execute({ x: 1 });
    expect(heard).toMatchObject([
      { by: "mine", event: { toolName: "any", params: { x: 1 }, mcpServer: "fake" } },
    ]);
    expect([mine.history().length, other.history().length]).toEqual([1, 0]);
  });
});

describe("execute", () => {
  it("BRG-18: finds server and tool by the public name, checks the capability, calls and gives text back", async () => {
    await using context = await recordedHost({
      tools: [anyTool, { ...anyTool, name: "other" }],
      answers: ({ name }) => ({
        content: [
          { type: "text", text: `answer of ${name}` },
          { type: "image", data: "AAAA", mimeType: "image/png" },
        ],
      }),
    });
    const capabilities = new CapabilitySet().grant("mcp:fake:any", "execute");
    const session = context.host.session({ level: "yolo", capabilities });
    expect(await session.execute("mcp__fake__any", { x: 1 })).toBe(
      "answer of any\n[image: image/png, 3 B]",
    );
    await expect(session.execute("mcp__fake__other", {})).rejects.toMatchObject({
      name: "McpPermissionError",
      code: "denied",
    });
    await expect(session.execute("mcp__nobody__any", {})).rejects.toMatchObject({
      code: "tool_unknown",
    });
    expect(context.calls).toMatchObject([{ name: "any", arguments: { x: 1 } }]);
  });
});
