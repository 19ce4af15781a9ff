import { EventEmitter, once } from "node:events";
import { mkdir, mkdtemp, rename, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";

import { describe, expect, it } from "vitest";

import { createHost, type McpHost } from "../../src/index.ts";
import { testServerEntry } from "../../src/testing/index.ts";

interface Folder extends AsyncDisposable {
  readonly home: string;
  readonly cwd: string;
  /** Writes the user's file as editors do: a new file takes the place of the old one. */
  write(text: string): Promise<void>;
  servers(servers: Readonly<Record<string, unknown>>): Promise<void>;
}

async function makeFolder(): Promise<Folder> {
  const root = await mkdtemp(path.join(tmpdir(), "reload-"));
  const home = path.join(root, "home");
  const cwd = path.join(root, "work");
  const file = path.join(home, ".plugboard", "mcp.json");
  await mkdir(path.dirname(file), { recursive: true });
  await mkdir(cwd);
  const write = async (text: string): Promise<void> => {
    await writeFile(`${file}.new`, text);
    await rename(`${file}.new`, file);
  };
  return {
    home,
    cwd,
    write,
    servers: (servers) => write(JSON.stringify({ mcpServers: servers }, null, 2)),
    [Symbol.asyncDispose]: () => rm(root, { recursive: true }),
  };
}

function nextChange(host: McpHost): Promise<unknown> {
  const heard = new EventEmitter();
  host.on("servers-changed", (event) => heard.emit("event", event));
  return once(heard, "event").then(([event]: unknown[]) => event);
}

describe("the demo server of a host that asks for it where nothing is configured", () => {
  const namesOf = async (folder: Folder): Promise<readonly string[]> => {
    const { home, cwd } = folder;
    await using host = await createHost({ home, cwd, demo: "unconfigured", watch: false });
    return host.servers().map(({ name }) => name);
  };

  it("is there alone, and not beside a configured server or an entry that cannot be read", async () => {
    await using folder = await makeFolder();
    expect(await namesOf(folder)).toEqual(["demo"]);
    await folder.servers({ own: testServerEntry() });
    expect(await namesOf(folder)).toEqual(["own"]);
    await folder.servers({ broken: { command: 7 } });
    expect(await namesOf(folder)).toEqual([]);
  });
});

describe("a configuration that changes while the host runs", () => {
  it("REG-17 CON-14: an edit applies by itself, and servers it does not touch keep their process", async () => {
    await using folder = await makeFolder();
    const stays = testServerEntry();
    await folder.servers({ stays, goes: testServerEntry(), changes: testServerEntry() });
    await using host = await createHost({ home: folder.home, cwd: folder.cwd });
    const session = host.session({ level: "yolo" });
    await session.ready();
    const { pid } = host.server("stays");
    const changed = nextChange(host);
    await folder.servers({
      comes: testServerEntry(),
      changes: { ...testServerEntry(), env: { NEW: "1" } },
      stays,
    });
    expect(await changed).toMatchObject({
      added: ["comes"],
      removed: ["goes"],
      changed: ["changes"],
    });
    expect(host.servers().map(({ name, state }) => [name, state])).toEqual([
      ["comes", "idle"],
      ["changes", "idle"],
      ["stays", "connected"],
    ]);
    expect(host.server("stays").pid).toBe(pid);
    expect(host.server("stays").provenance.line).toBeGreaterThan(10);
    expect(await session.call("mcp__stays__add", { a: 1, b: 2 })).toMatchObject({ text: "3" });
    expect(await session.call("mcp__comes__add", { a: 1, b: 2 })).toMatchObject({ text: "3" });
    expect(await session.call("mcp__goes__add", { a: 1, b: 2 })).toMatchObject({
      error: { code: "tool_unknown" },
    });
  });

  it("a file that is broken for a moment takes no server away", async () => {
    await using folder = await makeFolder();
    await folder.servers({ one: testServerEntry() });
    await using host = await createHost({ home: folder.home, cwd: folder.cwd, watch: false });
    await host.connect("one");
    const { pid } = host.server("one");
    await folder.write('{ "mcpServers": { "one"');
    await host.reload();
    expect(host.server("one")).toMatchObject({ state: "connected", pid });
    expect(host.configProblems).toHaveLength(1);
    await folder.write("{}");
    await host.reload();
    expect(host.servers()).toEqual([]);
    expect(host.configProblems).toEqual([]);
  });

  it("tools registered by hand survive a reload", async () => {
    await using folder = await makeFolder();
    await using host = await createHost({ home: folder.home, cwd: folder.cwd, watch: false });
    host.registerTools("offline", [{ name: "look", inputSchema: { type: "object" } }]);
    await host.reload();
    expect(host.session({ level: "yolo" }).find("mcp__offline__look")).toBeDefined();
  });

  it("a closed host reads nothing any more", async () => {
    await using folder = await makeFolder();
    const host = await createHost({ home: folder.home, cwd: folder.cwd });
    await host.close();
    expect(() => host.reload()).toThrow(expect.objectContaining({ code: "closed" }));
  });
});
