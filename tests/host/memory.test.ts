import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";

import { describe, expect, it } from "vitest";

import { createHost, type HostOptions, type McpHost } from "../../src/index.ts";
import { openStore } from "../../src/store/open-store.ts";
import { testServerEntry } from "../../src/testing/index.ts";

interface Place extends AsyncDisposable {
  readonly home: string;
  readonly cwd: string;
  readonly file: string;
  host(options?: HostOptions): Promise<McpHost>;
}

async function makePlace(): Promise<Place> {
  const root = await mkdtemp(path.join(tmpdir(), "memory-"));
  const [home, cwd] = [path.join(root, "home"), path.join(root, "work")];
  await mkdir(path.join(cwd, ".plugboard"), { recursive: true });
  await mkdir(home);
  return {
    home,
    cwd,
    file: path.join(home, ".plugboard", "plugboard.db"),
    host: (options) => createHost({ home, cwd, watch: false, ...options }),
    [Symbol.asyncDispose]: () => rm(root, { recursive: true }),
  };
}

const twenty = Object.fromEntries(
  Array.from({ length: 20 }, (_, index) => [`s${index}`, testServerEntry()]),
);

describe("what a host remembers", () => {
  it("decision 12: with a warm catalog tools are listed and nothing is started", async () => {
    await using place = await makePlace();
    const one = { s0: testServerEntry() };
    {
      await using first = await place.host({ servers: one });
      await first.session({ level: "yolo" }).ready();
    }
    // The same launch under any name is the same server.
    await using host = await place.host({ servers: twenty });
    const states: string[] = [];
    host.on("server-state", ({ state }) => states.push(state));
    const session = host.session({ level: "yolo" });
    expect(session.tools()).toHaveLength(60);
    expect(await session.ready()).toMatchObject({ s0: { ready: true }, s19: { ready: true } });
    expect(states).toEqual([]);
    expect(await session.call("mcp__s7__add", { a: 2, b: 3 })).toMatchObject({ text: "5" });
    expect(host.servers().filter(({ state }) => state !== "idle")).toHaveLength(1);
  });

  it("PRO-23: a modern server that was slow to say so is spoken to as one the next time", async () => {
    await using place = await makePlace();
    const program = path.resolve(import.meta.dirname, "../fixtures/servers/slow-modern-server.mjs");
    const servers = { slow: { command: process.execPath, args: [program] } };
    {
      await using first = await place.host({ servers, limits: { eraProbeMs: 50 } });
      expect(await first.connect("slow")).toMatchObject({ era: "legacy", toolCount: 1 });
      await first.disconnect("slow");
      expect(await first.connect("slow")).toMatchObject({ era: "modern", toolCount: 1 });
    }
  });

  it("PRO-23: the verdict of a slow start outlives the host that saw it", async () => {
    await using place = await makePlace();
    const program = path.resolve(import.meta.dirname, "../fixtures/servers/slow-modern-server.mjs");
    const servers = { slow: { command: process.execPath, args: [program] } };
    {
      await using first = await place.host({ servers, limits: { eraProbeMs: 50 } });
      expect(await first.connect("slow")).toMatchObject({ era: "legacy" });
    }
    await using second = await place.host({ servers, limits: { eraProbeMs: 50 } });
    expect(await second.connect("slow")).toMatchObject({ era: "modern" });
  });

  it("a tool that is gone when its server starts is unknown, and one that changed is judged anew", async () => {
    await using place = await makePlace();
    const entry = testServerEntry();
    {
      await using first = await place.host({ servers: { s: entry } });
      await first.session({ level: "yolo" }).ready();
    }
    {
      await using store = await openStore({ location: place.file });
      const { consentIdOf, launchFacts } = await import("../../src/approval/launch-facts.ts");
      const { parseServerEntry } = await import("../../src/config/parse/parse-config.ts");
      const config = parseServerEntry("s", entry, { baseDir: place.cwd });
      const consentId = consentIdOf(launchFacts(config), config.provenance);
      expect(await store.catalog.find(consentId)).toBeDefined();
      const tools = [
        { name: "vanished", inputSchema: { type: "object" } },
        { name: "add", inputSchema: { type: "object" } },
      ];
      await store.catalog.save(new Map([[consentId, JSON.stringify({ tools })]]));
    }
    {
      await using host = await place.host({ servers: { s: entry } });
      const session = host.session({ level: "yolo" });
      // What is remembered of "add" is not what was pinned, so it is not even listed.
      expect(session.tools().map(({ originalName }) => originalName)).toEqual(["vanished"]);
      expect(await session.call("mcp__s__vanished", {})).toMatchObject({
        error: { code: "tool_unknown" },
      });
      expect(session.tools()).toHaveLength(3);
    }
    {
      await using host = await place.host({ servers: { s: entry } });
      const session = host.session({ level: "yolo" });
      expect(await session.call("mcp__s__add", { a: 1 })).toMatchObject({
        error: { code: "invalid_arguments" },
      });
    }
    await using again = await place.host({ servers: { s: entry } });
    expect(again.session({ level: "yolo" }).tools()).toHaveLength(3);
  });

  it("decision 5: an approval outlives the host, is bound to the launch and can be taken back", async () => {
    await using place = await makePlace();
    const file = path.join(place.cwd, ".plugboard", "mcp.json");
    const write = (entry: object): Promise<void> =>
      writeFile(file, JSON.stringify({ servers: { project: entry } }));
    await write(testServerEntry());
    {
      await using host = await place.host();
      expect(host.server("project").state).toBe("pending");
      await host.approve("project");
    }
    {
      await using host = await place.host();
      expect(host.server("project").state).toBe("idle");
    }
    await write({ ...testServerEntry(), env: { CHANGED: "1" } });
    {
      await using host = await place.host();
      expect(host.server("project").state).toBe("pending");
    }
    await write(testServerEntry());
    {
      await using host = await place.host();
      await host.revokeApproval("project");
    }
    await using host = await place.host();
    expect(host.server("project").state).toBe("pending");
  });

  it("decision 5: an approval that another host takes back ends here as well", async () => {
    await using place = await makePlace();
    const file = path.join(place.cwd, ".plugboard", "mcp.json");
    await writeFile(file, JSON.stringify({ servers: { project: testServerEntry() } }));
    // Watched from before there is a store.
    await using host = await place.host({ watch: true });
    await host.approve("project");
    await using other = await place.host();
    await host.connect("project");
    const ended = new Promise((resolve) => host.on("server-state", resolve));
    await other.revokeApproval("project");
    expect(await ended).toMatchObject({ serverName: "project", state: "idle" });
    expect(host.server("project").state).toBe("pending");
    await expect(host.connect("project")).rejects.toMatchObject({ code: "not_approved" });
  });

  it("STO-03 STO-06: servers of the store are the farthest source", async () => {
    await using place = await makePlace();
    {
      await using store = await openStore({ location: place.file });
      const config = { name: "stored", ...testServerEntry() };
      await store.servers.put({ id: "stored", name: "stored", config });
      await store.servers.put({ id: "both", name: "both", config: { command: "from-store" } });
      await store.servers.put({
        id: "bad",
        name: "bad",
        config: { url: "http://a", command: "b" },
      });
    }
    await using host = await place.host({ servers: { both: testServerEntry() } });
    expect(host.servers().map(({ name, provenance }) => [name, provenance.layer])).toEqual([
      ["both", "code"],
      ["stored", "store"],
    ]);
    expect(host.configProblems).toMatchObject([{ serverName: "bad", layer: "store" }]);
    await host.connect("stored");
  });

  it("J3: a damaged store is told, kept, and keeps nobody from working", async () => {
    await using place = await makePlace();
    await mkdir(path.dirname(place.file), { recursive: true, mode: 0o700 });
    await writeFile(
      place.file,
      "this is no database, and it is long enough to be looked at".repeat(50),
      {
        mode: 0o600,
      },
    );
    await using host = await place.host({ servers: { s: testServerEntry() } });
    expect(host.configProblems).toMatchObject([{ code: "store_failed", layer: "store" }]);
    expect(await host.session({ level: "yolo" }).call("mcp__s__add", { a: 1, b: 1 })).toMatchObject(
      {
        text: "2",
      },
    );
  });

  it("with config: false nothing is kept", async () => {
    await using place = await makePlace();
    {
      await using host = await place.host({ config: false, servers: { s: testServerEntry() } });
      await host.connect("s");
    }
    await using host = await place.host({ servers: { s: testServerEntry() } });
    expect(host.session({ level: "yolo" }).tools()).toEqual([]);
  });
});
