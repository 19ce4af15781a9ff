import { once } from "node:events";
import type { Server } from "node:http";
import type { AddressInfo } from "node:net";

import { afterAll, beforeAll, describe, expect, it } from "vitest";

import { calculator } from "../../examples/servers/rest-calculator.ts";
import { greeter } from "../../examples/servers/rest-greeter.ts";
import { connectClient } from "../../src/entries/client.ts";
import { createHost, type HostEvent, type McpHost } from "../../src/index.ts";
import { ScriptedServer, sendJson } from "../fixtures/http/scripted-server.ts";

let greeterUrl: string;
let calculatorUrl: string;

async function listen(server: Server): Promise<string> {
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

async function stop(server: Server): Promise<void> {
  server.close();
  server.closeAllConnections();
  await once(server, "close");
}

beforeAll(async () => {
  greeterUrl = await listen(greeter);
  calculatorUrl = await listen(calculator);
});

afterAll(async () => {
  await Promise.all([stop(greeter), stop(calculator)]);
});

function openHost(): Promise<McpHost> {
  return createHost({
    config: false,
    servers: {
      greeter: { url: greeterUrl, transport: "rest" },
      calculator: { url: calculatorUrl, transport: "rest" },
    },
  });
}

describe("the example REST servers", () => {
  it("RST-09, RST-10, TST-05: are listed and called like any other server", async () => {
    await using host = await openHost();
    expect(await host.connectAll()).toEqual({ greeter: true, calculator: true });
    expect(host.server("greeter")).toMatchObject({
      state: "connected",
      era: "legacy",
      protocolVersion: undefined,
      serverInfo: undefined,
    });
    const session = host.session({ level: "yolo" });
    expect(session.tools().map(({ name, description }) => [name, description])).toEqual([
      ["mcp__greeter__hello_world", "Returns a greeting"],
      ["mcp__calculator__calculate", "Performs calculations"],
    ]);
    expect(await session.call("mcp__greeter__hello_world", { name: "Ada" })).toMatchObject({
      ok: true,
      text: "Hello, Ada!",
    });
    expect(
      await session.call("mcp__calculator__calculate", { expression: "2 * (3 + 4)" }),
    ).toMatchObject({ ok: true, text: "14" });
  });

  it("RST-09, CFG-27: are found out behind the transport that other hosts call http", async () => {
    await using host = await createHost({
      config: false,
      servers: { "my-mcp-server": { url: calculatorUrl, transport: "http" } },
    });
    const session = host.session({ level: "yolo" });
    const outcome = await session.call("mcp__my-mcp-server__calculate", { expression: "7 * 6" });
    expect(outcome).toMatchObject({ ok: true, text: "42" });
  });

  it("RST-05, RST-09: tell of an unknown tool with HTTP 200 or 404, and it is the same failure", async () => {
    const body = JSON.stringify({ name: "nope", arguments: {} });
    for (const [url, status] of [[greeterUrl, 200] as const, [calculatorUrl, 404] as const]) {
      const response = await fetch(`${url}/tools/call`, { method: "POST", body });
      expect([response.status, await response.json()]).toEqual([
        status,
        { error: "Unknown tool: nope" },
      ]);
      await using client = await connectClient({ url, transport: "rest" });
      expect(await client.callTool("nope", {})).toMatchObject({
        isError: true,
        content: [{ type: "text", text: "Unknown tool: nope" }],
      });
    }
  });

  it("RST-05, TST-05: code in an expression is refused, not run", async () => {
    await using host = await openHost();
    const session = host.session({ level: "yolo" });
    const expression = "process.exit(1)";
    expect(await session.call("mcp__calculator__calculate", { expression })).toMatchObject({
      ok: false,
      text: "Unexpected p",
      error: { code: "tool_error", message: "Unexpected p" },
    });
  });

  it("RST-10: arguments are checked before anything is sent", async () => {
    await using host = await openHost();
    const session = host.session({ level: "yolo" });
    expect(await session.call("mcp__greeter__hello_world", { name: 7 })).toMatchObject({
      ok: false,
      error: { code: "invalid_arguments" },
    });
  });

  it("RST-10: permission is asked and refused as anywhere", async () => {
    await using host = await openHost();
    await host.connectAll();
    const sandboxed = host.session({ level: "sandboxed" });
    expect(sandboxed.tools()).toEqual([]);
    expect(await sandboxed.call("mcp__greeter__hello_world", { name: "A" })).toMatchObject({
      error: { code: "denied" },
    });
    const unattended = host.session({ level: "trusted" });
    expect(await unattended.call("mcp__greeter__hello_world", { name: "A" })).toMatchObject({
      error: { code: "consent_denied" },
    });
  });

  it("RST-10: calls are reported", async () => {
    await using host = await openHost();
    const events: HostEvent[] = [];
    host.on("*", (event) => events.push(event));
    await host.session({ agent: "a", level: "yolo" }).call("mcp__greeter__hello_world", {
      name: "Ada",
    });
    expect(events).toContainEqual(
      expect.objectContaining({ type: "call-start", serverName: "greeter", agent: "a" }),
    );
  });
});

describe("a REST server that is not well", () => {
  it("RST-06: is disconnected when its health check says so", async () => {
    await using server = await ScriptedServer.start((_request, response) =>
      sendJson(response, '{"status":"starting"}'),
    );
    await using host = await createHost({
      config: false,
      servers: { api: { url: server.origin, transport: "rest", reconnect: false } },
    });
    expect(await host.connectAll()).toEqual({ api: false });
    expect(host.server("api")).toMatchObject({
      state: "disconnected",
      lastError: { code: "unreachable" },
    });
  });

  it("RST-08: is in error, with the reason, when its tool list is malformed", async () => {
    await using server = await ScriptedServer.start((request, response) =>
      sendJson(response, request.target === "/health" ? '{"status":"ok"}' : '{"tools":"none"}'),
    );
    await using host = await createHost({
      config: false,
      servers: { api: { url: server.origin, transport: "rest", reconnect: false } },
    });
    expect(await host.connectAll()).toEqual({ api: false });
    expect(host.server("api")).toMatchObject({
      state: "error",
      lastError: {
        code: "protocol_violation",
        message:
          'the handshake made no sense: GET /tools got an unusable answer: its "tools" are not a list',
      },
    });
  });
});
