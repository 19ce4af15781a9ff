import { describe, expect, it } from "vitest";

import { createHost, type HostEventOf } from "../../src/index.ts";
import {
  createMemoryServer,
  createRecordedServer,
  testServerEntry,
} from "../../src/testing/index.ts";
import { abandonedUrl } from "../fixtures/network/abandoned-url.ts";
import { makeProject } from "./project.ts";
import { anyTool, recordedHost } from "./recorded-host.ts";

describe("a tool by its public name", () => {
  it("REG-06: is found with its server by who may see it, and by nobody else", async () => {
    await using context = await recordedHost({
      tools: [anyTool],
      host: { naming: "mcp_server_tool" },
    });
    const { host } = context;
    await host.connect("fake", { owner: "main" });
    const main = host.session({ agent: "main", level: "yolo" });
    const found = main.find("mcp_fake_any");
    expect(found).toMatchObject({ name: "mcp_fake_any", originalName: "any", serverName: "fake" });
    expect(await found?.execute({ x: 1 })).toMatchObject({ ok: true, text: '{"x":1}' });
    expect(main.find("mcp_fake_none")).toBeUndefined();
    const other = host.session({ agent: "other", level: "yolo" });
    expect(other.find("mcp_fake_any")).toBeUndefined();
    await host.connect("fake", { owner: "main", shared: true });
    expect(other.find("mcp_fake_any")).toMatchObject({ serverName: "fake" });
    await host.disconnect("fake", { owner: "main" });
    const nobody = host.session({ level: "sandboxed" });
    expect(nobody.find("mcp_fake_any")).toBeUndefined();
  });
});

describe("the record of a server", () => {
  it("REG-14 STA-07: tells what it is, how it is reached, since when, what it offers and what failed last", async () => {
    await using host = await createHost({
      config: false,
      servers: { good: testServerEntry(), bad: { command: "plugboard-no-such-command" } },
    });
    const heard: HostEventOf<"server-state">[] = [];
    const stop = host.on("server-state", (event) => heard.push(event));
    expect(host.server("good")).toMatchObject({
      state: "idle",
      toolCount: undefined,
      connectedAt: undefined,
      pid: undefined,
    });
    await host.connectAll();
    const good = host.server("good");
    expect(good).toMatchObject({
      name: "good",
      state: "connected",
      transport: "stdio",
      target: expect.stringContaining("node") as string,
      toolCount: 3,
      lastError: undefined,
      protocolVersion: expect.stringMatching(/^\d{4}-\d\d-\d\d$/) as string,
      serverInfo: { name: expect.any(String) as string, version: expect.any(String) as string },
    });
    expect(Date.now() - (good.connectedAt ?? 0)).toBeLessThan(60_000);
    expect(good.pid).toBeGreaterThan(1);
    expect(process.kill(good.pid as number, 0)).toBe(true);
    expect(host.server("bad")).toMatchObject({
      state: "error",
      lastError: { code: "command_not_found", serverName: "bad" },
      connectedAt: undefined,
    });
    const told = heard.map(({ serverName, previous, state }) => [serverName, previous, state]);
    expect(told).toEqual(
      expect.arrayContaining([
        ["good", "idle", "connecting"],
        ["good", "connecting", "connected"],
        ["bad", "idle", "connecting"],
        ["bad", "connecting", "error"],
      ]),
    );
    stop();
    await host.disconnectAll();
    expect(heard).toHaveLength(told.length);
  });

  it("REG-21: how many there are, which are connected, and the tools of each and of all", async () => {
    await using host = await createHost({
      config: false,
      servers: {
        one: testServerEntry(),
        two: testServerEntry(),
        off: { enabled: false, url: "http://h.test" },
      },
    });
    await host.connect("one");
    const session = host.session({ level: "yolo" });
    const toolsOf = (server: string) =>
      session.tools().filter(({ serverName }) => serverName === server);
    expect(host.servers()).toHaveLength(3);
    const connected = () =>
      host
        .servers()
        .filter(({ state }) => state === "connected")
        .map(({ name }) => name);
    expect(connected()).toEqual(["one"]);
    expect([host.server("one").toolCount, toolsOf("one").length]).toEqual([3, 3]);
    expect([host.server("two").toolCount, toolsOf("two").length]).toEqual([undefined, 0]);
    expect(session.tools()).toHaveLength(3);
    await host.connect("two");
    expect([connected(), session.tools().length]).toEqual([["one", "two"], 6]);
  });
});

describe("the state of a server", () => {
  it("STA-01: says that it is responsive, under way, out of reach, misconfigured, asleep, switched off or not approved", async () => {
    await using project = await makeProject();
    await project.write(testServerEntry());
    const url = await abandonedUrl();
    await using host = await project.host({
      servers: {
        well: testServerEntry(),
        gone: { url, transport: "streamable-http", reconnect: false },
        wrong: { command: "plugboard-no-such-command" },
        asleep: testServerEntry(),
        off: { ...testServerEntry(), enabled: false },
      },
    });
    const underWay: string[] = [];
    host.on("server-state", ({ serverName, state }) => {
      if (state === "connecting") underWay.push(serverName);
    });
    await Promise.allSettled(["well", "gone", "wrong"].map((name) => host.connect(name)));
    expect(underWay).toEqual(["well", "gone", "wrong"]);
    const states = host.servers().map(({ name, state }) => [name, state]);
    expect(Object.fromEntries(states)).toEqual({
      well: "connected",
      gone: "disconnected",
      wrong: "error",
      asleep: "idle",
      off: "disabled",
      project: "pending",
    });
  });

  it("STA-08: out of reach and misconfigured are told apart, each with what to do about it", async () => {
    const url = await abandonedUrl();
    const exits = { command: process.execPath, args: ["-e", "process.exit(3)"], reconnect: false };
    await using host = await createHost({
      config: false,
      env: {},
      servers: {
        unreachable: { url, transport: "streamable-http", reconnect: false },
        start_exit: exits,
        command_not_found: { command: "plugboard-no-such-command" },
        variable_unset: { command: process.execPath, env: { A: "${NOT_SET_ANYWHERE}" } },
      },
    });
    await host.connectAll();
    const told = host.servers().map(({ name, state, lastError }) => [name, lastError?.code, state]);
    expect(told).toEqual([
      ["unreachable", "unreachable", "disconnected"],
      ["start_exit", "start_exit", "disconnected"],
      ["command_not_found", "command_not_found", "error"],
      ["variable_unset", "variable_unset", "error"],
    ]);
    for (const { lastError } of host.servers()) expect(lastError?.hint).toMatch(/\w/);
  });

  it("STA-02: connecting it lists its tools, losing it withdraws none, and coming back lists them anew", async () => {
    let tools: readonly unknown[] = [anyTool];
    const fake = () => createMemoryServer(createRecordedServer({ tools })).transport;
    await using host = await createHost({ config: false, servers: { fake } });
    const session = host.session({ level: "yolo" });
    const heard: string[] = [];
    host.on("*", (event) => {
      if (event.type === "server-state") heard.push(event.state);
      if (event.type === "tools-changed")
        heard.push(`+${event.added.join()} -${event.removed.join()}`);
    });
    expect(session.tools()).toEqual([]);
    await host.connect("fake");
    await host.disconnect("fake");
    expect(session.tools().map(({ originalName }) => originalName)).toEqual(["any"]);
    tools = [{ ...anyTool, name: "new" }];
    await host.connect("fake");
    expect(session.tools().map(({ originalName }) => originalName)).toEqual(["new"]);
    expect(heard).toEqual([
      "connecting",
      "+any -",
      "connected",
      "idle",
      "connecting",
      "+new -any",
      "connected",
    ]);
  });
});
