import { once } from "node:events";
import type { AddressInfo } from "node:net";
import path from "node:path";

import { describe, expect, it, onTestFinished } from "vitest";

import { toolsOverHttp } from "../../examples/servers/tools-http.ts";
import {
  type ContractReport,
  createHost,
  type RuleResult,
  type ServerInput,
} from "../../src/index.ts";
import {
  createTestServer,
  demoServerEntry,
  serveHttp,
  serveRest,
  serveSse,
  testServerEntry,
} from "../../src/testing/index.ts";
import {
  answerTo,
  type RecordedRequest,
  type Respond,
  ScriptedServer,
  sendJson,
} from "../fixtures/http/scripted-server.ts";
import { realServer } from "../fixtures/servers/real-servers.ts";
import { makeProject } from "./project.ts";

const breaker = path.resolve(import.meta.dirname, "../fixtures/servers/rule-breaker.mjs");

function breakerEntry(...args: readonly string[]) {
  return { command: process.execPath, args: [breaker, ...args] };
}

async function check(server: ServerInput): Promise<ContractReport> {
  await using host = await createHost({
    config: false,
    logger: false,
    // Where a server takes its time to end, and that is not what is looked at.
    limits: { stopTermAfterMs: 50, stopGraceMs: 100 },
    servers: { it: server },
  });
  return await host.checkContract("it");
}

function withVerdict({ rules }: ContractReport, ...verdicts: readonly string[]): readonly string[] {
  return rules.flatMap(({ rule, verdict }) => (verdicts.includes(verdict) ? [rule] : []));
}

function resultOf({ rules }: ContractReport, rule: string): RuleResult | undefined {
  return rules.find((result) => result.rule === rule);
}

describe("the contract of a server", () => {
  it.each([
    ["both eras", testServerEntry()],
    ["the legacy era", testServerEntry({ era: "legacy" })],
    ["the modern era", testServerEntry({ era: "modern" })],
    ["pages", testServerEntry({ pageSize: 1 })],
    ["the demo", demoServerEntry()],
    ["the fixture that breaks rules, when it breaks none", breakerEntry()],
  ])("TST-06: is kept by our own server over stdio: %s", async (_, entry) => {
    const report = await check(entry);
    expect(withVerdict(report, "fail", "warn")).toEqual([]);
    expect(report).toMatchObject({ server: "it", transport: "stdio", ok: true });
    expect(withVerdict(report, "pass")).toEqual(
      expect.arrayContaining(["unknown-method", "invalid-arguments", "read-only-call", "shutdown"]),
    );
  });

  it.each([
    ["http" as const, () => serveHttp(createTestServer()), "streamable-http"],
    ["http" as const, () => serveHttp(createTestServer(), { sessions: true }), "streamable-http"],
    ["sse" as const, () => serveSse(createTestServer()), "sse"],
    ["rest" as const, () => serveRest(createTestServer()), "rest"],
  ])("TST-06: is kept by our own server over %s", async (transport, serve, kind) => {
    const served = await serve();
    onTestFinished(() => served.close());
    const report = await check({ url: served.url, transport });
    expect(withVerdict(report, "fail", "warn")).toEqual([]);
    expect(report).toMatchObject({ transport: kind, ok: true });
  });

  it("TST-06: is kept by the servers of the guide", async () => {
    const example = path.resolve(import.meta.dirname, "../../examples/servers/tools-stdio.ts");
    const overStdio = { command: process.execPath, args: ["--import", "tsx", example] };
    toolsOverHttp.listen(0, "127.0.0.1");
    onTestFinished(() => void toolsOverHttp.close());
    await once(toolsOverHttp, "listening");
    const { port } = toolsOverHttp.address() as AddressInfo;
    for (const entry of [overStdio, { url: `http://127.0.0.1:${port}/mcp` }])
      expect(withVerdict(await check(entry), "fail", "warn")).toEqual([]);
  });

  it.each([
    ["server-everything", []],
    ["server-filesystem", ["."]],
    ["server-memory", []],
  ])("is kept by %s", async (name, args) => {
    const report = await check(realServer(name, ...args));
    expect(withVerdict(report, "fail")).toEqual([]);
    // Its SDK answers an unknown tool with a result; the protocol asks for an error.
    expect(withVerdict(report, "warn")).toEqual(["unknown-tool"]);
  });

  it.each([
    "identity",
    "version-negotiation",
    "ping",
    "unknown-method",
    "unknown-notification",
    "list",
    "tool-names",
    "input-schemas",
    "output-schemas",
    "unknown-tool",
    "invalid-arguments",
    "read-only-call",
    "stdout",
    "shutdown",
  ])("finds that %s is broken, and nothing else", async (rule) => {
    const report = await check(breakerEntry(rule));
    const consequences: Readonly<Record<string, readonly string[]>> = {
      // The list goes round in circles, so its tools come twice.
      list: ["tool-names"],
      "output-schemas": ["read-only-call"],
    };
    expect(withVerdict(report, "fail")).toEqual([rule, ...(consequences[rule] ?? [])]);
    expect(report.ok).toBe(false);
  });

  it.each(["tool-descriptions", "stderr"])("warns of %s", async (rule) => {
    const report = await check(breakerEntry(rule));
    expect(withVerdict(report, "fail", "warn")).toEqual([rule]);
    expect(report.ok).toBe(true);
  });

  it("calls no tool that does not claim to be read-only", async () => {
    const report = await check(breakerEntry("destructive"));
    expect(withVerdict(report, "fail", "warn")).toEqual([]);
    expect(withVerdict(report, "skip")).toEqual(
      expect.arrayContaining(["invalid-arguments", "read-only-call"]),
    );
  });

  it("shows neither results nor secrets", async () => {
    const report = await check({ ...breakerEntry(), env: { CANARY: "s3cr3t-canary-value" } });
    expect(resultOf(report, "read-only-call")?.evidence).toBe("look {}: a result of 1 block");
    expect(JSON.stringify(report)).not.toContain("canary");
  });

  it("is broken at its first rule by a server that cannot be started", async () => {
    const report = await check(breakerEntry("handshake"));
    expect(report.rules).toHaveLength(1);
    expect(report).toMatchObject({
      ok: false,
      protocolVersion: undefined,
      rules: [{ rule: "handshake", verdict: "fail", code: "start_exit" }],
    });
  });

  it("is not tried on a server that nobody approved, and can be called off", async () => {
    await using project = await makeProject();
    await project.write(testServerEntry());
    await using host = await project.host({ servers: { own: testServerEntry() } });
    await expect(host.checkContract("project")).rejects.toMatchObject({ code: "not_approved" });
    await expect(host.checkContract("nobody")).rejects.toMatchObject({ code: "server_unknown" });
    const stop = new AbortController();
    const checking = host.checkContract("own", {
      signal: stop.signal,
      onResult: () => stop.abort(),
    });
    await expect(checking).rejects.toMatchObject({ code: "cancelled" });
  });
});

/** A Streamable HTTP server with sessions, as far as the rules of HTTP go; `change` answers some requests otherwise. */
async function serveRules(change: (request: RecordedRequest) => number | undefined) {
  const ended = new Set<string>();
  const respond: Respond = (request, response) => {
    const { method, headers, message } = request;
    const session = headers["mcp-session-id"] as string | undefined;
    const status = change(request);
    if (status !== undefined) return response.writeHead(status).end();
    if (headers.origin !== undefined) return response.writeHead(403).end();
    if (method === "DELETE") {
      ended.add(session ?? "");
      return response.writeHead(200).end();
    }
    if (method !== "POST") return response.writeHead(405).end();
    if (!headers.accept?.includes("json")) return response.writeHead(406).end();
    if (message.method === "initialize") {
      response.setHeader("mcp-session-id", `session-${server.requests.length}`);
      return sendJson(
        response,
        answerTo(request, {
          protocolVersion: "2025-11-25",
          capabilities: { tools: {} },
          serverInfo: { name: "rules", version: "1" },
        }),
      );
    }
    if (session === undefined) return sendJson(response, refusal(request), 400);
    if (!session.startsWith("session-") || ended.has(session)) return response.writeHead(404).end();
    if (message.id === undefined) return response.writeHead(202).end();
    if (message.method === "tools/list")
      return sendJson(response, answerTo(request, { tools: [] }));
    if (message.method === "ping") return sendJson(response, answerTo(request, {}));
    return sendJson(response, refusal(request));
  };
  const server = await ScriptedServer.start(respond);
  onTestFinished(() => server[Symbol.asyncDispose]());
  return { url: server.url, transport: "streamable-http" as const };
}

function refusal({ message }: RecordedRequest): string {
  const code = message.method === "tools/call" ? -32_602 : -32_601;
  return JSON.stringify({ jsonrpc: "2.0", id: message.id, error: { code, message: "no" } });
}

describe("the contract of a server over HTTP", () => {
  const isUnknownSession = ({ headers }: RecordedRequest): boolean =>
    headers["mcp-session-id"] === "no-such-session";

  it("is kept by a server that answers as the rules ask for", async () => {
    const report = await check(await serveRules(() => undefined));
    expect(withVerdict(report, "fail", "warn")).toEqual([]);
    expect(withVerdict(report, "pass")).toEqual(
      expect.arrayContaining(["accept", "session-id", "session-unknown", "session-end", "origin"]),
    );
  });

  it.each<[string, (request: RecordedRequest) => number | undefined]>([
    ["accept", ({ headers }) => (headers.accept === "image/png" ? 500 : undefined)],
    [
      "notification-status",
      ({ message, headers }) =>
        message.method === "notifications/initialized" && headers["user-agent"] === undefined
          ? 500
          : undefined,
    ],
    ["session-unknown", (request) => (isUnknownSession(request) ? 200 : undefined)],
    ["session-end", ({ method }) => (method === "DELETE" ? 200 : undefined)],
    ["origin", ({ headers }) => (headers.origin === undefined ? undefined : 200)],
  ])("finds that %s is broken, and nothing else", async (rule, change) => {
    const report = await check(await serveRules(change));
    expect(withVerdict(report, "fail")).toEqual([rule]);
  });

  it("lets a server refuse to end sessions", async () => {
    const report = await check(
      await serveRules(({ method }) => (method === "DELETE" ? 405 : undefined)),
    );
    expect(resultOf(report, "session-end")?.verdict).toBe("pass");
  });

  it.each([
    ["health", "/health", { status: "ill" }],
    ["rest-error", "/tools/call", { result: "done" }],
  ])("RST-06, TST-06: finds that %s of a REST service is broken", async (rule, target, body) => {
    let isOpen = false;
    await using server = await ScriptedServer.start((request, response) => {
      const { pathname } = new URL(request.target, "http://it");
      // It is well until it is connected.
      if (pathname === target && isOpen) return sendJson(response, JSON.stringify(body));
      if (pathname === "/health") return sendJson(response, '{"status":"ok"}');
      if (pathname === "/tools") {
        isOpen = true;
        return sendJson(response, '{"tools":[]}');
      }
      return sendJson(response, '{"error":"no such tool"}', 404);
    });
    const report = await check({ url: server.origin, transport: "rest" });
    expect(withVerdict(report, "fail")).toContain(rule);
  });
});
