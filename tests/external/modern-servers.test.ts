import path from "node:path";
import { pathToFileURL } from "node:url";

import { describe, expect, it } from "vitest";

import type * as plugboard from "../../src/index.ts";

/** The built library, as a user would load it. */
const built = pathToFileURL(path.resolve(import.meta.dirname, "../../dist/index.js")).href;
const { createHost } = (await import(built)) as typeof plugboard;

function program(file: string): string {
  return path.join(import.meta.dirname, "node_modules", file);
}

/** One call that needs neither network nor account: what comes back only has to be an answer. */
interface ModernServer {
  readonly title: string;
  readonly entry: plugboard.ServerEntry;
  readonly call: { readonly tool: string; readonly args: Record<string, unknown> };
}

const servers: readonly ModernServer[] = [
  {
    title: "@upstash/context7-mcp",
    entry: { command: process.execPath, args: [program("@upstash/context7-mcp/dist/index.js")] },
    call: { tool: "resolve-library-id", args: { query: "routing", libraryName: "react" } },
  },
  {
    title: "@supabase/mcp-server-supabase",
    entry: {
      command: process.execPath,
      // With its default features the server needs the network even to list its tools.
      args: [
        program("@supabase/mcp-server-supabase/dist/cli.js"),
        "--access-token=none",
        "--features=account",
      ],
    },
    call: { tool: "list_organizations", args: {} },
  },
  {
    title: "mongodb-mcp-server",
    entry: {
      command: process.execPath,
      args: [program("mongodb-mcp-server/dist/esm/index.js")],
      env: { MDB_MCP_TELEMETRY: "disabled" },
    },
    call: { tool: "list-connections", args: {} },
  },
];

describe.each(servers)("$title, from npm, through our own core", ({ entry, call }) => {
  it("negotiates the modern era, lists and answers a call", async () => {
    const host = await createHost({
      config: false,
      protocolCore: "core",
      servers: { real: entry },
      // Some of them take longer to start than a silent old server is given.
      limits: { eraProbeMs: 30_000 },
    });
    try {
      const status = await host.connect("real");
      expect(status).toMatchObject({
        state: "connected",
        era: "modern",
        protocolVersion: "2026-07-28",
      });
      expect(status.problems).toEqual([]);
      const session = host.session({ level: "yolo" });
      const tools = session.tools();
      expect(tools.length).toBeGreaterThan(0);
      expect(tools.filter(({ unusable }) => unusable !== undefined)).toEqual([]);
      const outcome = await session.call(`mcp__real__${call.tool}`, call.args);
      // Without a network these tools fail, but it is the server that says so.
      expect(outcome.ok ? "ok" : outcome.error.code).toMatch(/^(?:ok|tool_error|rpc_error)$/);
      expect(outcome.ok ? outcome.text : outcome.error.message).not.toBe("");
    } finally {
      await host.close();
    }
  });
});
