import { describe, expect, it } from "vitest";

import { connectClient, type McpClient, openWire } from "../../src/entries/client.ts";
import { buildMcpSkillName, toSkillResult } from "../../src/entries/tools.ts";
import { createHost } from "../../src/index.ts";
import { createTestServer, serveHttp, testServerEntry } from "../../src/testing/index.ts";
import { recordRequests } from "../fixtures/http/recording-proxy.ts";

/** A tool of a client, made a tool of a session by hand. */
function adapted(client: McpClient, toolName: string, serverName: string) {
  const tool = client.tools.find(({ name }) => name === toolName);
  if (tool === undefined) throw new Error(`${toolName} is not listed`);
  return {
    name: buildMcpSkillName(serverName, tool.name),
    description: tool.description ?? "",
    inputSchema: tool.inputSchema as Readonly<Record<string, unknown>>,
    async handler(params: Readonly<Record<string, unknown>>) {
      const { content, structuredContent, isError } = await client.callTool(tool.name, params);
      return { content, structuredContent, isError };
    },
  };
}

describe("the tools of a client", () => {
  it("BRG-02: one becomes a tool of a session without any server being configured", async () => {
    const server = await serveHttp(createTestServer());
    await using wire = await recordRequests(server.url);
    await using client = await connectClient({ url: wire.url, transport: "streamable-http" });
    await client.listTools();
    await using host = await createHost({ config: false });
    const session = host.session({ level: "yolo" });
    const add = session.defineTool(adapted(client, "add", "calc"));
    expect(host.servers()).toEqual([]);
    expect(add).toMatchObject({ name: "mcp_calc_add", serverName: undefined });
    expect(add.inputSchema).toMatchObject({ required: ["a", "b"] });
    expect(toSkillResult(await add.execute({ a: 2, b: 3 }))).toMatchObject({ output: "5" });
    expect(wire.posts("tools/call")).toHaveLength(1);
    // It passes through the same checks as any tool: nothing is sent that its schema refuses.
    const refused = await session.call("mcp_calc_add", { a: "two", b: 3 });
    expect(refused).toMatchObject({ ok: false, error: { code: "invalid_arguments" } });
    expect(wire.posts("tools/call")).toHaveLength(1);
    await server.close();
  });

  it("BRG-02: the end of its client is the outcome of its calls", async () => {
    const client = await connectClient({ name: "test", ...testServerEntry() });
    await client.listTools();
    await using host = await createHost({ config: false });
    const session = host.session({ level: "yolo" });
    session.defineTool(adapted(client, "echo", "test"));
    expect(await session.execute("mcp_test_echo", { message: "hello" })).toBe("hello");
    await client.close();
    const outcome = await session.call("mcp_test_echo", { message: "hello" });
    expect(outcome).toMatchObject({ ok: false, error: { code: "closed" } });
  });

  it("PRO-05: are an empty list until it was asked for, and then the last that came", async () => {
    const server = await serveHttp(createTestServer());
    await using wire = await recordRequests(server.url);
    await using client = await connectClient({ url: wire.url, transport: "streamable-http" });
    expect(client.tools).toEqual([]);
    expect(wire.posts("tools/list")).toEqual([]);
    const listed = await client.listTools();
    expect(client.tools).toBe(listed);
    expect(client.tools.map(({ name }) => name)).toEqual(["echo", "get_time", "add"]);
    expect(wire.posts("tools/list")).toHaveLength(1);
    await server.close();
  });
});

describe("a call without an active connection", () => {
  it("PRO-16: is a state error, of a client that was closed", async () => {
    const client = await connectClient({ name: "test", ...testServerEntry() });
    await client.close();
    await expect(client.callTool("echo", { message: "x" })).rejects.toMatchObject({
      name: "McpStateError",
      code: "closed",
    });
  });

  it("PRO-16: is a state error, of a wire that was not connected or no longer is", async () => {
    await using wire = openWire({ name: "test", ...testServerEntry() });
    const call = { name: "echo", arguments: { message: "x" } };
    const stateError = { name: "McpStateError", code: "not_connected", serverName: "test" };
    await expect(wire.sendRequest("tools/call", call)).rejects.toMatchObject(stateError);
    await wire.connect();
    expect((await wire.sendRequest("tools/call", call)).isResponse).toBe(true);
    await wire.disconnect();
    await expect(wire.sendRequest("tools/call", call)).rejects.toMatchObject(stateError);
  });

  it("PRO-16: is a state error, of a tool that was registered without a server", async () => {
    await using host = await createHost({ config: false });
    host.registerTools("absent", [{ name: "echo", inputSchema: { type: "object" } }]);
    const session = host.session({ level: "yolo" });
    await expect(session.execute("mcp__absent__echo")).rejects.toMatchObject({
      name: "McpStateError",
      code: "not_connected",
    });
  });
});
