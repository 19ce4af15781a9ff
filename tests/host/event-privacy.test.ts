import { Server } from "@modelcontextprotocol/server";
import { describe, expect, it } from "vitest";

import { type CallStreamItem, createHost, type HostEvent, type McpHost } from "../../src/index.ts";
import { createMemoryServer } from "../../src/testing/index.ts";
import { anyTool } from "./recorded-host.ts";

/** A server that logs who calls it. */
function telltale(): Server {
  const info = { name: "telltale", version: "1.0.0" };
  const server = new Server(info, { capabilities: { tools: {}, logging: {} } });
  server.setRequestHandler("tools/list", () => ({ tools: [anyTool as never] }));
  server.setRequestHandler("tools/call", async ({ params }) => {
    const data = `called by ${String(params.arguments?.["who"])}`;
    await server.notification({ method: "notifications/message", params: { level: "info", data } });
    return { content: [] };
  });
  return server;
}

function telltaleHost(): Promise<McpHost> {
  const open = () => createMemoryServer(telltale).transport;
  return createHost({ config: false, servers: { s: open }, protocolVersion: "2025-11-25" });
}

async function logged(items: AsyncIterable<CallStreamItem>): Promise<readonly string[]> {
  const texts: string[] = [];
  for await (const item of items) if (item.type === "log") texts.push(item.text);
  return texts;
}

describe("what an agent hears of others", () => {
  it("REG-02: what a server logs is heard over the connection it logs to", async () => {
    await using host = await telltaleHost();
    await host.connect("s", { owner: "a" });
    await host.connect("s", { owner: "b" });
    const [a, b, c] = ["a", "b", "c"].map((agent) => host.session({ agent, level: "yolo" }));
    const heardByC: HostEvent[] = [];
    c?.on("*", (event) => void heardByC.push(event));
    const texts = await Promise.all([
      logged(a!.stream("mcp__s__any", { who: "a" })),
      logged(b!.stream("mcp__s__any", { who: "b" })),
    ]);
    expect(texts).toEqual([["called by a"], ["called by b"]]);
    await host.disconnect("s", { owner: "a" });
    expect(heardByC).toEqual([]);
  });

  it("REG-02: everybody hears of the connection that is everybody's", async () => {
    await using host = await telltaleHost();
    const session = host.session({ agent: "a", level: "yolo" });
    const other = host.session({ agent: "b", level: "yolo" });
    const states: unknown[] = [];
    other.on("server-state", ({ state, owner }) => void states.push([state, owner]));
    const told: unknown[] = [];
    host.on("server-log", ({ serverName, owner, text }) => {
      told.push([serverName, owner, text]);
    });
    expect(await logged(session.stream("mcp__s__any", { who: "a" }))).toEqual(["called by a"]);
    expect(states).toEqual([
      ["connecting", null],
      ["connected", null],
    ]);
    expect(told).toEqual([["s", null, "called by a"]]);
  });

  it("PRM-10: what another agent is allowed is not told", async () => {
    await using host = await telltaleHost();
    await host.connect("s");
    const [a, b] = ["a", "b"].map((agent) => host.session({ agent, level: "trusted" }));
    const heard = { a: [] as string[], b: [] as string[] };
    a?.on("*", ({ type }) => void heard.a.push(type));
    b?.on("*", ({ type }) => void heard.b.push(type));
    await host.grants.allow({ agent: "a", server: "s", tool: "any" });
    await host.grants.revoke({ agent: "a" });
    expect(heard).toEqual({ a: ["grant-added", "grant-revoked"], b: [] });
  });
});
