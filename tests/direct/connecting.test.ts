import type { Transport } from "@modelcontextprotocol/client";
import { describe, expect, it } from "vitest";

import {
  connectClient,
  type DirectOptions,
  openWire,
  type Wire,
} from "../../src/entries/client.ts";
import {
  createMemoryServer,
  createTestServer,
  serveHttp,
  testServerEntry,
} from "../../src/testing/index.ts";
import { recordRequests } from "../fixtures/http/recording-proxy.ts";
import { ScriptedServer, sendJson } from "../fixtures/http/scripted-server.ts";

type Entry = Readonly<Record<string, unknown>>;

const ways = [
  ["connectClient", (entry: Entry, options?: DirectOptions) => connectClient(entry, options)],
  ["openWire", (entry: Entry, options?: DirectOptions) => openWire(entry, options).connect()],
] as const;

const silentChild = {
  name: "silent",
  command: process.execPath,
  args: ["-e", "process.stdin.on('end', () => process.exit()).resume()"],
};

/** Answers every request with a JSON-RPC error. */
function refusingChild(): Entry {
  const script = `
    require("node:readline").createInterface({ input: process.stdin }).on("line", (line) => {
      const { id } = JSON.parse(line);
      if (id !== undefined)
        console.log(JSON.stringify({ jsonrpc: "2.0", id, error: { code: -32602, message: "go away" } }));
    });`;
  return { name: "refusing", command: process.execPath, args: ["-e", script] };
}

describe.each(ways)("%s", (_, connect) => {
  const refused = {
    name: "McpConnectionError",
    code: "protocol_violation",
    message: expect.stringMatching(
      /^the server refused the handshake: .*-32602: go away/,
    ) as string,
    details: { rpc: { code: -32602, message: "go away" } },
  };

  it("CON-05: a refused handshake over stdio is an McpConnectionError", async () => {
    await expect(connect(refusingChild())).rejects.toMatchObject({
      ...refused,
      serverName: "refusing",
      transport: "stdio",
    });
  });

  it.each(["streamable-http", "http", "http-post"])(
    "CON-05: a refused handshake over %s is an McpConnectionError, and no other dialect is tried",
    async (transport) => {
      await using server = await ScriptedServer.start(({ message: { id } }, response) => {
        const error = { code: -32602, message: "go away" };
        sendJson(response, JSON.stringify({ jsonrpc: "2.0", id, error }));
      });
      await expect(connect({ name: "refusing", url: server.url, transport })).rejects.toMatchObject(
        { ...refused, serverName: "refusing" },
      );
      expect(server.requests.every(({ method }) => method === "POST")).toBe(true);
    },
  );

  it("CFG-16: a disabled server is refused, and nothing is started", async () => {
    const entry = { ...refusingChild(), enabled: false };
    await expect(connect(entry)).rejects.toMatchObject({
      name: "McpConfigError",
      code: "server_disabled",
      serverName: "refusing",
    });
    await expect(connect({ name: "off", enabled: false })).rejects.toMatchObject({
      code: "server_disabled",
    });
  });

  const tooLate = { name: "McpTimeoutError", code: "start_timeout", timeoutMs: 200 };

  it("PRO-03: a silent process is given up when the time for connecting is over", async () => {
    await expect(connect(silentChild, { timeoutMs: 200 })).rejects.toMatchObject({
      ...tooLate,
      serverName: "silent",
    });
    await expect(connect({ ...silentChild, connectTimeout: 0.2 })).rejects.toMatchObject(tooLate);
    const limits = { connectTimeoutMs: 200 };
    await expect(connect(silentChild, { limits })).rejects.toMatchObject(tooLate);
  });

  it.each(["streamable-http", "sse", "http-post", "http"])(
    "PRO-03: a silent address is given up when the time for connecting is over (%s)",
    async (transport) => {
      await using server = await ScriptedServer.start(() => undefined);
      await expect(
        connect({ name: "silent", url: server.url, transport }, { timeoutMs: 200 }),
      ).rejects.toMatchObject({ code: "start_timeout", serverName: "silent" });
    },
  );

  it("PRO-03: a silent REST service is given up when the time for connecting is over", async () => {
    await using server = await ScriptedServer.start(() => undefined);
    await expect(
      connect({ name: "silent", url: server.url, transport: "rest" }, { timeoutMs: 200 }),
    ).rejects.toMatchObject({ name: "McpTimeoutError", serverName: "silent" });
  });
});

describe("PRO-03: a ready transport that never opens", () => {
  it("is given up when the time for connecting is over", async () => {
    const transport = {
      start: () => new Promise<void>(() => undefined),
      send: () => Promise.resolve(),
      close: () => Promise.resolve(),
    };
    await expect(connectClient(transport, { timeoutMs: 50 })).rejects.toMatchObject({
      code: "start_timeout",
    });
    await expect(openWire(transport, { timeoutMs: 50 }).connect()).rejects.toMatchObject({
      code: "start_timeout",
    });
  });
});

const uuid = /^[\da-f]{8}-[\da-f]{4}-4[\da-f]{3}-[89ab][\da-f]{3}-[\da-f]{12}$/;

describe.each(["legacy", "modern"] as const)("C-10: the ids of openWire, %s era", (era) => {
  it("are UUIDs, and a response has the id that was on the wire", async () => {
    const server = await serveHttp(createTestServer(), { era });
    await using proxy = await recordRequests(server.url);
    const url = `${proxy.origin}/mcp`;
    await using wire = openWire({ name: "test", url, transport: "streamable-http" });
    await wire.connect();
    const answers = await Promise.all([
      wire.sendRequest("tools/list"),
      wire.sendRequest("tools/list"),
      wire.sendRequest("tools/call", { name: "nope", arguments: {} }),
    ]);
    const sent = proxy.requests.flatMap(({ message }) => message.id ?? []);
    expect(sent.every((id) => uuid.test(String(id)))).toBe(true);
    expect(new Set(sent).size).toBe(sent.length);
    expect(new Set(sent.slice(-3))).toEqual(new Set(answers.map(({ id }) => id)));
    expect(answers[2]?.error).toMatchObject({ code: -32602 });
    expect(proxy.posts("tools/call").map(({ message }) => message.id)).toEqual([answers[2]?.id]);
    await server.close();
  });

  const generators = [
    ["counter", "counter", [1, 2, 3, 4, 5, 6]],
    ["a function", names("req"), ["req-1", "req-2", "req-3", "req-4", "req-5", "req-6"]],
  ] as const;

  it.each(generators)("are what %s makes them, over stdio", async (_, idGenerator, ids) => {
    const entry = { name: "test", ...testServerEntry({ era }) };
    await using wire = openWire(entry, { idGenerator });
    await wire.connect();
    const { id, result } = await wire.sendRequest("tools/list");
    expect(result).toMatchObject({ tools: [{}, {}, {}] });
    expect(ids).toContain(id);
    const next = await wire.sendRequest("tools/list");
    expect(ids.indexOf(next.id as never)).toBe(ids.indexOf(id as never) + 1);
  });
});

describe("C-10: the ids of openWire", () => {
  async function failure(idGenerator: () => unknown): Promise<unknown> {
    const { transport } = createMemoryServer(createTestServer());
    const options = { idGenerator: idGenerator as () => string };
    await using wire: Wire = openWire(transport, options);
    return await wire.connect().catch((error: unknown) => error);
  }

  it("a generator that returns no id, or one twice, is said to be wrong", async () => {
    for (const wrong of [null, undefined, {}, Number.NaN, true])
      expect(await failure(() => wrong)).toMatchObject({
        code: "config_invalid",
        message: '"idGenerator" must return a string or a number',
      });
    const { transport } = createMemoryServer(createTestServer(), { era: "modern" });
    await using wire = openWire(transport, { idGenerator: () => "same" });
    await wire.connect();
    await expect(wire.sendRequest("tools/list")).rejects.toMatchObject({
      code: "config_invalid",
      message: '"idGenerator" returned an id that another request had',
    });
  });

  it("an answer to an id that was never sent answers nothing", async () => {
    const inbox: { readonly id?: unknown; readonly method?: string }[] = [];
    let deliver: ((message: object) => void) | undefined;
    const transport = {
      onmessage: undefined as Transport["onmessage"],
      start: () => Promise.resolve(),
      send(this: Transport, message: { readonly id?: unknown; readonly method?: string }) {
        inbox.push(message);
        deliver = (answer) => this.onmessage?.(answer as never);
        if (message.method === "initialize")
          deliver({
            jsonrpc: "2.0",
            id: message.id,
            result: { protocolVersion: "2025-11-25", capabilities: { tools: {} } },
          });
        return Promise.resolve();
      },
      close: () => Promise.resolve(),
    };
    await using wire = openWire(transport, { protocolVersion: "2025-11-25" });
    await wire.connect();
    const asked = wire.sendRequest("tools/list");
    const { id } = inbox.at(-1) ?? {};
    for (let guess = 0; guess < 20; guess += 1)
      deliver?.({ jsonrpc: "2.0", id: guess, result: { tools: ["guessed"] } });
    deliver?.({ jsonrpc: "2.0", id, result: { tools: [] } });
    expect(await asked).toMatchObject({ id, result: { tools: [] } });
  });

  it("a call that is given up is called off by the id that was on the wire", async () => {
    const server = await serveHttp(createTestServer(), { era: "legacy", sessions: true });
    await using silent = await ScriptedServer.start(async (request, response) => {
      if (request.message.method === "tools/call") return;
      const answer = await fetch(server.url, {
        method: request.method,
        headers: request.headers as Record<string, string>,
        ...(request.body === "" ? {} : { body: request.body }),
      });
      response.writeHead(answer.status, Object.fromEntries(answer.headers));
      response.end(request.method === "GET" ? "" : await answer.text());
    });
    const entry = { name: "test", url: silent.url, transport: "streamable-http" } as const;
    await using wire = openWire(entry, { limits: { callTimeoutMs: 2_000 } });
    await wire.connect();
    const call = wire.sendRequest("tools/call", { name: "echo", arguments: { message: "x" } });
    await expect(call).rejects.toMatchObject({ code: "timeout" });
    await silent.until(() => silent.posts("notifications/cancelled").length === 1);
    const [cancelled] = silent.posts("notifications/cancelled");
    const [sent] = silent.posts("tools/call");
    expect(cancelled?.message.params).toMatchObject({ requestId: sent?.message.id });
    await server.close();
  });
});

/** `name-1`, `name-2`, … */
function names(name: string): () => string {
  let count = 0;
  return () => `${name}-${(count += 1)}`;
}
