import type { McpServerFactory } from "@modelcontextprotocol/server";
import { describe, expect, it } from "vitest";

import { connectClient } from "../../host/connect-client.ts";
import { type ServedTool, defineServer } from "../define-server.ts";
import { createDemoServer } from "../demo-server.ts";
import { createTestServer } from "../test-server.ts";
import { type RestServer, type ServeRestOptions, serveRest } from "./serve-rest.ts";

async function start(
  factory: McpServerFactory,
  options?: ServeRestOptions,
): Promise<RestServer & AsyncDisposable> {
  const server = await serveRest(factory, options);
  return { ...server, [Symbol.asyncDispose]: () => server.close() };
}

async function read(url: string, body?: unknown): Promise<[number, unknown]> {
  const init = body === undefined ? {} : { method: "POST", body: JSON.stringify(body) };
  const response = await fetch(url, init);
  return [response.status, await response.json()];
}

function withResolvers(): { readonly promise: Promise<void>; readonly resolve: () => void } {
  let resolve = (): void => undefined;
  const promise = new Promise<void>((settle) => {
    resolve = settle;
  });
  return { promise, resolve };
}

describe("serveRest", () => {
  it("RST-01, RST-06, TST-04: is well and lists its tools in order, all pages at once", async () => {
    await using server = await start(createTestServer({ pageSize: 1 }));
    expect(server.url).toBe(`http://127.0.0.1:${server.port}`);
    expect(await read(`${server.url}/health`)).toEqual([200, { status: "ok" }]);
    const [status, body] = await read(`${server.url}/tools`);
    expect(status).toBe(200);
    expect(body).toMatchObject({
      tools: [
        { name: "echo", inputSchema: { type: "object", required: ["message"] } },
        { name: "get_time" },
        { name: "add" },
      ],
    });
  });

  it("RST-02, RST-03, RST-04: answers calls with a result or an error", async () => {
    await using server = await start(createTestServer());
    const url = `${server.url}/tools/call`;
    expect(await read(url, { name: "add", arguments: { a: 2, b: 3 } })).toEqual([
      200,
      { result: "5" },
    ]);
    expect(await read(url, { name: "größe" })).toEqual([404, { error: "Unknown tool: größe" }]);
    const [status, body] = await read(url, { name: "add", arguments: { a: 2 } });
    expect([status, body]).toEqual([
      404,
      { error: expect.stringContaining("Invalid arguments") as string },
    ]);
    expect(await read(url, [])).toEqual([400, { error: "Bad request" }]);
    expect(await read(`${server.url}/other`)).toEqual([404, { error: "Not found" }]);
  });

  it("RST-05: says so in the body alone when it is told to", async () => {
    await using server = await start(createDemoServer(), { errorStatus: 200 });
    expect(await read(`${server.url}/tools/call`, { name: "fail" })).toEqual([
      200,
      { error: "This tool always fails." },
    ]);
  });

  it("PRO-22: a call that nobody waits for any more is cancelled", async () => {
    const abort = new AbortController();
    const { promise: cancelled, resolve: seeCancelled } = withResolvers();
    const wait: ServedTool = {
      definition: { name: "wait", inputSchema: { type: "object" } },
      run: (_args, { signal }) => {
        signal.addEventListener("abort", seeCancelled);
        abort.abort();
        return new Promise(() => {});
      },
    };
    await using server = await start(defineServer({ name: "waiting", tools: [wait] }));
    await using client = await connectClient({ url: server.url, transport: "rest" });
    const call = client.callTool("wait", {}, { signal: abort.signal });
    await expect(call).rejects.toMatchObject({ code: "cancelled" });
    await cancelled;
  });

  it("TST-08, RST-09: is what the transport of the same name speaks to", async () => {
    await using server = await start(createTestServer());
    await using client = await connectClient({ url: server.url, transport: "rest" });
    expect(client.serverInfo.name).toBe(`127.0.0.1:${server.port}`);
    const echo = await client.callTool("echo", { message: "grüß ☃" });
    expect(echo.toText()).toBe("grüß ☃");
  });
});
