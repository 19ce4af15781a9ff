import { execFile } from "node:child_process";
import { chmodSync, mkdtempSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { promisify } from "node:util";

import { describe, expect, it } from "vitest";

import { connectClient } from "../../src/entries/client.ts";
import { createHost, McpConnectionPool } from "../../src/index.ts";
import { type Clock, systemClock } from "../../src/ports/clock.ts";
import {
  createDemoServer,
  createMemoryServer,
  createTestServer,
  demoServerEntry,
  serveHttp,
  testServerEntry,
} from "../../src/testing/index.ts";
import { watchSpawns } from "../abuse/spawns.ts";
import { abandonedUrl } from "../fixtures/network/abandoned-url.ts";
import { hangsAfterMs } from "../setup/hang-limit.ts";

describe("a connection that fails", () => {
  it.each(["streamable-http", "sse", "http-post", "rest"] as const)(
    "CON-05: is a typed error with server and transport, over %s",
    async (transport) => {
      const entry = { url: await abandonedUrl(), transport, reconnect: false };
      await using host = await createHost({ config: false, servers: { gone: entry } });
      const refused = {
        name: "McpConnectionError",
        code: "unreachable",
        serverName: "gone",
        transport,
      };
      await expect(host.connect("gone")).rejects.toMatchObject(refused);
      expect(host.server("gone")).toMatchObject({ state: "disconnected", lastError: refused });
      await expect(connectClient({ name: "gone", ...entry })).rejects.toMatchObject(refused);
    },
  );

  it("CON-12 LIM-15: is tried again on demand", async () => {
    const folder = mkdtempSync(path.join(tmpdir(), "plugboard-late-"));
    const command = path.join(folder, "server");
    await using host = await createHost({ config: false, servers: { late: { command } } });
    const session = host.session({ level: "yolo" });
    await expect(host.connect("late")).rejects.toMatchObject({ code: "command_not_found" });
    const { command: node, args } = testServerEntry();
    const words = [node, ...args].map((word) => `'${word}'`).join(" ");
    writeFileSync(command, `#!/bin/sh\nexec ${words}\n`);
    chmodSync(command, 0o755);
    expect(await host.reconnect("late")).toMatchObject({ state: "connected" });
    expect(host.server("late").lastError).toBeUndefined();
    expect(await session.execute("mcp__late__echo", { message: "back" })).toBe("back");
  });
});

describe("ending all connections", () => {
  it("CON-09: lets every server end by itself, and what was asked before is answered first or fails typed", async () => {
    const servers = { one: testServerEntry(), two: testServerEntry(), three: demoServerEntry() };
    // However busy the machine is: nobody is ended by a signal here.
    const limits = { stopTermAfterMs: 600_000, stopGraceMs: 1_200_000 };
    await using host = await createHost({ config: false, servers, limits });
    const session = host.session({ level: "yolo" });
    const started = await watchSpawns(async () => {
      await session.ready();
    });
    const underWay = session.call("mcp__three__slow", { steps: 1, delayMs: 60_000 });
    await host.disconnectAll();
    const ends = started.map(({ process }) => [process.exitCode, process.signalCode]);
    expect(ends).toEqual(Object.keys(servers).map(() => [0, null]));
    expect(host.servers().map(({ state }) => state)).toEqual(["idle", "idle", "idle"]);
    expect(await underWay).toMatchObject({ ok: false, error: { code: "closed" } });
    await host.disconnectAll();
    // Nothing is over for good: the next call starts what it needs.
    expect(await session.execute("mcp__one__echo", { message: "again" })).toBe("again");
  });

  it("REG-09 REG-20: happens at the same time, leaves none out for the failure of another, and once", async () => {
    const program = path.join(import.meta.dirname, "stubborn-server.mjs");
    const stubborn = Object.fromEntries(
      ["a", "b", "c", "d"].map((name) => [name, { command: process.execPath, args: [program] }]),
    );
    const closed: string[] = [];
    const failing = () => {
      const { transport } = createMemoryServer(createTestServer());
      const close = transport.close.bind(transport);
      transport.close = async () => {
        await close();
        closed.push("failing");
        throw new Error("did not want to");
      };
      return transport;
    };
    const warnings: unknown[] = [];
    const silent = () => {};
    const steps: string[] = [];
    const limits = { stopTermAfterMs: 211, stopGraceMs: 1_000 };
    const clock: Clock = {
      ...systemClock,
      schedule(delayMs, task) {
        if (delayMs === limits.stopTermAfterMs) steps.push("asked to end");
        return systemClock.schedule(delayMs, task);
      },
    };
    const host = await createHost({
      config: false,
      servers: { ...stubborn, failing },
      limits,
      clock,
      logger: {
        debug: silent,
        info: silent,
        warn: (_message, fields) => void warnings.push(fields),
        error: silent,
      },
    });
    const started = await watchSpawns(async () => {
      await host.connectAll();
    });
    for (const { process } of started) process.once("exit", () => steps.push("ended"));
    await Promise.all([host.close(), host.close()]);
    await host.close();
    expect(started.map(({ process }) => process.signalCode)).toEqual(
      Object.keys(stubborn).map(() => "SIGKILL"),
    );
    expect(closed).toEqual(["failing"]);
    expect(warnings).toContainEqual(
      expect.objectContaining({ serverName: "failing", error: "Error: did not want to" }),
    );
    // One after the other, the second would be asked when the first has ended.
    const all = Object.keys(stubborn);
    expect(steps).toEqual([...all.map(() => "asked to end"), ...all.map(() => "ended")]);
  });

  it.each([
    ["after it was closed", "closed"],
    ["that was only made", "left"],
  ])("CON-19: nothing of a host %s keeps the program alive", async (_name, how) => {
    const web = await serveHttp(createTestServer());
    const { command, args } = demoServerEntry();
    const servers = { pipe: { command, args }, web: { url: web.url } };
    const program = path.join(import.meta.dirname, "ending-program.mjs");
    const { stdout } = await promisify(execFile)(
      process.execPath,
      [program, JSON.stringify(servers), how],
      // A program that does not end is killed, and that is an error.
      { timeout: hangsAfterMs },
    );
    // What is being written or closed will be over by itself.
    const kept = /Timeout|Immediate|Process|TCP|Worker|MessagePort|FSEvent/;
    const held = (JSON.parse(stdout) as string[]).filter((kind) => kept.test(kind));
    expect(held).toEqual([]);
    await web.close();
  });
});

describe("what is known of a server", () => {
  it("DSC-05: is its state, its tools and its resources, and nothing for a name that nobody has", async () => {
    const demo = () => createMemoryServer(createDemoServer()).transport;
    await using host = await createHost({ config: false, servers: { demo } });
    const session = host.session({ level: "yolo" });
    expect(host.server("demo")).toMatchObject({ state: "idle", toolCount: undefined });
    await host.connect("demo");
    const tools = session.tools().filter(({ serverName }) => serverName === "demo");
    expect(host.server("demo")).toMatchObject({ state: "connected", toolCount: tools.length });
    expect(tools.map(({ originalName }) => originalName)).toContain("echo");
    const resources = await session.content.resources({ server: "demo" });
    expect(resources.map(({ uri }) => uri)).toContain("file:///readme.txt");
    expect(host.servers().find(({ name }) => name === "other")).toBeUndefined();
    expect(() => host.server("other")).toThrow(
      expect.objectContaining({ code: "server_unknown" }) as Error,
    );
    session.defineTool({
      name: "look",
      description: "Looks a server up",
      inputSchema: { type: "object" },
      handler: (_params, { context }) => {
        const pool = context.resources.get(McpConnectionPool);
        return { state: pool?.get("demo")?.state, other: pool?.get("other") ?? "nothing" };
      },
    });
    expect((await session.call("look")).structured).toEqual({
      state: "connected",
      other: "nothing",
    });
  });

  it("DSC-08: a section offers no tools of a server that could not be connected, nor after it was disconnected", async () => {
    const gone = { url: await abandonedUrl(), transport: "streamable-http" } as const;
    await using host = await createHost({
      config: false,
      servers: { gone, here: testServerEntry() },
    });
    const section = host.session({ level: "yolo" }).section();
    await section.connect({ partial: "allow" });
    expect([section.connected, section.anyConnected]).toEqual([false, true]);
    expect(new Set(section.tools().map(({ serverName }) => serverName))).toEqual(new Set(["here"]));
    await section.disconnect();
    expect(() => section.tools()).toThrow(
      expect.objectContaining({ name: "McpConnectionError" }) as Error,
    );
  });
});
