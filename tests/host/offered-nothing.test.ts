import { writeFile } from "node:fs/promises";
import path from "node:path";

import { describe, expect, it } from "vitest";

import { aiSdkTools } from "../../src/adapters/index.ts";
import { type HostOptions, type McpHost, type SessionOptions } from "../../src/index.ts";
import { testServerEntry } from "../../src/testing/index.ts";
import { makeProject, type Project } from "./project.ts";

const own: HostOptions = { servers: { files: testServerEntry() } };

/** A host whose log is what its program reads on stderr. */
async function openHost(project: Project, options: HostOptions = {}) {
  const log: string[] = [];
  const ignore = (): void => {};
  const warn = (message: string): void => void log.push(message);
  const logger = { debug: ignore, info: ignore, warn, error: warn };
  const host = await project.host({ logger, ...options });
  const events: string[] = [];
  host.on("warning", ({ text }) => void events.push(text));
  return { host, log, events };
}

/** Asks twice in each way, and by two sessions: whatever is said is said once. */
async function askForTools(host: McpHost, options: SessionOptions): Promise<void> {
  for (const session of [host.session(options), host.session(options)])
    for (let round = 0; round < 2; round += 1) {
      expect(await session.loadTools()).toEqual([]);
      expect(session.tools()).toEqual([]);
      expect(await aiSdkTools(session)).toEqual({});
    }
}

describe("servers exist and nothing is offered", () => {
  it.each<[string, HostOptions, SessionOptions, string]>([
    [
      "no level",
      own,
      {},
      'agent "main" is offered no tools: the agent has no permission level, so it may not use MCP servers; give the session a level: "trusted" asks, "yolo" does not',
    ],
    [
      "nobody to ask",
      own,
      { level: "trusted" },
      'agent "main" is offered no tools: its tools need consent, and there is nobody to ask; pass a human to createHost or to the session, allow tools with host.grants.allow(), or use level "yolo"',
    ],
    [
      "a server that is switched off",
      { servers: { files: { ...testServerEntry(), enabled: false } } },
      { level: "yolo" },
      'agent "main" is offered no tools: server "files" is disabled; set "enabled": true in its entry',
    ],
  ])("ERR-17: %s is said once, with the next step", async (_name, options, rights, text) => {
    await using project = await makeProject();
    const { host, log, events } = await openHost(project, options);
    await askForTools(host, rights);
    expect([log, events]).toEqual([[text], [text]]);
    await host.close();
  });

  it("ERR-17: servers that share a cause share a warning, and each cause has its own", async () => {
    await using project = await makeProject();
    await project.write(testServerEntry());
    const off = { ...testServerEntry(), enabled: false };
    const { host, log } = await openHost(project, { servers: { one: off, two: off } });
    await askForTools(host, { level: "yolo" });
    expect(log).toEqual([
      expect.stringMatching(/server "one" is disabled \(likewise: two\); set "enabled"/),
      expect.stringMatching(/"project" comes from a project file .*plugboard approve project$/),
    ]);
    await host.close();
  });

  it("ERR-17 CFG-12: a broken file of the project is said with its place", async () => {
    await using project = await makeProject();
    const file = path.join(project.cwd, ".mcp.json");
    await writeFile(file, '{ "mcpServers": { "a": {} ');
    const { host, log } = await openHost(project);
    await askForTools(host, { level: "yolo" });
    expect(log).toEqual([
      expect.stringMatching(/^left out of the configuration: .*\.mcp\.json:1:/),
    ]);
    await host.close();
  });

  it("ERR-17: tools that were not loaded are said to be that, and loading them is all it takes", async () => {
    await using project = await makeProject();
    const { host, log } = await openHost(project, own);
    const session = host.session({ level: "yolo" });
    expect(session.tools()).toEqual([]);
    expect(log).toEqual([
      'agent "main" is offered no tools: the tools of server "files" are not known yet; await session.loadTools() in place of session.tools()',
    ]);
    expect((await session.loadTools()).map(({ originalName }) => originalName)).toContain("add");
    expect(log).toHaveLength(1);
    await host.close();
  });
});

describe("loading tools", () => {
  it("DSC-05: the first run of a program offers what the second does", async () => {
    await using project = await makeProject();
    const run = async (): Promise<readonly string[]> => {
      await using host = await project.host({ ...own, logger: false });
      const session = host.session({ level: "yolo" });
      return Object.keys(await aiSdkTools(session));
    };
    const first = await run();
    expect(first).toContain("mcp__files__add");
    expect(await run()).toEqual(first);
  });

  it("ERR-17: a server that cannot start is told, tried once, and leaves the others alone", async () => {
    await using project = await makeProject();
    const bad = { command: "plugboard-no-such-command", reconnect: false };
    const { host, log } = await openHost(project, { servers: { files: testServerEntry(), bad } });
    let starts = 0;
    host.on("server-state", ({ serverName, state }) => {
      if (serverName === "bad" && state === "connecting") starts += 1;
    });
    const session = host.session({ level: "yolo" });
    for (let turn = 0; turn < 3; turn += 1)
      expect((await session.loadTools()).length).toBeGreaterThan(0);
    expect([starts, log]).toEqual([
      1,
      [expect.stringMatching(/^server "bad" could not be loaded: .*plugboard-no-such-command/)],
    ]);
    expect(await session.ready()).toMatchObject({
      files: { ready: true, state: "connected", error: undefined },
      bad: { ready: false, state: "error", error: { code: "command_not_found" } },
    });
    expect(starts).toBe(2);
    await host.close();
  });

  it("can be called off", async () => {
    await using project = await makeProject();
    await using host = await project.host(own);
    const session = host.session({ level: "yolo" });
    const loading = session.loadTools({ signal: AbortSignal.abort() });
    await expect(loading).rejects.toMatchObject({ code: "cancelled" });
  });
});
