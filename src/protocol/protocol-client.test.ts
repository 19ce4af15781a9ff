import { getEventListeners } from "node:events";

import { McpServer, InMemoryTransport, fromJsonSchema } from "@modelcontextprotocol/server";
import { serveStdio } from "@modelcontextprotocol/server/stdio";
import { afterEach, describe, expect, it } from "vitest";

import {
  connectScripted,
  failureOf,
  type ScriptedOptions,
} from "../../tests/fixtures/protocol/connect-scripted.ts";
import { implementations } from "../../tests/fixtures/protocol/implementations.ts";
import { settled } from "../../tests/fixtures/protocol/manual-clock.ts";
import { protocolOptions } from "../../tests/fixtures/protocol/protocol-options.ts";
import {
  legacyHello,
  legacyScripts,
  modernHello,
  modernScripts,
  type Script,
  ScriptedPeer,
} from "../../tests/fixtures/protocol/scripted-peer.ts";
import { createError } from "../errors/families.ts";
import { systemClock } from "../ports/clock.ts";
import { adoptTransport } from "../transport/adopt-transport.ts";
import type { Progress, ServerNotification } from "./protocol-client.ts";

const cleanups: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const cleanup of cleanups.splice(0)) await cleanup();
});

const echo: Script = ({ params }) => ({
  resultType: "complete",
  content: [{ type: "text", text: JSON.stringify(params?.["arguments"]) }],
});

describe.each(implementations)("ProtocolClient over %s", (_, connect) => {
  const connected = (scripts?: Record<string, Script>, options?: ScriptedOptions) =>
    connectScripted(connect, scripts, options);

  describe("requests", () => {
    it("PRO-01, PRO-04, PRO-12: after the handshake the server is known and a tool can be called", async () => {
      const { peer, client } = await connected({ "tools/call": echo });
      expect(client.era).toBe("legacy");
      expect(client.protocolVersion).toBe("2025-11-25");
      expect(client.serverInfo).toEqual({ name: "scripted", version: "1.0.0" });
      const result = await client.callTool("echo", { a: 1 });
      expect(result).toEqual({ content: [{ type: "text", text: '{"a":1}' }], isError: false });
      expect(peer.methods).toEqual([
        "server/discover",
        "initialize",
        "notifications/initialized",
        "tools/call",
      ]);
    });

    it("PRO-14: tools/call carries the tool's own name and the arguments as given", async () => {
      const { peer, client } = await connected({ "tools/call": echo });
      const args = { text: "ä\n", nested: { list: [1, null] } };
      await client.callTool("weird name/ü", args);
      const sent = peer.find("tools/call");
      expect(sent).toMatchObject({ jsonrpc: "2.0", id: expect.any(Number) as number });
      expect(sent?.params).toEqual({ name: "weird name/ü", arguments: args });
    });

    it("a modern request carries the envelope, and its result loses only the type", async () => {
      const { peer, client } = await connected({ "tools/call": echo }, { era: "modern" });
      expect(client.era).toBe("modern");
      expect(client.serverInfo).toEqual({ name: "scripted", version: "2.0.0" });
      await client.callTool("echo", {});
      expect(peer.find("tools/call")?.params?.["_meta"]).toMatchObject({
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientInfo": { name: "tester", version: "1.2.3" },
        "io.modelcontextprotocol/clientCapabilities": {},
      });
      await expect(client.request("tools/call", { name: "echo" })).resolves.toEqual({
        content: [{ type: "text" }],
      });
    });

    it("many requests at once are answered out of order, each to its own caller", async () => {
      const held: (() => void)[] = [];
      const { client } = await connected({
        "tools/call": (message, peer) => {
          held.push(() => peer.respond(message.id, echo(message, peer)));
        },
      });
      const calls = Array.from({ length: 50 }, (_, index) => client.callTool("echo", { index }));
      await settled();
      for (const answer of held.toReversed()) answer();
      const texts = (await Promise.all(calls)).map(({ content }) => content[0]?.["text"]);
      expect(texts).toEqual(calls.map((_, index) => JSON.stringify({ index })));
    });

    it("PRO-13: the server's error arrives with code and message", async () => {
      const { client } = await connected({
        "tools/call": ({ id }, peer) => peer.fail(id, -32_602, "Unknown tool", { uri: "x" }),
      });
      const error = await failureOf(client.callTool("nope", {}));
      expect(error.code).toBe("rpc_error");
      expect(error.serverName).toBe("scripted");
      expect(error.details["rpc"]).toEqual({
        code: -32_602,
        message: "Unknown tool",
        data: { uri: "x" },
      });
    });

    it("DSC-17: unusual blocks and one bad tool do no harm in either era", async () => {
      const scripts: Record<string, Script> = {
        "tools/call": () => ({ resultType: "complete", content: [{ type: "vendor/x", y: 1 }] }),
        "tools/list": () => ({
          resultType: "complete",
          tools: [{ name: 7 }, { name: "good", inputSchema: { type: "object" } }],
        }),
      };
      for (const era of ["legacy", "modern"] as const) {
        const { client } = await connected(scripts, { era });
        expect((await client.callTool("a", {})).content).toEqual([{ type: "vendor/x", y: 1 }]);
        const { tools, rejected } = await client.listTools();
        expect(tools.map(({ name }) => name)).toEqual(["good"]);
        expect(rejected).toHaveLength(1);
      }
    });

    it("B-P1: a modern result that does not say what it is, is complete", async () => {
      const said = { content: [{ type: "text", text: "done" }] };
      const { client } = await connected(
        {
          "tools/call": () => said,
          "tools/list": () => ({ tools: [{ name: "good", inputSchema: { type: "object" } }] }),
          "vendor/any": () => ({ a: 1 }),
        },
        { era: "modern" },
      );
      await expect(client.callTool("a", {})).resolves.toMatchObject(said);
      expect((await client.listTools()).tools).toHaveLength(1);
      await expect(client.request("vendor/any")).resolves.toEqual({ a: 1 });
    });

    it("PRO-21: what the server does not offer is not asked for", async () => {
      const { peer, client } = await connected({
        initialize: () => ({ ...legacyHello, capabilities: { resources: {} } }),
      });
      await expect(client.listTools()).resolves.toEqual({ tools: [], rejected: [] });
      for (const method of ["tools/call", "prompts/list", "resources/subscribe"]) {
        const error = await failureOf(client.request(method, {}));
        expect(error).toMatchObject({ code: "rpc_error", details: { method } });
      }
      expect(peer.methods.at(-1)).toBe("notifications/initialized");
    });

    it("a ping is ping in the legacy era and server/discover in the modern one", async () => {
      const old = await connected({ ping: () => ({}) });
      await old.client.ping();
      expect(old.peer.methods.at(-1)).toBe("ping");
      const { client, peer } = await connected({}, { era: "modern" });
      await client.ping();
      expect(peer.methods).toEqual(["server/discover", "server/discover"]);
    });

    it("notifications go out without params unless there are some", async () => {
      const { client, peer } = await connected();
      await client.notify("vendor/hello");
      await client.notify("vendor/hello", { a: 1 });
      expect(peer.received.slice(-2)).toEqual([
        { jsonrpc: "2.0", method: "vendor/hello" },
        { jsonrpc: "2.0", method: "vendor/hello", params: { a: 1 } },
      ]);
    });

    it("a modern server that wants input is declined, an unknown kind of result refused", async () => {
      const answers: Record<string, unknown>[] = [
        { resultType: "input_required", inputRequests: { a: { method: "roots/list" } } },
        { resultType: "task", taskId: "1" },
        { resultType: 7, content: [] },
        { resultType: null, content: [] },
      ];
      const { client, peer } = await connected(
        { "tools/call": () => answers.shift() },
        { era: "modern" },
      );
      const codes = [];
      for (let i = 0; i < 4; i += 1) codes.push((await failureOf(client.callTool("a", {}))).code);
      const invalid = Array.from({ length: 3 }, () => "invalid_result");
      expect(codes).toEqual(["protocol_violation", ...invalid]);
      expect(peer.methods.filter((method) => method === "tools/call")).toHaveLength(4);
    });

    it("PRO-24: __proto__ in results pollutes nothing", async () => {
      const { client } = await connected({
        "tools/call": ({ id }, peer) =>
          peer.send(
            JSON.parse(
              `{"jsonrpc":"2.0","id":${id},"result":{"content":[],"structuredContent":{"__proto__":{"polluted":1}},"_meta":{"__proto__":{"polluted":1}}}}`,
            ),
          ),
      });
      await client.callTool("a", {});
      expect(({} as Record<string, unknown>)["polluted"]).toBeUndefined();
    });
  });

  describe("deadlines, cancellation, progress", () => {
    it("C-20, PRO-15, PRO-22: silence ends as timeout and the server is told, in both eras", async () => {
      for (const era of ["legacy", "modern"] as const) {
        const { client, peer, clock } = await connected({}, { era });
        const failure = failureOf(client.callTool("slow", {}, { timeoutMs: 2_000 }));
        await clock.advance(1_999);
        expect(peer.methods).not.toContain("notifications/cancelled");
        await clock.advance(1);
        const error = await failure;
        expect(error).toMatchObject({ code: "timeout", details: { timeoutMs: 2_000 } });
        expect(error.message).toBe("no answer to tools/call within 2 s");
        expect(peer.find("notifications/cancelled")?.params).toMatchObject({
          requestId: peer.find("tools/call")?.id,
          reason: "timed out after 2 s",
        });
        expect(clock.pending).toBe(0);
      }
    });

    it("the default deadline is the limit, and 0 means none", async () => {
      const { client, clock } = await connected();
      const failure = failureOf(client.callTool("slow", {}));
      const endless = client.callTool("slow", {}, { timeoutMs: 0 });
      let isOver = false;
      endless.catch(() => {
        isOver = true;
      });
      await clock.advance(30_000);
      expect((await failure).code).toBe("timeout");
      await clock.advance(10_000_000);
      expect(isOver).toBe(false);
    });

    it("PRO-22: an abort reaches the server and rejects as cancelled", async () => {
      const { client, peer, clock } = await connected();
      const abort = new AbortController();
      const failure = failureOf(client.callTool("slow", {}, { signal: abort.signal }));
      await settled();
      abort.abort(new Error("secret reason"));
      expect((await failure).code).toBe("cancelled");
      const sent = peer.find("notifications/cancelled")?.params;
      expect(sent).toEqual({
        requestId: peer.find("tools/call")?.id,
        reason: "cancelled by the caller",
      });
      expect(clock.pending).toBe(0);
      expect(getEventListeners(abort.signal, "abort")).toEqual([]);
    });

    it("PRO-22: one signal calls off any number of calls, and the platform warns of no leak", async () => {
      const { client, peer } = await connected();
      const warnings: Error[] = [];
      const onWarning = (warning: Error): unknown => warnings.push(warning);
      process.on("warning", onWarning);
      const abort = new AbortController();
      const { signal } = abort;
      const calls = Array.from({ length: 30 }, () =>
        failureOf(client.callTool("slow", {}, { signal })),
      );
      await settled();
      abort.abort();
      for (const { code } of await Promise.all(calls)) expect(code).toBe("cancelled");
      expect(peer.methods.filter((method) => method === "notifications/cancelled")).toHaveLength(
        30,
      );
      expect(getEventListeners(signal, "abort")).toEqual([]);
      await settled();
      process.off("warning", onWarning);
      expect(warnings).toEqual([]);
    });

    it("PRO-22: on modern HTTP the request's stream is aborted instead", async () => {
      const peer = new ScriptedPeer(modernScripts);
      peer.transport.hasPerRequestStream = true;
      const options = protocolOptions({ strict: true });
      const client = await connect(peer.transport, options);
      const failure = failureOf(client.callTool("slow", {}, { timeoutMs: 1_000 }));
      await settled();
      const stream = peer.sendOptions.at(-1)?.stream;
      expect(stream?.isAborted).toBe(false);
      await options.clock.advance(1_000);
      expect((await failure).code).toBe("timeout");
      expect(stream?.isAborted).toBe(true);
      expect(peer.methods).toEqual(["server/discover", "tools/call"]);
      // Given up for good: a strict connection that is sent a stray answer expects none.
      peer.respond("stray", {});
      expect((await failureOf(client.ping())).message).toContain("expected none");
    });

    it("PRO-22: on legacy HTTP the server is told and the stream ended", async () => {
      const peer = new ScriptedPeer(legacyScripts);
      peer.transport.hasPerRequestStream = true;
      const client = await connect(peer.transport, protocolOptions());
      cleanups.push(() => client.close());
      const abort = new AbortController();
      const failure = failureOf(client.callTool("slow", {}, { signal: abort.signal }));
      await settled();
      const stream = peer.sendOptions.at(-1)?.stream;
      abort.abort();
      expect((await failure).code).toBe("cancelled");
      expect(stream?.isAborted).toBe(true);
      expect(peer.methods.at(-1)).toBe("notifications/cancelled");
    });

    it("an already aborted signal sends nothing", async () => {
      const { client, peer } = await connected();
      const error = await failureOf(client.callTool("a", {}, { signal: AbortSignal.abort() }));
      expect(error.code).toBe("cancelled");
      expect(peer.methods).not.toContain("tools/call");
    });

    it("C-11: the late answer to a cancelled call is no violation, even on a strict connection", async () => {
      const { client, peer, closes, clock } = await connected({}, { strict: true });
      const failure = failureOf(client.callTool("slow", {}, { timeoutMs: 10 }));
      await clock.advance(10);
      await failure;
      peer.respond(peer.find("tools/call")?.id, { content: [] });
      peer.scripts["tools/call"] = echo;
      await expect(client.callTool("echo", {})).resolves.toMatchObject({ isError: false });
      expect(closes).toEqual([]);
    });

    it("C-11: a call that was given up is no longer expected", async () => {
      const { client, peer, clock } = await connected({}, { strict: true });
      const failure = failureOf(client.callTool("slow", {}, { timeoutMs: 10 }));
      await clock.advance(10);
      await failure;
      peer.respond("stray", {});
      expect((await failureOf(client.ping())).message).toContain("expected none");
    });

    it("progress extends the deadline, only when it advances, and ends with the answer", async () => {
      const { client, peer, clock } = await connected();
      const reports: Progress[] = [];
      const call = client.callTool(
        "slow",
        {},
        { timeoutMs: 1_000, onProgress: (report) => reports.push(report) },
      );
      await settled();
      const request = peer.find("tools/call");
      const progressToken = request?.id;
      expect(request?.params).toMatchObject({ _meta: { progressToken } });
      const report = (progress: number) =>
        peer.notify("notifications/progress", { progressToken, progress, total: 3 });
      for (const progress of [1, 2, 3]) {
        await clock.advance(900);
        report(progress);
      }
      for (const progress of [3, 2]) report(progress);
      // Progress and answer in one turn of the loop: both count, what follows does not.
      report(4);
      peer.respond(request?.id, { content: [] });
      report(5);
      await call;
      report(6);
      expect(reports.map(({ progress }) => progress)).toEqual([1, 2, 3, 4]);
    });

    it("progress that repeats itself does not keep a call alive, nor does any past the total", async () => {
      const limits = { totalCallTimeoutMs: 5_000 };
      const { client, peer, clock } = await connected({}, { limits });
      const run = async (advance: boolean) => {
        const failure = failureOf(
          client.callTool("slow", {}, { timeoutMs: 1_000, onProgress: () => undefined }),
        );
        await settled();
        const progressToken = peer.received.at(-1)?.id;
        for (let i = 1; i <= 12; i += 1) {
          await clock.advance(500);
          const progress = advance ? i : 1;
          peer.notify("notifications/progress", { progressToken, progress });
        }
        return await failure;
      };
      expect(await run(false)).toMatchObject({ details: { timeoutMs: 1_000, isTotal: false } });
      const total = await run(true);
      expect(total).toMatchObject({ code: "timeout", details: { timeoutMs: 5_000 } });
      expect(total.message).toContain("progress included");
    });

    it("PRO-09: more than 100 stray notifications fail the wait, cancel it, and only it", async () => {
      const { client, peer, closes } = await connected();
      const failure = failureOf(client.callTool("slow", {}));
      await settled();
      for (let i = 0; i < 100; i += 1) peer.notify("vendor/noise");
      const later = client.callTool("later", {});
      await settled();
      peer.notify("vendor/noise");
      expect((await failure).code).toBe("protocol_violation");
      expect(peer.methods.at(-1)).toBe("notifications/cancelled");
      peer.respond(peer.received.findLast(({ method }) => method === "tools/call")?.id, {
        content: [],
      });
      await later;
      expect(closes).toEqual([]);
    });

    it("lists are bounded by pages, entries and time, and say so", async () => {
      const { client, peer } = await connected({
        "tools/list": () => ({ tools: [{ name: "again" }], nextCursor: "" }),
      });
      const { tools, truncatedBy } = await client.listTools();
      expect([tools.length, truncatedBy]).toEqual([64, "64 pages"]);
      expect(peer.received.at(-1)?.params).toEqual({ cursor: "" });
    });
  });

  describe("the connection", () => {
    it("every notification but progress reaches the owner", async () => {
      const { client, peer } = await connected();
      const seen: ServerNotification[] = [];
      client.onnotification = (notification) => seen.push(notification);
      peer.notify("notifications/tools/list_changed");
      peer.notify("notifications/progress", { progressToken: 1, progress: 1 });
      peer.notify("notifications/message", { level: "info", data: "x" });
      expect(seen.map(({ method }) => method)).toEqual([
        "notifications/tools/list_changed",
        "notifications/message",
      ]);
    });

    it("PRO-19: the server's requests are answered, in the legacy era only", async () => {
      for (const era of ["legacy", "modern"] as const) {
        const { peer } = await connected({}, { era });
        const before = peer.received.length;
        peer.send({ jsonrpc: "2.0", id: 9, method: "ping" });
        peer.send({ jsonrpc: "2.0", id: 10, method: "elicitation/create", params: {} });
        await settled();
        const answers = peer.received.slice(before);
        expect(answers).toMatchObject(
          era === "modern"
            ? []
            : [
                { id: 9, result: {} },
                { id: 10, error: { code: -32_601 } },
              ],
        );
      }
    });

    it("a loss in the middle rejects every request with the transport's reason, and is told once", async () => {
      const { client, peer, closes, clock } = await connected();
      const failures = [failureOf(client.callTool("a", {})), failureOf(client.listTools())];
      await settled();
      const reason = createError("connection_lost", "the process ended with code 137");
      peer.die(reason);
      for (const failure of failures) expect(await failure).toBe(reason);
      expect(closes).toEqual([reason]);
      expect(await failureOf(client.callTool("b", {}))).toBe(reason);
      expect(await failureOf(client.listTools())).toBe(reason);
      await client.close();
      expect(closes).toHaveLength(1);
      expect(clock.pending).toBe(0);
    });

    it("PRO-03, PRO-06: close rejects what is pending as closed, twice is once, and no error is reported", async () => {
      const { client, peer, closes } = await connected();
      const failure = failureOf(client.callTool("a", {}));
      await settled();
      await Promise.all([client.close(), client.close()]);
      expect((await failure).code).toBe("closed");
      expect(closes).toEqual([undefined]);
      expect(peer.transport.closeCount).toBe(1);
      expect(await failureOf(client.ping())).toMatchObject({ code: "closed" });
      await expect(client.notify("x")).rejects.toMatchObject({ code: "closed" });
    });

    it("whoever starts to listen after the end still hears of it", async () => {
      const { client, peer } = await connected();
      client.onclose = undefined;
      peer.die();
      const error = await new Promise((resolve) => {
        client.onclose = resolve;
      });
      expect(error).toMatchObject({ code: "connection_lost" });
    });

    it("PRO-08: a wrong id closes a strict connection with the mismatch", async () => {
      const { client, peer, closes } = await connected({}, { strict: true });
      const failure = failureOf(client.callTool("a", {}));
      await settled();
      const { id } = peer.received.at(-1) ?? {};
      peer.respond(String(id), { content: [] });
      const error = await failure;
      expect(error.code).toBe("protocol_violation");
      expect(error.message).toBe(`Response ID mismatch: expected ${id}, got "${id}"`);
      expect(closes).toEqual([error]);
    });

    it("a failed handshake closes the transport and keeps its typed error", async () => {
      const peer = new ScriptedPeer({
        ...legacyScripts,
        initialize: () => ({ ...legacyHello, protocolVersion: "0.1" }),
      });
      const error = await failureOf(connect(peer.transport, protocolOptions()));
      expect(error.code).toBe("protocol_violation");
      expect(peer.transport.closeCount).toBe(1);
    });

    it("a server whose handshake is sloppy can still be used", async () => {
      const { client } = await connected({
        initialize: () => ({
          protocolVersion: "2024-11-05",
          capabilities: { tools: { listChanged: "yes" }, odd: 7 },
          serverInfo: { name: 7 },
          instructions: null,
        }),
        "tools/call": echo,
      });
      await expect(client.callTool("echo", {})).resolves.toMatchObject({ isError: false });
      const modern = await connected(
        {
          "server/discover": () => ({ ...modernHello, capabilities: { tools: true }, ttlMs: "x" }),
        },
        { era: "modern" },
      );
      expect(modern.client.era).toBe("modern");
    });
  });

  describe("a server of the official SDK", () => {
    function createServer(): McpServer {
      const server = new McpServer({ name: "official", version: "3.0.0" });
      const inputSchema = fromJsonSchema<{ text: string }>({
        type: "object",
        properties: { text: { type: "string" } },
        required: ["text"],
      });
      server.registerTool("echo", { description: "Echo", inputSchema }, ({ text }) => ({
        content: [{ type: "text", text }],
      }));
      server.registerTool("wait", { inputSchema }, (_, context) => {
        return new Promise((resolve) => {
          context.mcpReq.signal.addEventListener("abort", () => {
            aborted.push(context.mcpReq.method);
            resolve({ content: [] });
          });
        });
      });
      return server;
    }
    const aborted: string[] = [];

    async function use(transport: InMemoryTransport, overrides = {}) {
      const client = await connect(adoptTransport(transport, "official"), {
        ...protocolOptions({ serverName: "official", ...overrides }),
        clock: systemClock,
      });
      cleanups.push(() => client.close());
      expect(client.serverInfo).toMatchObject({ name: "official", version: "3.0.0" });
      const { tools } = await client.listTools();
      expect(tools.map(({ name }) => name)).toEqual(["echo", "wait"]);
      const { content } = await client.callTool("echo", { text: "hi" });
      expect(content).toEqual([{ type: "text", text: "hi" }]);
      const abort = new AbortController();
      const waiting = failureOf(client.callTool("wait", { text: "" }, { signal: abort.signal }));
      await settled();
      abort.abort();
      expect((await waiting).code).toBe("cancelled");
      await settled();
      expect(aborted.splice(0)).toEqual(["tools/call"]);
      await client.ping();
      return client;
    }

    it("of the legacy era is found, used, cancelled and pinged", async () => {
      const [near, far] = InMemoryTransport.createLinkedPair();
      await createServer().connect(far);
      expect((await use(near)).era).toBe("legacy");
    });

    it.each(["auto", "2026-07-28", "2025-06-18"])(
      "of both eras works with %s",
      async (protocol) => {
        const [near, far] = InMemoryTransport.createLinkedPair();
        const handle = serveStdio(createServer, { transport: far });
        cleanups.push(() => handle.close());
        const client = await use(near, { protocol });
        expect(client.era).toBe(protocol === "2025-06-18" ? "legacy" : "modern");
      },
    );

    it("of both eras works when it starts so slowly that it gets both questions", async () => {
      const [near, far] = InMemoryTransport.createLinkedPair();
      const options = { ...protocolOptions({ serverName: "official" }) };
      const connecting = connect(adoptTransport(near, "official"), options);
      await options.clock.advance(2_000);
      const handle = serveStdio(createServer, { transport: far });
      cleanups.push(() => handle.close());
      const client = await connecting;
      cleanups.push(() => client.close());
      const { content } = await client.callTool("echo", { text: "hi" });
      expect(content).toEqual([{ type: "text", text: "hi" }]);
      expect((await client.listTools()).tools).toHaveLength(2);
    });
  });
});
