import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";

import { describe, expect, it } from "vitest";

import { loadConfig, parseConfig, type ServerConfig } from "../../src/entries/config.ts";
import { createHost, type McpHost } from "../../src/index.ts";
import { testServerEntry } from "../../src/testing/index.ts";

const named = { name: "tools", ...testServerEntry() };

/** A host that keeps nothing, and one that keeps everything. */
const hosts: readonly (readonly [string, () => Promise<McpHost>])[] = [
  ["a host without files and store", () => createHost({ config: false })],
  ["a host with a store", () => createHost({ config: false, store: ":memory:" })],
];

function sum(host: McpHost, agent = "main") {
  return host.session({ agent, level: "yolo" }).call("mcp__tools__add", { a: 1, b: 2 });
}

describe.each(hosts)("servers named while %s runs", (_, start) => {
  it("REG-12: one that is added can be used, changed, switched off and removed", async () => {
    await using host = await start();
    const changes: object[] = [];
    host.on("servers-changed", ({ added, removed, changed }) =>
      changes.push({ added, removed, changed }),
    );
    expect(await host.add("tools", testServerEntry())).toMatchObject({ state: "idle" });
    expect(await sum(host)).toMatchObject({ text: "3" });
    await expect(host.add("tools", testServerEntry())).rejects.toMatchObject({
      code: "config_invalid",
    });
    await host.reload();
    expect(host.server("tools").state).toBe("connected");
    expect(await host.disable("tools")).toMatchObject({ state: "disabled" });
    expect(await sum(host)).toMatchObject({ error: { code: "server_disabled" } });
    expect(await host.enable("tools")).toMatchObject({ state: "idle" });
    expect(await host.update("tools", { ...testServerEntry(), strict: true })).toMatchObject({
      config: { strict: true },
    });
    expect(await sum(host)).toMatchObject({ text: "3" });
    await host.remove("tools");
    expect(host.servers()).toEqual([]);
    const none = { added: [], removed: [], changed: [] };
    expect(changes).toEqual([
      { ...none, added: ["tools"] },
      { ...none, changed: ["tools"] },
      { ...none, changed: ["tools"] },
      { ...none, changed: ["tools"] },
      { ...none, removed: ["tools"] },
    ]);
  });

  it("an entry that would not work is refused, and nothing is there", async () => {
    await using host = await start();
    const both = { command: "a", url: "http://b" };
    const refused = { code: "config_invalid" };
    await expect(host.add("bad", both)).rejects.toMatchObject(refused);
    await expect(host.connect({ name: "bad", ...both })).rejects.toMatchObject(refused);
    // @ts-expect-error -- it says no name
    await expect(host.connect({ ...testServerEntry() })).rejects.toMatchObject(refused);
    expect(host.servers()).toEqual([]);
  });

  it("REG-01 REG-12: one that is handed to connect is connected, and stays", async () => {
    await using host = await start();
    expect(await host.connect(named)).toMatchObject({
      name: "tools",
      state: "connected",
      provenance: { layer: "code" },
    });
    expect(await sum(host)).toMatchObject({ text: "3" });
    await host.reload();
    // The same entry is the same server; another one of its name is not.
    const { pid } = host.server("tools");
    expect(await host.connect(named)).toMatchObject({ pid });
    await expect(host.connect({ ...named, strict: true })).rejects.toMatchObject({
      code: "config_invalid",
    });
    await host.disconnect("tools");
    expect(host.server("tools").state).toBe("idle");
    await host.remove("tools");
    expect(host.servers()).toEqual([]);
  });

  it("REG-01: one that could not be connected is not kept, so its entry can be mended", async () => {
    await using host = await start();
    const broken = { name: "tools", command: process.execPath, args: ["-e", "process.exit(3)"] };
    await expect(host.connect(broken, { owner: "a" })).rejects.toMatchObject({
      code: "start_exit",
    });
    await expect(host.connect(broken)).rejects.toMatchObject({ code: "start_exit" });
    expect(host.servers()).toEqual([]);
    expect(await host.connect(named)).toMatchObject({ state: "connected" });
  });
});

describe("a server that is handed to connect for an owner", () => {
  it("REG-01 REG-02: nobody else ever sees it, and it goes with its last owner", async () => {
    await using host = await createHost({ config: false });
    await host.connect(named, { owner: "a" });
    await host.connect(named, { owner: "b" });
    expect(await sum(host, "a")).toMatchObject({ text: "3" });
    expect(await sum(host, "c")).toMatchObject({ error: { code: "server_unknown" } });
    await host.disconnect("tools", { owner: "a" });
    expect(await sum(host, "b")).toMatchObject({ text: "3" });
    await host.disconnect("tools", { owner: "b" });
    expect(host.servers()).toEqual([]);
    expect(await sum(host, "c")).toMatchObject({ error: { code: "tool_unknown" } });
  });

  it("REG-01: it goes when everything is disconnected, and servers of everybody stay", async () => {
    await using host = await createHost({ config: false });
    await host.connect(named, { owner: "a", shared: true });
    await host.connect({ ...named, name: "all" });
    expect(await sum(host, "c")).toMatchObject({ text: "3" });
    await host.disconnectAll();
    expect(host.servers().map(({ name, state }) => `${name} ${state}`)).toEqual(["all idle"]);
  });
});

describe("a configuration that was read before", () => {
  it("CFG-39: is gone through as name and entry, in the order of the file, and each is connected", async () => {
    const cwd = await mkdtemp(path.join(tmpdir(), "given-"));
    const file = path.join(cwd, "servers.json");
    const z = testServerEntry();
    const a = { ...testServerEntry(), strict: true };
    const off = { ...testServerEntry(), enabled: false };
    await writeFile(file, JSON.stringify({ mcpServers: { z, off, a } }));
    const loaded = await loadConfig({ cwd, home: cwd, files: [file] });
    expect(loaded.problems).toEqual([]);

    await using host = await createHost({ config: false });
    const connected: object[] = [];
    for (const config of loaded.servers) {
      const { name, enabled, provenance } = config;
      expect(provenance).toMatchObject({ layer: "user", path: file });
      if (!enabled) continue;
      const { state } = await host.connect(config);
      connected.push({ name, state, strict: config.strict });
    }
    expect(loaded.servers.map(({ name }) => name)).toEqual(["z", "off", "a"]);
    expect(connected).toEqual([
      { name: "z", state: "connected", strict: false },
      { name: "a", state: "connected", strict: true },
    ]);
    const session = host.session({ level: "yolo" });
    for (const name of ["z", "a"])
      expect(await session.call(`mcp__${name}__add`, { a: 1, b: 2 })).toMatchObject({ text: "3" });
    await rm(cwd, { recursive: true });
  });

  it("CFG-21: is taken as it is, and one of a project's file still waits for approval", async () => {
    await using host = await createHost({ config: false });
    const [config] = parseConfig({ servers: { tools: testServerEntry() } }).servers;
    expect(await host.connect(config as ServerConfig)).toMatchObject({ state: "connected" });

    const home = await mkdtemp(path.join(tmpdir(), "given-"));
    const cwd = path.join(home, "project");
    await mkdir(path.join(cwd, ".plugboard"), { recursive: true });
    const servers = { project: testServerEntry() };
    await writeFile(path.join(cwd, ".plugboard", "mcp.json"), JSON.stringify({ servers }));
    const loaded = await loadConfig({ cwd, home });
    const [project] = loaded.servers;
    expect(project).toMatchObject({ name: "project", provenance: { layer: "project" } });
    await expect(host.connect(project as ServerConfig)).rejects.toMatchObject({
      code: "not_approved",
    });
    expect(host.servers().map(({ name }) => name)).toEqual(["tools"]);
    await rm(home, { recursive: true });
  });
});
