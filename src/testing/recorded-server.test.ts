import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import { describe, expect, it } from "vitest";

import { createMemoryServer, createRecordedServer, serveHttp } from "./index.ts";

const oddTools = [
  { name: "plain", inputSchema: { type: "object", properties: { a: { type: "string" } } } },
  { name: "no schema at all" },
  { name: "boolean", inputSchema: true },
  {
    name: "draft-04",
    inputSchema: { $schema: "http://json-schema.org/draft-04/schema#", id: "x" },
  },
  { name: "array out", inputSchema: { type: "object" }, outputSchema: { type: "array" } },
  { name: "remote", inputSchema: { $ref: "https://example.com/schema.json" } },
  { name: "extra", inputSchema: { type: "object" }, annotations: { readOnlyHint: "yes" }, x: [1] },
  { inputSchema: { type: "object" } },
  null,
];

const meta = {
  "io.modelcontextprotocol/protocolVersion": "2026-07-28",
  "io.modelcontextprotocol/clientInfo": { name: "raw", version: "1" },
  "io.modelcontextprotocol/clientCapabilities": {},
};

/** Raw messages over memory: the SDK's client would itself refuse or rewrite odd lists. */
async function openRaw(
  factory: Parameters<typeof createMemoryServer>[0],
  era: "legacy" | "modern",
) {
  const server = createMemoryServer(factory, { era });
  const waiting = new Map<unknown, (message: unknown) => void>();
  server.transport.onmessage = (message) => {
    if ("id" in message) waiting.get(message.id)?.(message);
  };
  await server.transport.start();
  let lastId = 0;
  async function ask(method: string, params: object = {}): Promise<Record<string, unknown>> {
    lastId += 1;
    const id = lastId;
    const answer = new Promise((resolve) => waiting.set(id, resolve));
    const _meta = era === "modern" ? { _meta: meta } : {};
    await server.transport.send({ jsonrpc: "2.0", id, method, params: { ...params, ..._meta } });
    return (await answer) as Record<string, unknown>;
  }
  if (era === "legacy") {
    const clientInfo = { name: "raw", version: "1" };
    await ask("initialize", { protocolVersion: "2025-11-25", capabilities: {}, clientInfo });
  }
  return { ...server, ask };
}

function createClient(era: "legacy" | "modern"): Client {
  const mode = era === "legacy" ? era : { pin: "2026-07-28" };
  return new Client({ name: "judge", version: "1.0.0" }, { versionNegotiation: { mode } });
}

describe.each(["legacy", "modern"] as const)("a recorded server in the %s era", (era) => {
  it("TST-08: lists the recorded tools exactly as they are", async () => {
    const server = await openRaw(createRecordedServer({ tools: oddTools }), era);
    const { result } = await server.ask("tools/list");
    expect((result as { tools: unknown }).tools).toEqual(oddTools);
    expect((result as { resultType?: unknown }).resultType).toBe(
      era === "modern" ? "complete" : undefined,
    );
    await server.close();
  });

  it("answers a call with its arguments as text", async () => {
    const server = await openRaw(createRecordedServer({ tools: oddTools }), era);
    const call = { name: "no schema at all", arguments: { a: { b: [1] } } };
    expect((await server.ask("tools/call", call))["result"]).toMatchObject({
      content: [{ type: "text", text: '{"a":{"b":[1]}}' }],
    });
    await server.close();
  });

  it("sends what its answers return, valid or not", async () => {
    const odd = { content: "no list", structuredContent: [1], isError: "maybe" };
    const results: unknown[] = [odd, null, [1], "text", undefined];
    const answers = () => results.shift();
    const server = await openRaw(createRecordedServer({ tools: oddTools, answers }), era);
    const call = async () => (await server.ask("tools/call", { name: "plain" }))["result"];
    expect(await call()).toMatchObject(odd);
    expect(await call()).toBeNull();
    expect(await call()).toEqual([1]);
    expect(await call()).toBe("text");
    expect(await call()).toMatchObject({ content: [] });
    await server.close();
  });

  it("turns a thrown error into a JSON-RPC error with its code", async () => {
    const refusal = Object.assign(new Error("slow down"), { code: -32_099 });
    const answers = () => Promise.reject(refusal);
    const server = await openRaw(createRecordedServer({ tools: oddTools, answers }), era);
    expect(await server.ask("tools/call", { name: "plain" })).toMatchObject({
      error: { code: -32_099, message: "slow down" },
    });
    await server.close();
  });

  it("TST-08: unknown methods are -32601, unknown tools and cursors -32602", async () => {
    const server = await openRaw(createRecordedServer({ tools: oddTools }), era);
    expect(await server.ask("nope")).toMatchObject({ error: { code: -32_601 } });
    for (const [method, params] of [
      ["tools/call", { name: "nope" }],
      ["tools/call", { name: "constructor" }],
      ["tools/list", { cursor: "99" }],
    ] as const)
      expect(await server.ask(method, params)).toMatchObject({ error: { code: -32_602 } });
    await server.close();
  });

  it("splits a long list into pages", async () => {
    const tools = Array.from({ length: 4 }, (_, index) => ({ name: `t${index}` }));
    const server = await openRaw(createRecordedServer({ tools, pageSize: 2 }), era);
    const first = (await server.ask("tools/list"))["result"] as Record<string, unknown>;
    expect(first).toMatchObject({ tools: tools.slice(0, 2), nextCursor: "2" });
    const last = (await server.ask("tools/list", { cursor: "2" }))["result"];
    expect(last).toMatchObject({ tools: tools.slice(2) });
    expect(last).not.toHaveProperty("nextCursor");
    await server.close();
  });

  it("an empty recording is an empty list", async () => {
    const server = await openRaw(createRecordedServer({ tools: [] }), era);
    expect((await server.ask("tools/list"))["result"]).toMatchObject({ tools: [] });
    await server.close();
  });

  it("tells its answers when the client cancels", async () => {
    let started!: () => void;
    const running = new Promise<void>((resolve) => (started = resolve));
    let aborted!: () => void;
    const stopped = new Promise<void>((resolve) => (aborted = resolve));
    const factory = createRecordedServer({
      tools: oddTools,
      answers: ({ signal }) => {
        signal.addEventListener("abort", aborted);
        started();
        return stopped;
      },
    });
    const memory = createMemoryServer(factory);
    const client = createClient(era);
    await client.connect(memory.transport);
    const abort = new AbortController();
    const call = client.callTool({ name: "plain" }, { signal: abort.signal });
    await running;
    abort.abort("enough");
    await expect(call).rejects.toThrow("enough");
    await stopped;
    await client.close();
  });

  it("works over HTTP too", async () => {
    const http = await serveHttp(createRecordedServer({ tools: oddTools.slice(0, 1) }), { era });
    const client = createClient(era);
    await client.connect(new StreamableHTTPClientTransport(new URL(http.url)));
    expect((await client.listTools()).tools).toEqual(oddTools.slice(0, 1));
    const result = await client.callTool({ name: "plain", arguments: { a: "b" } });
    expect(result.content).toEqual([{ type: "text", text: '{"a":"b"}' }]);
    await client.close();
    await http.close();
  });
});
