import { type ChildProcessWithoutNullStreams, spawn } from "node:child_process";
import { once } from "node:events";
import { tmpdir } from "node:os";
import { createInterface } from "node:readline";
import { text } from "node:stream/consumers";

import { afterEach, describe, expect, it } from "vitest";

import type { BundledServerEntry } from "../host/servers/bundled-server.ts";
import { demoServerEntry, testServerEntry } from "./stdio-entry.ts";

const started: { child: ChildProcessWithoutNullStreams; exit: Promise<unknown> }[] = [];

// Every server has to go by itself once nobody talks to it any more.
afterEach(async () => {
  for (const { child, exit } of started.splice(0)) {
    child.stdin.end();
    await exit;
  }
});

/** A bundled server as a child process, spoken to in raw lines from a folder of its own. */
function start({ command, args }: BundledServerEntry, env: Record<string, string> = {}) {
  const child = spawn(command, args, { cwd: tmpdir(), env: { ...process.env, ...env } });
  const exit = once(child, "exit") as Promise<[number | null, string | null]>;
  started.push({ child, exit });
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
  return {
    child,
    exit,
    stderr: text(child.stderr),
    async ask(line: string): Promise<unknown> {
      child.stdin.write(`${line}\n`);
      const { value, done } = await lines.next();
      return done === true ? undefined : JSON.parse(value);
    },
  };
}

function request(id: number, method: string, params: object = {}): string {
  return JSON.stringify({ jsonrpc: "2.0", id, method, params });
}

const initialize = request(1, "initialize", {
  protocolVersion: "2025-11-25",
  capabilities: {},
  clientInfo: { name: "raw", version: "1" },
});

const discover = request(1, "server/discover", {
  _meta: {
    "io.modelcontextprotocol/protocolVersion": "2026-07-28",
    "io.modelcontextprotocol/clientInfo": { name: "raw", version: "1" },
    "io.modelcontextprotocol/clientCapabilities": {},
  },
});

describe("the life of a bundled server", () => {
  it("TST-01: ends with code 0 when its input ends, in the middle of a call", async () => {
    const server = start(demoServerEntry());
    await server.ask(initialize);
    const progressing = {
      name: "slow",
      arguments: { steps: 100, delayMs: 1 },
      _meta: { progressToken: 1 },
    };
    expect(await server.ask(request(2, "tools/call", progressing))).toMatchObject({
      method: "notifications/progress",
    });
    server.child.stdin.end();
    expect(await server.exit).toEqual([0, null]);
    expect(await server.stderr).toBe("");
  });

  it("crash exits with code 1 after its line on stderr, unanswered", async () => {
    const server = start(demoServerEntry());
    await server.ask(initialize);
    expect(await server.ask(request(2, "tools/call", { name: "crash" }))).toBeUndefined();
    expect(await server.exit).toEqual([1, null]);
    expect(await server.stderr).toBe("demo: crash was called, exiting with code 1\n");
  });

  it("leaves signals to the system", async () => {
    const server = start(testServerEntry());
    await server.ask(initialize);
    server.child.kill("SIGTERM");
    expect(await server.exit).toEqual([null, "SIGTERM"]);
  });

  it("survives a client that stops reading before it stops writing", async () => {
    const server = start(testServerEntry());
    await server.ask(initialize);
    server.child.stdout.destroy();
    server.child.stdin.write(`${request(2, "tools/list")}\n`);
    server.child.stdin.on("error", () => {});
    expect(await server.exit).toEqual([0, null]);
    expect(await server.stderr).toBe("");
  });
});

describe("what an entry can be told", () => {
  it("TST-08: a line that is no JSON is answered with -32700, and the next one is served", async () => {
    const server = start(testServerEntry());
    expect(await server.ask("not json")).toMatchObject({ id: null, error: { code: -32_700 } });
    expect(await server.ask(initialize)).toMatchObject({ id: 1, result: {} });
  });

  it("B-P1: a server of both eras answers a probe and then either era on the same pipe", async () => {
    const server = start(testServerEntry());
    expect(await server.ask(discover)).toMatchObject({
      result: { supportedVersions: ["2026-07-28"] },
    });
    expect(await server.ask(initialize)).toMatchObject({
      result: { protocolVersion: "2025-11-25" },
    });
  });

  it("B-P1: a legacy-only server answers the probe with -32601 and then initializes", async () => {
    const server = start(testServerEntry({ era: "legacy" }));
    expect(await server.ask(discover)).toMatchObject({ id: 1, error: { code: -32_601 } });
    expect(await server.ask(initialize)).toMatchObject({
      result: { protocolVersion: "2025-11-25" },
    });
  });

  it("B-P1: a modern-only server refuses initialize and answers the probe", async () => {
    const server = start(testServerEntry({ era: "modern" }));
    expect(await server.ask(initialize)).toMatchObject({
      error: { code: -32_022, data: { supported: ["2026-07-28"] } },
    });
    expect(await server.ask(discover)).toMatchObject({
      result: { supportedVersions: ["2026-07-28"] },
    });
  });

  it("B-N33: the page size comes from the entry, or else from MCP_PAGE_SIZE", async () => {
    const list = request(2, "tools/list");
    const byEntry = start(testServerEntry({ pageSize: 2 }), { MCP_PAGE_SIZE: "1" });
    await byEntry.ask(initialize);
    expect(await byEntry.ask(list)).toMatchObject({
      result: { tools: [{ name: "echo" }, { name: "get_time" }], nextCursor: "2" },
    });
    const byEnvironment = start(testServerEntry(), { MCP_PAGE_SIZE: "1" });
    await byEnvironment.ask(initialize);
    expect(await byEnvironment.ask(list)).toMatchObject({
      result: { tools: [{ name: "echo" }], nextCursor: "1" },
    });
  });
});
