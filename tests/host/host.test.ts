import { mkdir, mkdtemp, realpath, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";

import type { Transport } from "@modelcontextprotocol/client";
import { Server } from "@modelcontextprotocol/server";
import { describe, expect, it } from "vitest";

import { createHost, McpError } from "../../src/index.ts";
import {
  createMemoryServer,
  createTestServer,
  demoServerEntry,
  testServerEntry,
} from "../../src/testing/index.ts";
import { ManualClock } from "../fixtures/protocol/manual-clock.ts";
import { deferred } from "./deferred.ts";

const inMemory = () => createMemoryServer(createTestServer()).transport;

async function projectWith(config: unknown): Promise<{ cwd: string; home: string }> {
  const root = await mkdtemp(path.join(tmpdir(), "project-"));
  const cwd = path.join(root, "work", "app");
  const home = path.join(root, "home");
  await mkdir(path.join(cwd, ".plugboard"), { recursive: true });
  await mkdir(home);
  await writeFile(path.join(cwd, ".plugboard/mcp.json"), JSON.stringify(config, null, 2));
  return { cwd, home };
}

describe("createHost", () => {
  it("reads configuration and starts nothing", async () => {
    const { cwd, home } = await projectWith({ servers: { here: { command: "does-not-exist" } } });
    await using host = await createHost({
      cwd,
      home,
      servers: { code: { command: "nor-does-this" } },
    });
    expect(host.servers().map(({ name, state }) => [name, state])).toEqual([
      ["code", "idle"],
      ["here", "pending"],
    ]);
    expect(host.session({ level: "yolo" }).tools()).toEqual([]);
  });

  it("CFG-21 CFG-22: a server in code wins over one of the same name in a file, and says what it hides", async () => {
    const { cwd, home } = await projectWith({ servers: { twice: { command: "from-file" } } });
    await using host = await createHost({
      cwd,
      home,
      servers: { twice: { command: "from-code" } },
    });
    expect(host.server("twice")).toMatchObject({
      target: "from-code",
      provenance: { layer: "code" },
      shadows: [{ layer: "project", path: path.join(cwd, ".plugboard/mcp.json") }],
    });
  });

  it("one bad entry in a file is a problem, not the end of the others", async () => {
    const { cwd, home } = await projectWith({
      servers: { bad: { command: "a", url: "http://b" }, good: { command: "c" } },
    });
    await using host = await createHost({ cwd, home });
    expect(host.servers().map(({ name }) => name)).toEqual(["good"]);
    expect(host.configProblems).toMatchObject([{ severity: "error", serverName: "bad" }]);
  });

  it("ERR-08: a bad server in code is the programmer's error and throws", async () => {
    const servers = { bad: { command: "a", url: "http://b" } };
    await expect(createHost({ config: false, servers })).rejects.toMatchObject({
      name: "McpConfigError",
      code: "config_invalid",
      serverName: "bad",
    });
  });

  it("an unknown server is refused with the names that come close", async () => {
    await using host = await createHost({ config: false, servers: { github: inMemory } });
    expect(() => host.server("gihub")).toThrow(
      expect.objectContaining({
        code: "server_unknown",
        details: { suggestions: ["github"], configured: ["github"] },
      }) as Error,
    );
  });
});

describe("launch approval", () => {
  it("a server of a project file starts on no path until it is approved, whatever the level", async () => {
    const marker = path.join(await mkdtemp(path.join(tmpdir(), "marker-")), "started");
    const script = `require("node:fs").writeFileSync(${JSON.stringify(marker)}, "")`;
    const { cwd, home } = await projectWith({
      servers: { project: { command: process.execPath, args: ["-e", script] } },
    });
    await using host = await createHost({ cwd, home });
    const session = host.session({ level: "yolo" });
    const outcome = await session.call("mcp__project__anything", {});
    expect(outcome).toMatchObject({ ok: false, error: { code: "not_approved" } });
    const waiting = { ready: false, state: "pending", error: { code: "not_approved" } };
    expect(await session.ready()).toMatchObject({ project: waiting });
    expect(await session.ready({ servers: ["project"] })).toMatchObject({
      project: { ready: false },
    });
    expect(await host.connectAll()).toEqual({});
    await expect(host.connect("project")).rejects.toMatchObject({
      code: "not_approved",
      details: { definedAt: expect.stringMatching(/mcp\.json:3$/) as string },
    });
    const { access } = await import("node:fs/promises");
    await expect(access(marker)).rejects.toMatchObject({ code: "ENOENT" });
  });

  it("an approved one works, and a revoked approval ends it", async () => {
    const { cwd, home } = await projectWith({ servers: { project: testServerEntry() } });
    await using host = await createHost({ cwd, home });
    await host.approve("project");
    const session = host.session({ level: "yolo" });
    expect((await session.call("mcp__project__add", { a: 2, b: 3 })).text).toBe("5");
    await host.revokeApproval("project");
    expect(host.server("project").state).toBe("pending");
    const outcome = await session.call("mcp__project__add", { a: 2, b: 3 });
    expect(outcome).toMatchObject({ ok: false, error: { code: "not_approved" } });
  });
});

describe("servers", () => {
  it("REG-12 REG-13 STA-04 CFG-15: connectAll is parallel, never throws and skips the disabled", async () => {
    await using host = await createHost({
      config: false,
      servers: {
        good: inMemory,
        missing: { command: "plugboard-no-such-command" },
        off: { command: "x", enabled: false },
      },
    });
    expect(await host.connectAll()).toEqual({ good: true, missing: false });
    expect(host.server("missing")).toMatchObject({
      state: "error",
      lastError: { code: "command_not_found", serverName: "missing" },
    });
    expect(host.server("off").state).toBe("disabled");
    expect(host.session({ level: "yolo" }).tools()).toHaveLength(3);
  });

  it("REG-12: connectAll waits for no server before it begins with the next", async () => {
    const names = ["a", "b", "c", "d"];
    const begun: string[] = [];
    const allBegun = deferred();
    // Each of them answers when all have been asked: one after the other, the first never would.
    const waiting = names.map((name) => [
      name,
      () => {
        const { transport } = createMemoryServer(createTestServer());
        const start = transport.start.bind(transport);
        transport.start = async () => {
          begun.push(name);
          if (begun.length === names.length) allBegun.resolve();
          await allBegun.promise;
          await start();
        };
        return transport;
      },
    ]);
    const servers = Object.fromEntries(waiting) as Record<string, () => Transport>;
    await using host = await createHost({ config: false, servers, clock: new ManualClock() });
    expect(await host.connectAll()).toEqual({ a: true, b: true, c: true, d: true });
    expect(begun).toEqual(names);
  });

  it("CFG-16: connecting a disabled server is a configuration error", async () => {
    await using host = await createHost({
      config: false,
      servers: { off: { command: "x", enabled: false } },
    });
    await expect(host.connect("off")).rejects.toMatchObject({
      name: "McpConfigError",
      code: "server_disabled",
    });
  });

  it("NAM-08 BRG-01 DSC-16 REG-08: disconnect and reconnect: states, events and tools that keep working", async () => {
    await using host = await createHost({ config: false, servers: { demo: testServerEntry() } });
    const states: string[] = [];
    host.on("server-state", ({ state }) => states.push(state));
    await host.connect("demo");
    const session = host.session({ level: "yolo" });
    const add = session.find("mcp__demo__add");
    expect(add).toMatchObject({ originalName: "add", serverName: "demo" });
    const { pid } = host.server("demo");
    await host.disconnect("demo");
    expect(() => process.kill(pid ?? 0, 0)).toThrow();
    expect((await add?.execute({ a: 2, b: 3 }))?.text).toBe("5");
    await host.reconnect("demo");
    expect(states).toEqual([
      "connecting",
      "connected",
      "idle",
      "connecting",
      "connected",
      "idle",
      "connecting",
      "connected",
    ]);
  });

  it("a server that crashes during a call fails that call typed and is started again by the next", async () => {
    await using host = await createHost({ config: false, servers: { demo: demoServerEntry() } });
    const session = host.session({ level: "yolo" });
    const crashed = await session.call("mcp__demo__crash", {});
    expect(crashed).toMatchObject({
      ok: false,
      error: { code: "connection_lost", retryable: true },
      sideEffects: "possible",
    });
    expect(host.server("demo").state).toBe("reconnecting");
    expect(host.logs("demo").join("\n")).toContain("crash was called");
    expect((await session.call("mcp__demo__add", { a: 1, b: 1 })).text).toBe("2");
  });

  it("DSC-19: a server whose list fails is not connected, and its own words say why", async () => {
    const factory = () => {
      const server = new Server({ name: "odd", version: "1" }, { capabilities: { tools: {} } });
      server.setRequestHandler("tools/list", () => {
        throw new Error("the list is broken");
      });
      return server;
    };
    await using host = await createHost({
      config: false,
      servers: { odd: () => createMemoryServer(factory).transport },
    });
    const message = expect.stringContaining("the list is broken") as string;
    await expect(host.connect("odd")).rejects.toMatchObject({ message });
    expect(host.server("odd")).toMatchObject({ state: "error", lastError: { message } });
    expect(await host.session({ level: "yolo" }).ready()).toMatchObject({ odd: { ready: false } });
  });

  it("close is idempotent, ends every process and refuses further work", async () => {
    const host = await createHost({ config: false, servers: { demo: testServerEntry() } });
    await host.connect("demo");
    const { pid } = host.server("demo");
    await Promise.all([host.close(), host.close()]);
    expect(() => process.kill(pid ?? 0, 0)).toThrow();
    await expect(host.connect("demo")).rejects.toSatisfy((error) => McpError.is(error, "closed"));
    expect(() => host.session()).toThrow(expect.objectContaining({ code: "closed" }) as Error);
  });

  it("a call on a session of a closed host is an outcome", async () => {
    const host = await createHost({ config: false, servers: { demo: inMemory } });
    const session = host.session({ level: "yolo" });
    await session.ready();
    await host.close();
    const outcome = await session.call("mcp__demo__add", { a: 1, b: 2 });
    expect(outcome).toMatchObject({ ok: false, error: { code: "closed" } });
  });
});

describe("offline tools", () => {
  const readFile = {
    name: "read_file",
    description: "Read the contents of a file",
    inputSchema: {
      type: "object",
      properties: { path: { type: "string", description: "File path to read" } },
      required: ["path"],
    },
  };

  it("DSC-09 DSC-11: tools registered from schemas list and validate without any server", async () => {
    await using host = await createHost({ config: false });
    host.registerTools("filesystem", [readFile]);
    const session = host.session({ level: "yolo" });
    expect(session.tools()).toMatchObject([
      { name: "mcp__filesystem__read_file", description: readFile.description },
    ]);
    expect(await session.call("mcp__filesystem__read_file", {})).toMatchObject({
      ok: false,
      error: { code: "invalid_arguments" },
    });
  });

  it("DSC-10 ERR-11: executing one throws a state error", async () => {
    await using host = await createHost({ config: false });
    host.registerTools("filesystem", [readFile]);
    const session = host.session({ level: "yolo" });
    await expect(
      session.execute("mcp__filesystem__read_file", { path: "x" }),
    ).rejects.toMatchObject({
      name: "McpStateError",
      code: "not_connected",
    });
  });

  it("STD-16: a server whose entry names no folder starts in the host's, wherever the program stands", async () => {
    const cwd = await realpath(await mkdtemp(path.join(tmpdir(), "host-")));
    const entry = { command: "sh", args: ["-c", "pwd >&2; exit 3"] };
    await using host = await createHost({ config: false, cwd, servers: { s: entry } });
    await expect(host.connect("s")).rejects.toMatchObject({ code: "start_exit" });
    expect(host.logs("s")).toContain(cwd);
    await rm(cwd, { recursive: true });
  });
});
