import { createServer } from "node:http";
import type { AddressInfo } from "node:net";

import { describe, expect, it } from "vitest";

import { toToolResult } from "../../src/entries/tools.ts";
import {
  createHost,
  type Human,
  McpConnectionError,
  type Outcome,
  type Session,
  type ToolInvoked,
} from "../../src/index.ts";
import { demoServerEntry } from "../../src/testing/index.ts";
import { anyTool, recordedHost } from "./recorded-host.ts";

/** An address that nobody listens at any more. */
async function abandonedUrl(): Promise<string> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  await new Promise((resolve) => server.close(resolve));
  return `http://127.0.0.1:${port}/mcp`;
}

function invocations(session: Session): ToolInvoked[] {
  const events: ToolInvoked[] = [];
  session.on("tool-invoked", (event) => events.push(event));
  return events;
}

async function answered(answers: () => unknown, timeoutMs?: number): Promise<Outcome> {
  await using context = await recordedHost({ tools: [anyTool], answers });
  const session = context.host.session({ level: "yolo" });
  return await session.call("mcp__fake__any", {}, { timeoutMs });
}

describe("what failures look like", () => {
  it("ERR-02: a refused connection is a connection error of connect", async () => {
    const url = await abandonedUrl();
    await using host = await createHost({
      config: false,
      servers: { gone: { url, transport: "streamable-http", reconnect: false } },
    });
    const failure = await host.connect("gone").catch((error: unknown) => error);
    expect(failure).toBeInstanceOf(McpConnectionError);
    expect(failure).toMatchObject({
      code: "unreachable",
      serverName: "gone",
      transport: "streamable-http",
    });
  });

  it("CON-06 CON-07: a crash fails the call as a connection error, and the server comes back by itself", async () => {
    await using host = await createHost({ config: false, servers: { demo: demoServerEntry() } });
    const session = host.session({ level: "yolo" });
    const events = invocations(session);
    const back = new Promise<void>((resolve) => {
      let wasLost = false;
      host.on("server-state", ({ state }) => {
        if (state === "reconnecting") wasLost = true;
        if (state === "connected" && wasLost) resolve();
      });
    });
    const outcome = await session.call("mcp__demo__crash", {});
    expect(outcome).toMatchObject({ ok: false, error: { code: "connection_lost" } });
    expect(host.server("demo").lastError).toBeInstanceOf(McpConnectionError);
    expect(events).toMatchObject([{ mcpServer: "demo", result: { success: false } }]);
    await back;
    expect(host.server("demo").state).toBe("connected");
  });

  it("RES-13 SES-04: a tool that is not found fails without an exception, with an event", async () => {
    await using context = await recordedHost({ tools: [anyTool] });
    const session = context.host.session({ level: "yolo" });
    const events = invocations(session);
    const outcome = await session.call("mcp__fake__nothing", { a: 1 });
    expect(toToolResult(outcome)).toEqual({
      message: 'no tool "mcp__fake__nothing"',
      value: null,
      success: false,
    });
    expect(events).toMatchObject([
      {
        toolName: null,
        publicName: "mcp__fake__nothing",
        params: { a: 1 },
        mcpServer: null,
        source: "mcp",
      },
    ]);
  });

  it("SES-02 SES-04: a server that cannot be started is named by the events of the call", async () => {
    await using host = await createHost({
      config: false,
      servers: { broken: { command: "no-such-command-at-all" } },
    });
    const session = host.session({ level: "yolo" });
    const servers: unknown[] = [];
    session.on("call-end", ({ serverName }) => void servers.push(serverName));
    session.on("tool-invoked", ({ mcpServer }) => void servers.push(mcpServer));
    expect(await session.call("mcp__broken__any", {})).toMatchObject({
      serverName: "broken",
      error: { code: "command_not_found" },
    });
    expect(servers).toEqual(["broken", "broken"]);
  });

  it("BRG-05 SES-04: arguments against the schema fail without an exception, with an event", async () => {
    const picky = { ...anyTool, inputSchema: { type: "object", required: ["title"] } };
    await using context = await recordedHost({ tools: [picky] });
    const session = context.host.session({ level: "yolo" });
    const events = invocations(session);
    const result = toToolResult(await session.call("mcp__fake__any", {}));
    expect(result).toMatchObject({ value: null, success: false });
    expect(result.message).toContain('"title" is required');
    expect(events).toMatchObject([{ result, mcpServer: "fake" }]);
  });

  it("SES-04 RES-12: a timeout fails without an exception, with an event", async () => {
    await using context = await recordedHost({
      tools: [anyTool],
      answers: () => new Promise(() => {}),
    });
    const session = context.host.session({ level: "yolo" });
    const events = invocations(session);
    const result = toToolResult(await session.call("mcp__fake__any", {}, { timeoutMs: 20 }));
    expect(result).toEqual({
      message: "no answer to tools/call within 20 ms",
      value: null,
      success: false,
    });
    expect(events).toMatchObject([{ result, mcpServer: "fake" }]);
  });
});

describe("what may remain of a call", () => {
  it.each([
    ["a tool that changes things", {}, { id: 1 }, "possible"],
    ["a tool that only reads", { readOnlyHint: true }, { id: 1 }, "none"],
    ["a call that was never sent", {}, { id: "x" }, "none"],
  ] as const)("LIM-19: after %s it is said to be so", async (_, annotations, args, expected) => {
    const tool = {
      ...anyTool,
      annotations,
      inputSchema: { type: "object", properties: { id: { type: "number" } } },
    };
    await using context = await recordedHost({ tools: [tool] });
    const outcome = await context.host.session({ level: "yolo" }).call("mcp__fake__any", args);
    expect(outcome.sideEffects).toBe(expected);
  });
});

describe("what can be observed", () => {
  it("SES-17: connections, lists, questions and calls are on one typed bus", async () => {
    await using context = await recordedHost({ tools: [anyTool] });
    const human: Human = { confirm: () => Promise.resolve("once") };
    const session = context.host.session({ level: "trusted", human });
    const types: string[] = [];
    session.on("*", (event) => types.push(event.type));
    const states: string[] = [];
    session.on("server-state", ({ state }) => states.push(state));
    await session.ready();
    await session.call("mcp__fake__any");
    expect(states).toEqual(["connecting", "connected"]);
    expect(types.filter((type) => type !== "server-state")).toEqual([
      "tools-changed",
      "consent-asked",
      "consent-granted",
      "call-start",
      "call-end",
      "tool-invoked",
    ]);
  });
});

describe("what results look like", () => {
  const content = [{ type: "text", text: "Created" }];

  it("RES-09 BRG-14: content is the value of a success", async () => {
    expect(toToolResult(await answered(() => ({ content })))).toMatchObject({
      message: "Success",
      value: { content },
      success: true,
    });
  });

  it("RES-10: a result that says it is an error is no success, and keeps its content", async () => {
    expect(toToolResult(await answered(() => ({ content, isError: true })))).toMatchObject({
      message: "Created",
      value: { content },
      success: false,
    });
  });

  it("RES-11: the message of an RPC error is the server's", async () => {
    const outcome = await answered(() => {
      throw Object.assign(new Error("no such table"), { code: -32_050 });
    });
    const { message, ...rest } = toToolResult(outcome);
    expect(rest).toEqual({ value: null, success: false });
    expect(message).toContain("no such table");
  });

  it("RES-12: a timeout says so", async () => {
    const outcome = await answered(() => new Promise(() => {}), 20);
    expect(toToolResult(outcome).message).toBe("no answer to tools/call within 20 ms");
  });
});
