import { EventEmitter, once } from "node:events";
import { existsSync } from "node:fs";
import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";

import { describe, expect, it } from "vitest";

import { createHost, type HostOptions, type McpHost } from "../../src/index.ts";
import { openStore } from "../../src/store/open-store.ts";
import { testServerEntry } from "../../src/testing/index.ts";
import { entering } from "./entering.ts";
import { makeProject } from "./project.ts";

interface Home extends AsyncDisposable {
  readonly store: string;
  /** Two hosts of one home share its file and its store. */
  open(options?: HostOptions): Promise<McpHost>;
}

async function makeHome(servers: Readonly<Record<string, unknown>>): Promise<Home> {
  const root = await mkdtemp(path.join(tmpdir(), "elsewhere-"));
  const [home, cwd] = [path.join(root, "home"), path.join(root, "work")];
  await mkdir(path.join(home, ".plugboard"), { recursive: true });
  await mkdir(cwd);
  await writeFile(
    path.join(home, ".plugboard", "mcp.json"),
    JSON.stringify({ mcpServers: servers }),
  );
  return {
    store: path.join(home, ".plugboard", "plugboard.db"),
    open: (options) => createHost({ home, cwd, ...options }),
    [Symbol.asyncDispose]: () => rm(root, { recursive: true }),
  };
}

describe("a server that another host asks to connect", () => {
  it("CON-12: is connected by a host that runs, also when the store is created by the request", async () => {
    await using home = await makeHome({ one: testServerEntry(), other: testServerEntry() });
    await using running = await home.open();
    await using asking = await home.open({ watch: false });
    expect(existsSync(home.store)).toBe(false);
    const connected = entering(running, "connected");
    await asking.connectElsewhere("one");
    await connected;
    expect(running.server("one").state).toBe("connected");
    expect(running.server("other").state).toBe("idle");
    expect(asking.server("one").state).toBe("idle");
  });

  it("CON-12: is connected anew where that is asked for, and others keep their process", async () => {
    await using home = await makeHome({ one: testServerEntry(), other: testServerEntry() });
    await using running = await home.open();
    await running.connectAll();
    const [one, other] = [running.server("one").pid, running.server("other").pid];
    await using asking = await home.open({ watch: false });
    const connected = entering(running, "connected");
    await asking.connectElsewhere("one", { reconnect: true });
    await connected;
    expect(running.server("one")).toMatchObject({ state: "connected" });
    expect(running.server("one").pid).not.toBe(one);
    expect(running.server("other").pid).toBe(other);
  });

  it("CON-13: is switched on, connected and switched off again without a restart", async () => {
    await using home = await makeHome({
      one: { ...testServerEntry(), enabled: false },
      other: testServerEntry(),
    });
    await using running = await home.open();
    const { pid } = await running.connect("other");
    await using asking = await home.open({ watch: false });
    await asking.enable("one");
    const connected = entering(running, "connected");
    await asking.connectElsewhere("one");
    await connected;
    expect(running.server("one").state).toBe("connected");
    const changed = new EventEmitter();
    running.on("servers-changed", (event) => changed.emit("event", event));
    const switchedOff = once(changed, "event");
    await asking.disable("one");
    await switchedOff;
    expect(running.server("one").state).toBe("disabled");
    expect(running.server("other").pid).toBe(pid);
  });

  it("CLI-03 CLI-06: is connected for one agent, in the mode that was asked for", async () => {
    await using home = await makeHome({ one: testServerEntry() });
    await using running = await home.open();
    await using asking = await home.open({ watch: false });
    const modes = new EventEmitter();
    running.on("consent-mode-set", (event) => modes.emit("event", event));
    const set = once(modes, "event");
    await asking.connectElsewhere("one", { owner: "main", shared: false, mode: "allow-all" });
    const [event] = (await set) as unknown[];
    expect(event).toMatchObject({ agent: "main", serverName: "one", mode: "allow-all" });
    const session = running.session({ agent: "main", level: "trusted" });
    expect(await session.call("mcp__one__add", { a: 1, b: 2 })).toMatchObject({ text: "3" });
    const stranger = running.session({ agent: "stranger", level: "yolo" });
    expect(await stranger.call("mcp__one__add", { a: 1, b: 2 })).toMatchObject({ ok: false });
  });

  it("is left alone if the request is older than the host, not for its entry, or not understood", async () => {
    const entry = testServerEntry();
    await using home = await makeHome({ one: entry, two: entry, three: entry });
    await using asking = await home.open({ watch: false });
    await asking.connectElsewhere("one");
    await using running = await home.open();
    const store = await openStore({ location: home.store });
    const [request] = await store.connectRequests.list();
    if (request === undefined) throw new Error("no request was kept");
    const { consentId } = request;
    const put = (serverName: string, content: Readonly<Record<string, unknown>>, id = consentId) =>
      store.connectRequests.put({ consentId: id, serverName, content });
    await put("nobody", {});
    await put("one", {}, "another definition" as typeof consentId);
    await put("one", { mode: "allow-everything" });
    await put("three", { reconnect: true, more: "than known" });
    await store.close();
    // What is asked for last is followed last, and alone.
    const connected = entering(running, "connected");
    await asking.connectElsewhere("two");
    await connected;
    expect(running.servers().map(({ name, state }) => [name, state])).toEqual([
      ["one", "idle"],
      ["two", "connected"],
      ["three", "idle"],
    ]);
  });

  it("decision 5: is not started for a request while nobody has approved it, and nobody is asked", async () => {
    await using project = await makeProject();
    await project.write(testServerEntry());
    const asked: string[] = [];
    const human = {
      confirm: async ({ kind }: { readonly kind: string }) => {
        asked.push(kind);
        return "server-always" as const;
      },
    };
    await using running = await project.host({ watch: true, human });
    await using asking = await project.host();
    await asking.connectElsewhere("project");
    await asking.add("mine", testServerEntry());
    const connected = entering(running, "connected");
    await asking.connectElsewhere("mine");
    await connected;
    expect(running.server("mine").state).toBe("connected");
    expect(running.server("project")).toMatchObject({ state: "pending", pid: undefined });
    expect(asked).toEqual([]);
  });

  it("throws where nothing is kept, and for a server that does not exist", async () => {
    await using host = await createHost({ config: false, servers: { one: testServerEntry() } });
    await expect(host.connectElsewhere("one")).rejects.toMatchObject({ code: "store_failed" });
    await expect(host.connectElsewhere("on")).rejects.toMatchObject({ code: "server_unknown" });
  });
});
