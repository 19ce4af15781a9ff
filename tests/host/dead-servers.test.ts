import { mkdtempSync, readFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";

import { describe, expect, it } from "vitest";

import { createHost, type HostOptions } from "../../src/index.ts";

const program = path.resolve(import.meta.dirname, "../fixtures/servers/dying-server.mjs");

function dying(moment: string, ...rest: readonly string[]) {
  return { command: process.execPath, args: [program, moment, ...rest], reconnect: false };
}

async function hostOf(entry: Readonly<Record<string, unknown>>, options: HostOptions = {}) {
  return await createHost({ config: false, servers: { mysql: entry }, ...options });
}

describe("a server that ends while it is being connected", () => {
  it.each(["at-start", "after-initialize", "after-initialized", "at-list"])(
    "CON-05: is no success but a start that failed, with the exit code and its last words (%s)",
    async (moment) => {
      await using host = await hostOf(dying(moment, "cannot open the database", "3"));
      await expect(host.connect("mysql")).rejects.toMatchObject({
        code: "start_exit",
        exitCode: 4,
        serverName: "mysql",
        message: expect.stringMatching(/^the server stopped during start \(exit code 3 after/),
        details: { exitCode: 3, stderrTail: ["cannot open the database"] },
      });
      expect(host.server("mysql")).toMatchObject({
        state: "disconnected",
        lastError: { code: "start_exit" },
      });
      expect(await host.connectAll()).toEqual({ mysql: false });
      const session = host.session({ level: "yolo" });
      expect(await session.call("mcp__mysql__look")).toMatchObject({
        ok: false,
        error: { code: "start_exit" },
      });
    },
  );

  it("DSC-19: a list that is refused is a failure in the server's own words", async () => {
    await using host = await hostOf(dying("list-refused"));
    await expect(host.connect("mysql")).rejects.toMatchObject({
      code: "protocol_violation",
      message:
        "the tools could not be listed: tools/list was answered with error -32000: out of order",
      details: { rpc: { code: -32_000 } },
    });
    expect(host.server("mysql")).toMatchObject({
      state: "error",
      lastError: { code: "protocol_violation" },
    });
  });

  it("DSC-19: a list that never comes is a failure by the clock", async () => {
    await using host = await hostOf(dying("list-silent"), { limits: { listTimeoutMs: 50 } });
    await expect(host.connect("mysql")).rejects.toMatchObject({
      code: "timeout",
      message: expect.stringContaining("the tools could not be listed: no answer to tools/list"),
    });
  });
});

/** The same server, and how often it has been started. */
function counted(moment: string, ...rest: readonly string[]) {
  const file = path.join(mkdtempSync(path.join(tmpdir(), "starts-")), "starts");
  const entry = { ...dying(moment, ...rest), env: { STARTS: file } };
  return { entry, starts: () => readFileSync(file, "utf8").length };
}

describe("how often a server that ends is started", () => {
  it.each(["at-start", "at-probe"])("B3: once, when it says why it ends (%s)", async (moment) => {
    const { entry, starts } = counted(moment, "DATABASE_URL must be set");
    await using host = await hostOf(entry);
    await expect(host.connect("mysql")).rejects.toMatchObject({
      code: "start_exit",
      message: expect.stringMatching(/\): DATABASE_URL must be set$/),
      hint: 'set DATABASE_URL in "env" of the entry',
    });
    expect(starts()).toBe(1);
  });

  it("B3: once more without the probe when it ends in silence, and never both ways again", async () => {
    const { entry, starts } = counted("at-start");
    await using host = await hostOf(entry);
    await expect(host.connect("mysql")).rejects.toMatchObject({ code: "start_exit" });
    expect(starts()).toBe(2);
    await expect(host.connect("mysql")).rejects.toMatchObject({ code: "start_exit" });
    expect(starts()).toBe(3);
  });

  it.each(["", "Error: unknown method server/discover"])(
    "PRO-23: a server that ends of the probe (%j) works without it, also the next time",
    async (lastWords) => {
      const { entry, starts } = counted("at-probe", lastWords);
      await using host = await hostOf(entry);
      expect(await host.connect("mysql")).toMatchObject({ state: "connected", toolCount: 1 });
      expect(starts()).toBe(2);
      await host.disconnect("mysql");
      expect(await host.connect("mysql")).toMatchObject({ state: "connected", toolCount: 1 });
      expect(starts()).toBe(3);
    },
  );
});

describe("what a server that cannot be used printed", () => {
  it("ERR-17: text on stdout makes it no MCP server, told at once when it ends", async () => {
    const script = 'console.log("Usage: serve <folder>"); process.exit(0)';
    await using host = await hostOf({ command: process.execPath, args: ["-e", script] });
    await expect(host.connect("mysql")).rejects.toMatchObject({
      code: "start_exit",
      message: expect.stringContaining("it is no MCP server"),
      details: { printedCause: { stream: "stdout", lines: ["Usage: serve <folder>"] } },
    });
  });

  it("ERR-17: text on stdout is told when it stays, too", async () => {
    const script = 'process.stdout.write("Ready, type a command> "); setInterval(() => {}, 1000)';
    await using host = await hostOf({
      command: process.execPath,
      args: ["-e", script],
      connectTimeout: 3,
    });
    await expect(host.connect("mysql")).rejects.toMatchObject({
      code: "start_timeout",
      message: expect.stringMatching(/within 3 s: it printed what is no MCP message: "Ready, type/),
    });
  });

  it("ERR-17: a refused connection is the cause of a server that never answers", async () => {
    const script =
      'console.error("db: connect ECONNREFUSED 127.0.0.1:5432"); setInterval(() => {}, 1000)';
    await using host = await hostOf({
      command: process.execPath,
      args: ["-e", script],
      connectTimeout: 3,
    });
    await expect(host.connect("mysql")).rejects.toMatchObject({
      code: "start_timeout",
      message: expect.stringContaining("it could not connect to 127.0.0.1:5432"),
      hint: expect.stringContaining("start what listens at 127.0.0.1:5432"),
    });
  });

  it("ERR-17: a secret is masked in an unfinished line, also where the line is cut", async () => {
    const script =
      'process.stdout.write("x".repeat(190) + process.env.API_KEY, () => process.exit(1))';
    await using host = await hostOf({
      command: process.execPath,
      args: ["-e", script],
      env: { API_KEY: "sk-canary-123456789" },
    });
    const failure = await host.connect("mysql").catch((error: unknown) => error);
    expect(failure).toMatchObject({ message: expect.stringContaining("no MCP message") });
    expect(JSON.stringify(failure)).not.toContain("sk-can");
  });

  it("ERR-17: a secret is masked in the cause as everywhere else", async () => {
    const script = 'throw new Error("the key " + process.env.API_KEY + " was refused")';
    await using host = await hostOf({
      command: process.execPath,
      args: ["-e", script],
      env: { API_KEY: "sk-canary-123456789" },
    });
    const failure = await host.connect("mysql").catch((error: unknown) => error);
    expect(String(failure)).toContain("the key [redacted] was refused");
    expect(JSON.stringify(failure)).not.toContain("canary");
  });
});
