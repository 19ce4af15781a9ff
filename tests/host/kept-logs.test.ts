import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, readdirSync, readFileSync, statSync } from "node:fs";
import { mkdir, mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";

import { describe, expect, it, onTestFinished } from "vitest";

import { bundleProgram } from "../../scripts/bundle-program.mjs";
import { createHost, type HostOptions, type McpHost } from "../../src/index.ts";
import { testServerEntry } from "../../src/testing/index.ts";

const fixtures = path.resolve(import.meta.dirname, "../fixtures");

interface Place extends AsyncDisposable {
  readonly home: string;
  readonly folder: string;
  host(options?: HostOptions): Promise<McpHost>;
}

async function makePlace(): Promise<Place> {
  const root = await mkdtemp(path.join(tmpdir(), "logs-"));
  const [home, cwd] = [path.join(root, "home"), path.join(root, "work")];
  await Promise.all([mkdir(home), mkdir(cwd)]);
  return {
    home,
    folder: path.join(home, ".plugboard", "logs"),
    host: (options) => createHost({ home, cwd, watch: false, logger: false, ...options }),
    [Symbol.asyncDispose]: () => rm(root, { recursive: true }),
  };
}

const dying = (...args: readonly string[]) => ({
  command: process.execPath,
  args: [path.join(fixtures, "servers/dying-server.mjs"), ...args],
  protocol: "2025-06-18",
});

/** What is kept of a server, as lines that are the same in every run. */
async function linesOf(host: McpHost, name: string): Promise<readonly string[]> {
  const entries = await host.keptLogs.read(name);
  return entries.map(({ source, level = "", text }) => {
    const known = text
      .replaceAll(/\d+\.\d s/g, "<time>")
      .replace(/(starting:).*(, from )/, "$1 …$2");
    return `${source}${level === "" ? "" : ` ${level}`}: ${known}`;
  });
}

describe("the log of a server", () => {
  it("STD-20: tells of its start, what it printed and its end, to a host that comes later", async () => {
    await using place = await makePlace();
    {
      await using host = await place.host({ servers: { s: testServerEntry() } });
      await host.connect("s");
    }
    await using later = await place.host({});
    expect(await later.keptLogs.names()).toEqual(["s"]);
    const lines = await linesOf(later, "s");
    expect(lines[0]).toBe("host: starting: …, from code");
    expect(lines[1]).toMatch(/^host: ready: stdio, MCP 20\d\d-\d\d-\d\d, /);
    expect(lines.slice(2)).toEqual(["host: stopped (exit code 0)"]);
    expect(statSync(place.folder).mode & 0o777).toBe(0o700);
    expect(statSync(path.join(place.folder, "s.log")).mode & 0o777).toBe(0o600);
  });

  it("STD-20, STD-21: has the last words of a failed start before the failure, which names the file", async () => {
    await using place = await makePlace();
    const s = dying("at-list", "Error: no licence", "3");
    await using host = await place.host({ servers: { s }, reconnect: false });
    const file = path.join(place.folder, "s.log");
    await expect(host.connect("s")).rejects.toMatchObject({
      code: "start_exit",
      details: { logFile: file },
    });
    expect(await linesOf(host, "s")).toEqual([
      "host: starting: …, from code",
      "stderr: Error: no licence",
      "host error: start_exit: the server stopped during start (exit code 3 after <time>): Error: no licence",
    ]);
  });

  it("tells of every attempt to start it again", async () => {
    await using place = await makePlace();
    const s = { ...dying("at-start", "no"), maxReconnectAttempts: 2 };
    await using host = await place.host({ servers: { s } });
    const down = new Promise<void>((resolve) => {
      host.on("server-state", ({ state }) => void (state === "disconnected" && resolve()));
    });
    await host.connect("s").catch(() => undefined);
    await down;
    const lines = await linesOf(host, "s");
    expect(lines.filter((line) => line.includes("starting:"))).toHaveLength(3);
    expect(lines.filter((line) => line.includes("start_exit: "))).toHaveLength(3);
  });

  it("ENV-12, I6: masks its secrets on stderr and in log messages, in the event, too", async () => {
    await using place = await makePlace();
    const telling = {
      command: process.execPath,
      args: [path.join(fixtures, "servers/telling-server.mjs")],
      env: { API_TOKEN: "canary-token-7", PLAIN: "ghp_abcdefghijklmnopqrstuvwxyz0123" },
    };
    await using host = await place.host({ servers: { telling } });
    const told: string[] = [];
    host.on("server-log", ({ text }) => told.push(text));
    await host.session({ level: "yolo" }).call("telling.keep", {});
    await host.disconnect("telling");
    const lines = await linesOf(host, "telling");
    expect(lines.filter((line) => line.startsWith("stderr: keep with"))).toHaveLength(1);
    expect(lines.filter((line) => line.startsWith("message info: {"))).toHaveLength(1);
    const all = `${readFileSync(path.join(place.folder, "telling.log"), "utf8")}${told.join("\n")}`;
    expect(told).toHaveLength(1);
    expect(all).toContain("[redacted]");
    expect(all).not.toMatch(/canary|ghp_/);
  });

  it("A17: is bounded for a server that floods, keeps its last words and counts the rest", async () => {
    await using place = await makePlace();
    const script = `
      const line = "x".repeat(99) + "\\n";
      for (let i = 0; i < 300; i += 1) require("node:fs").writeSync(2, line.repeat(400));
      require("node:fs").writeSync(2, "last words\\n");
      process.exit(1);
    `;
    const s = { command: process.execPath, args: ["-e", script], protocol: "2025-06-18" };
    await using host = await place.host({
      servers: { s },
      reconnect: false,
      limits: { maxServerLogBytes: 100_000 },
    });
    await expect(host.connect("s")).rejects.toMatchObject({ code: "start_exit" });
    const lines = await linesOf(host, "s");
    // The count of what was left out may come before them or after.
    expect(lines.slice(-3)).toContain("stderr: last words");
    expect(lines.join("\n")).toMatch(/^host: left out: /m);
    const sizes = readdirSync(place.folder).map(
      (file) => statSync(path.join(place.folder, file)).size,
    );
    expect(Math.max(...sizes)).toBeLessThanOrEqual(50_000);
    expect(sizes.length).toBeLessThanOrEqual(2);
  });

  it.each<[string, HostOptions]>([
    ["config: false", { config: false }],
    ["store: false", { store: false }],
    [":memory:", { store: ":memory:" }],
    ["maxServerLogBytes: 0", { limits: { maxServerLogBytes: 0 } }],
  ])("is not kept with %s", async (_, options) => {
    await using place = await makePlace();
    const s = dying("at-start", "last words");
    await using host = await place.host({ servers: { s }, reconnect: false, ...options });
    const error: unknown = await host.connect("s").catch((thrown: unknown) => thrown);
    expect(error).toMatchObject({ code: "start_exit" });
    expect(error).not.toHaveProperty("details.logFile");
    await host.close();
    expect(await host.keptLogs.read("s")).toEqual([]);
    expect(existsSync(place.folder)).toBe(false);
  });

  it("J1: is readable after the program that wrote it was killed, and goes on", async () => {
    await using place = await makePlace();
    const program = await bundleProgram("tests/fixtures/programs/chatting-host.mjs");
    const child = spawn(process.execPath, [program, place.home], {
      stdio: ["ignore", "pipe", "inherit"],
    });
    onTestFinished(() => void child.kill("SIGKILL"));
    await using host = await place.host({ servers: { chatty: testServerEntry() } });
    let seen = 0;
    for await (const { text } of host.keptLogs.follow("chatty")) {
      if (!text.startsWith("chat ")) continue;
      seen += 1;
      if (seen === 20) break;
    }
    child.kill("SIGKILL");
    await once(child, "exit");
    await host.connect("chatty");
    await host.disconnect("chatty");
    const lines = await linesOf(host, "chatty");
    const chats = lines.filter((line) => line.startsWith("stderr: chat "));
    expect(chats.length).toBeGreaterThanOrEqual(20);
    expect(chats).toEqual(chats.map((_, index) => `stderr: chat ${index}`));
    expect(lines.at(-1)).toBe("host: stopped (exit code 0)");
  });
});
