import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";

import { type McpServerFactory, Server } from "@modelcontextprotocol/server";
import { describe, expect, it } from "vitest";

import {
  CapabilitySet,
  type ConfirmQuestion,
  createHost,
  type HostOptions,
  type McpHost,
} from "../../src/index.ts";
import { createMemoryServer, serveHttp } from "../../src/testing/index.ts";

interface LibraryOptions {
  readonly tools?: readonly string[];
  readonly read?: (uri: string) => Promise<never> | undefined;
}

/** A server with resources and, if wanted, tools of its own. */
function library({ tools = [], read }: LibraryOptions = {}): McpServerFactory {
  return () => {
    const server = new Server(
      { name: "library", version: "1" },
      { capabilities: { resources: {}, tools: {} } },
    );
    server.setRequestHandler("resources/list", () => ({ resources: [] }));
    server.setRequestHandler("resources/read", async ({ params }) => {
      await read?.(params.uri);
      return {
        contents: [
          { uri: params.uri, mimeType: "text/plain", text: `text of ${params.uri}` },
          { uri: params.uri, mimeType: "image/png", blob: "AAAA" },
        ],
      };
    });
    server.setRequestHandler("tools/list", () => ({
      tools: tools.map((name) => ({ name, inputSchema: { type: "object" as const } })),
    }));
    server.setRequestHandler("tools/call", ({ params }) => ({
      content: [{ type: "text", text: `own ${params.name}` }],
    }));
    return server;
  };
}

function hostWith(factory: McpServerFactory, options: HostOptions = {}): Promise<McpHost> {
  return createHost({
    config: false,
    servers: { lib: () => createMemoryServer(factory).transport },
    ...options,
  });
}

describe("reading resources through a tool", () => {
  it("LIM-07: every server with resources has one, once it has been seen", async () => {
    await using host = await hostWith(library({ tools: ["find"] }));
    const session = host.session({ level: "yolo", resourceTools: true });
    expect(session.tools()).toEqual([]);
    await session.ready();
    expect(session.tools().map(({ name }) => name)).toEqual([
      "mcp__lib__find",
      "mcp__lib__read_resource",
    ]);
    expect(session.find("mcp__lib__read_resource")).toMatchObject({
      source: "mcp",
      serverName: "lib",
      description: "Reads a resource of the MCP server lib by its URI.",
      annotations: { readOnlyHint: true },
    });
    expect(host.session({ level: "yolo" }).tools()).toHaveLength(1);
    await host.disconnect("lib");
    expect(session.find("mcp__lib__read_resource")).toBeDefined();
  });

  it("LIM-07: gives the contents as resource blocks and as text, on the path of every call", async () => {
    await using host = await hostWith(library());
    const session = host.session({ level: "yolo", resourceTools: true, history: true });
    await session.ready();
    const outcome = await session.call("mcp__lib__read_resource", { uri: "doc://1" });
    expect(outcome).toMatchObject({
      ok: true,
      text: "text of doc://1\n[resource: doc://1, image/png, 3 B]",
      content: [
        {
          type: "resource",
          resource: { uri: "doc://1", mimeType: "text/plain", text: "text of doc://1" },
        },
        { type: "resource", resource: { uri: "doc://1", mimeType: "image/png", blob: "AAAA" } },
      ],
      serverName: "lib",
      sideEffects: "none",
    });
    expect(session.history()).toMatchObject([{ source: "mcp", mcpServer: "lib" }]);
    expect(await session.call("mcp__lib__read_resource", {})).toMatchObject({
      ok: false,
      error: { code: "invalid_arguments" },
    });
  });

  it("LIM-07: a server's own tool of that name stays what it is", async () => {
    await using host = await hostWith(library({ tools: ["read_resource"] }));
    const session = host.session({ level: "yolo", resourceTools: true });
    await session.ready();
    expect((await session.call("mcp__lib__read_resource", {})).text).toBe("own read_resource");
    const outcome = await session.call("mcp__lib__read_resource_content", { uri: "doc://1" });
    expect(outcome.text).toContain("text of doc://1");
  });

  it("is judged like a tool of its server: filter, capabilities, consent", async () => {
    await using host = await hostWith(library({ tools: ["find"] }));
    await host.connect("lib");
    const capabilities = new CapabilitySet().grant("mcp:lib:find");
    const narrow = host.session({ level: "yolo", capabilities, resourceTools: true });
    expect(narrow.tools().map(({ originalName }) => originalName)).toEqual(["find"]);
    expect(await narrow.call("mcp__lib__read_resource", { uri: "doc://1" })).toMatchObject({
      ok: false,
      error: { code: "denied" },
    });
    const questions: ConfirmQuestion[] = [];
    const asked = host.session({
      level: "trusted",
      resourceTools: true,
      human: {
        confirm: (question) => {
          questions.push(question);
          return Promise.resolve("server-session");
        },
      },
    });
    await asked.call("mcp__lib__read_resource", { uri: "doc://1" });
    await asked.call("mcp__lib__read_resource", { uri: "doc://2" });
    expect(questions).toMatchObject([
      { serverName: "lib", toolName: "read_resource", arguments: { uri: "doc://1" } },
    ]);
  });

  it("LIM-07: says step by step why it may be called or not, by both of its names", async () => {
    await using host = await hostWith(library());
    await host.connect("lib");
    const session = host.session({ level: "trusted", resourceTools: true });
    const report = session.why("lib.read_resource");
    expect(report).toMatchObject({
      agent: "main",
      server: "lib",
      tool: "read_resource",
      verdict: "ask",
      consent: "ask",
    });
    expect(report.steps.map(({ rule, passes }) => `${rule}:${passes}`)).toEqual([
      "enabled:true",
      "approval:true",
      "filter:true",
      "visibility:true",
      "level:true",
      "capability:true",
      "pin:true",
    ]);
    expect(session.why("mcp__lib__read_resource")).toEqual(report);
    expect(host.why("main", "lib.read_resource")).toEqual(report);
    const capabilities = new CapabilitySet().grant("mcp:lib:find");
    const narrow = host.session({ level: "yolo", capabilities, resourceTools: true });
    for (const name of ["lib.read_resource", "mcp__lib__read_resource"])
      expect(narrow.why(name)).toMatchObject({
        verdict: "denied",
        steps: expect.arrayContaining([
          expect.objectContaining({ rule: "capability", passes: false, code: "denied" }),
        ]),
      });
    // A session without such tools has none to explain.
    expect(host.session({ level: "yolo" }).why("lib.read_resource").verdict).toBe("unknown");
  });

  it("the entry's block list leaves it out like any tool", async () => {
    const server = await serveHttp(library({ tools: ["find"] }));
    const entry = { url: server.url, disabledTools: ["read_resource"] };
    const host = await createHost({ config: false, servers: { lib: entry } });
    try {
      const session = host.session({ level: "yolo", resourceTools: true });
      await session.ready();
      expect(session.tools().map(({ originalName }) => originalName)).toEqual(["find"]);
      expect(await session.call("mcp__lib__read_resource", { uri: "doc://1" })).toMatchObject({
        ok: false,
        error: { code: "tool_unknown" },
      });
    } finally {
      await host.close();
      await server.close();
    }
  });

  it("asks once when the server has to be started first", async () => {
    await using host = await hostWith(library());
    let asked = 0;
    const session = host.session({
      level: "trusted",
      resourceTools: true,
      human: {
        confirm: () => {
          asked += 1;
          return Promise.resolve("once");
        },
      },
    });
    await session.ready();
    await host.disconnect("lib");
    const outcome = await session.call("mcp__lib__read_resource", { uri: "doc://1" });
    expect([outcome.ok, asked]).toEqual([true, 1]);
  });

  it("SES-04: a resource that does not come in time is a timeout with an event", async () => {
    await using host = await hostWith(library({ read: () => new Promise(() => {}) }));
    const session = host.session({ level: "yolo", resourceTools: true, history: true });
    await session.ready();
    const outcome = await session.call(
      "mcp__lib__read_resource",
      { uri: "doc://1" },
      { timeoutMs: 20 },
    );
    expect(outcome).toMatchObject({ ok: false, error: { code: "timeout" } });
    expect(session.history()).toMatchObject([{ result: { success: false } }]);
  });

  it("decision 12: a reader is listed from what is remembered, before the server is contacted again", async () => {
    const home = await mkdtemp(path.join(tmpdir(), "readers-"));
    const served = await serveHttp(library({ tools: ["find"] }));
    const servers = { library: { url: served.url } };
    const open = () => createHost({ home, cwd: home, watch: false, servers });
    {
      await using first = await open();
      await first.connect("library");
    }
    await using host = await open();
    const session = host.session({ level: "yolo", resourceTools: true });
    expect(session.tools().map(({ originalName }) => originalName)).toContain("read_resource");
    expect(host.server("library").state).toBe("idle");
    await served.close();
    await rm(home, { recursive: true });
  });
});
