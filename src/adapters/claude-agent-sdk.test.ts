import { Client } from "@modelcontextprotocol/client";
import { InMemoryTransport } from "@modelcontextprotocol/server";
import { describe, expect, it } from "vitest";
import { z } from "zod";

import { type AgentHost, agentHost } from "../../tests/fixtures/agent/agent-host.ts";
import { pixel } from "../../tests/fixtures/agent/agent-tools.ts";
import { createHost } from "../index.ts";
import { createMemoryServer, createRecordedServer } from "../testing/index.ts";
import { claudeAgentServers } from "./claude-agent-sdk.ts";
import type { ToolServer } from "./tool-server.ts";

/** Talks to the entry as Claude Code does: an MCP client at the other end of a transport. */
async function connect(server: { readonly instance: ToolServer } | undefined): Promise<Client> {
  const [near, far] = InMemoryTransport.createLinkedPair();
  await server?.instance.connect(far);
  const client = new Client({ name: "claude-code", version: "1.0.0" });
  await client.connect(near);
  return client;
}

const connectFake = async ({ session }: AgentHost) =>
  await connect((await claudeAgentServers<ToolServer>(session))["fake"]);

describe("servers for the Claude Agent SDK", () => {
  it("BRG-17: are one per server, with names that give the public ones", async () => {
    await using agent = await agentHost();
    const servers = await claudeAgentServers<ToolServer>(agent.session);
    expect(servers).toEqual({ fake: { type: "sdk", name: "fake", instance: expect.anything() } });
    const { tools } = await (await connect(servers["fake"])).listTools();
    expect(tools.map(({ name }) => name)).toEqual(["echo", "fail", "picture", "wait", "wipe"]);
    expect(tools[0]).toMatchObject({
      description: "Returns the message it was given.",
      inputSchema: agent.session.find("mcp__fake__echo")?.inputSchema,
      annotations: { readOnlyHint: true },
    });
  });

  it("answer with text, images and errors, and know Claude's id of the call", async () => {
    await using agent = await agentHost();
    const client = await connectFake(agent);
    const meta = { "claudecode/toolUseId": "toolu_1" };
    await expect(client.callTool({ name: "picture", _meta: meta })).resolves.toMatchObject({
      content: [
        { type: "text", text: "a pixel\n[image: image/png, 72 B]\n[audio: audio/wav, 72 B]" },
        { type: "image", data: pixel, mimeType: "image/png" },
      ],
      isError: false,
    });
    expect(agent.ended).toMatchObject([{ callId: "toolu_1" }]);
    for (const [name, text] of [
      ["fail", "the disk is full"],
      ["wipe", "wipe was not allowed"],
      ["echo", 'echo: "message" is required (string)'],
      ["none", 'no tool "mcp__fake__none"'],
    ] as const)
      await expect(client.callTool({ name })).resolves.toMatchObject({
        content: [{ type: "text", text }],
        isError: true,
      });
  });

  it.each(["cancels it", "goes"])("stop a call when the client %s", async (way) => {
    await using agent = await agentHost();
    const client = await connectFake(agent);
    const controller = new AbortController();
    const ended = new Promise((resolve) => {
      agent.session.on("call-end", resolve);
    });
    const running = client.callTool({ name: "wait" }, { signal: controller.signal });
    const failed = expect(running).rejects.toThrow();
    await agent.waiting;
    if (way === "goes") await client.close();
    else controller.abort();
    await failed;
    await expect(ended).resolves.toMatchObject({ toolName: "wait", code: "cancelled" });
  });

  it("list again when the list changed", async () => {
    const tools = [{ name: "a", inputSchema: {} }];
    const factory = createRecordedServer({ tools });
    await using host = await createHost({
      config: false,
      servers: { one: () => createMemoryServer(factory).transport },
    });
    const session = host.session({ level: "yolo" });
    await session.ready();
    const client = await connect((await claudeAgentServers<ToolServer>(session))["one"]);
    const changed = new Promise<void>((resolve) => {
      client.setNotificationHandler("notifications/tools/list_changed", () => resolve());
    });
    tools.push({ name: "b", inputSchema: {} });
    await host.reconnect("one");
    await changed;
    const listed = await client.listTools();
    expect(listed.tools.map(({ name }) => name)).toEqual(["a", "b"]);
  });

  it("hold tools whose names say no server in an entry of their own", async () => {
    const factory = createRecordedServer({ tools: [{ name: "a", inputSchema: {} }] });
    await using host = await createHost({
      config: false,
      naming: "prefix_tool",
      servers: { one: () => createMemoryServer(factory).transport },
    });
    const session = host.session({ level: "yolo" });
    await session.ready();
    const servers = await claudeAgentServers<ToolServer>(session);
    expect(Object.keys(servers)).toEqual(["plugboard"]);
    const client = await connect(servers["plugboard"]);
    await expect(client.callTool({ name: "one_a" })).resolves.toMatchObject({ isError: false });
  });

  it("keep native tools apart from those of a server called like their entry", async () => {
    const factory = createRecordedServer({ tools: [{ name: "a", inputSchema: {} }] });
    await using host = await createHost({
      config: false,
      servers: { plugboard: () => createMemoryServer(factory).transport },
    });
    const session = host.session({ level: "yolo" });
    await session.ready();
    session.defineTool({
      name: "a",
      description: "",
      inputSchema: { type: "object" },
      handler: () => "native",
    });
    const client = await connect((await claudeAgentServers<ToolServer>(session))["plugboard"]);
    const textOf = async (name: string) => (await client.callTool({ name })).content;
    expect(await textOf("a")).toEqual([{ type: "text", text: "{}" }]);
    expect(await textOf("a_")).toEqual([{ type: "text", text: "native" }]);
  });

  it("answer what any MCP client asks, and refuse the rest", async () => {
    await using agent = await agentHost();
    const client = await connectFake(agent);
    await expect(client.ping()).resolves.toEqual({});
    expect(client.getServerVersion()).toMatchObject({ name: "fake" });
    const unknown = client.request({ method: "acme/unknown" }, z.unknown());
    await expect(unknown).rejects.toMatchObject({ code: -32_601 });
  });

  it("survive a program whose choice of tools fails", async () => {
    await using agent = await agentHost();
    let isBroken = false;
    const include = () => {
      if (isBroken) throw new Error("a bug of the program");
      return true;
    };
    const servers = await claudeAgentServers<ToolServer>(agent.session, { include });
    const client = await connect(servers["fake"]);
    isBroken = true;
    await expect(client.listTools()).rejects.toMatchObject({ code: -32_603 });
    await expect(client.callTool({ name: "fail" })).rejects.toMatchObject({ code: -32_603 });
  });
});
