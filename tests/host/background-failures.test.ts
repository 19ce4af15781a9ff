import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";

import { describe, expect, it } from "vitest";

import { createHost, type HostEvent, type McpHost } from "../../src/index.ts";
import { testServerEntry } from "../../src/testing/index.ts";
import { ManualClock } from "../fixtures/protocol/manual-clock.ts";
import { legacyScripts, ScriptedPeer } from "../fixtures/protocol/scripted-peer.ts";
import { DatabaseSync } from "../fixtures/store/database-sync.ts";
import { makeProject } from "./project.ts";

/** The first event for which `isMeant` holds. */
function next(host: McpHost, isMeant: (event: HostEvent) => boolean): Promise<HostEvent> {
  return new Promise((resolve) => {
    const off = host.on("*", (event) => {
      if (!isMeant(event)) return;
      off();
      resolve(event);
    });
  });
}

const isWarning = ({ type }: HostEvent): boolean => type === "warning";

/** A host whose store has all its tables, and refuses whatever is written to one of them from now on. */
async function hostWithout(table: string, clock?: ManualClock) {
  const root = await mkdtemp(path.join(tmpdir(), "background-"));
  const file = path.join(root, "s.db");
  const servers = { fake: testServerEntry() };
  const open = () =>
    createHost({ home: root, cwd: root, store: file, watch: false, servers, clock });
  {
    await using first = await open();
    await first.approve("fake");
  }
  const vandal = new DatabaseSync(file);
  vandal.exec(
    `CREATE TRIGGER refuse BEFORE INSERT ON ${table} BEGIN SELECT RAISE(ABORT, 'no'); END`,
  );
  const host = await open();
  return {
    host,
    async [Symbol.asyncDispose]() {
      await host.close();
      vandal.close();
      await rm(root, { recursive: true });
    },
  };
}

describe("a failure in the background", () => {
  it("ERR-18: of a server that is started eagerly is its state, with the reason", async () => {
    await using project = await makeProject();
    await using host = await project.host();
    const failed = next(host, (event) => event.type === "server-state" && event.state === "error");
    await host.add("late", { command: "plugboard-no-such-command", start: "eager" });
    expect(await failed).toMatchObject({
      serverName: "late",
      previous: "connecting",
      error: { code: "command_not_found", message: expect.stringContaining("no-such-command") },
    });
  });

  it("ERR-18 DSC-19: of a list that a server announced is a warning, and what was known stays", async () => {
    const peer = new ScriptedPeer({
      ...legacyScripts,
      "tools/list": () => ({ tools: [{ name: "look", inputSchema: { type: "object" } }] }),
    });
    await using host = await createHost({ config: false, servers: { fake: peer.transport } });
    await host.connect("fake");
    const warned = next(host, isWarning);
    peer.scripts["tools/list"] = (message) => peer.fail(message.id, -32_000, "out of order");
    peer.notify("notifications/tools/list_changed");
    expect(await warned).toMatchObject({
      serverName: "fake",
      text: expect.stringMatching(/could not be listed: .*out of order/),
    });
    expect(host.server("fake")).toMatchObject({ state: "connected", toolCount: 1 });
  });

  it("ERR-18 DSC-19: of the first list is a warning where the server knows no such list", async () => {
    const peer = new ScriptedPeer({
      ...legacyScripts,
      "tools/list": (message) => peer.fail(message.id, -32_601, "no such method"),
    });
    await using host = await createHost({ config: false, servers: { fake: peer.transport } });
    const warned = next(host, isWarning);
    await host.connect("fake");
    expect(await warned).toMatchObject({ serverName: "fake" });
    expect(host.server("fake").state).toBe("connected");
  });

  it("ERR-18 DSC-19: of any other first list fails the connection", async () => {
    const peer = new ScriptedPeer({
      ...legacyScripts,
      "tools/list": (message) => peer.fail(message.id, -32_000, "out of order"),
    });
    await using host = await createHost({ config: false, servers: { fake: peer.transport } });
    await expect(host.connect("fake")).rejects.toMatchObject({
      code: "protocol_violation",
      message: expect.stringMatching(/could not be listed: .*out of order/),
    });
    expect(host.server("fake")).toMatchObject({ state: "error", tools: [] });
  });

  it("ERR-18: of what a host keeps of a server is a warning, and no call fails of it", async () => {
    const clock = new ManualClock();
    await using place = await hostWithout("pins", clock);
    const { host } = place;
    const warned = next(host, isWarning);
    const outcome = await host.session({ level: "yolo" }).call("mcp__fake__add", { a: 1, b: 2 });
    expect(outcome).toMatchObject({ ok: true, text: "3" });
    await clock.advance(2_000);
    expect(await warned).toMatchObject({
      text: expect.stringMatching(/^the pins could not be stored: the store \S+ failed/),
    });
  });

  it("ERR-18: of the audit trail is a warning, and no call fails of it", async () => {
    const clock = new ManualClock();
    await using place = await hostWithout("audit", clock);
    const { host } = place;
    const warned = next(host, isWarning);
    const outcome = await host.session({ level: "yolo" }).call("mcp__fake__add", { a: 1, b: 2 });
    expect(outcome).toMatchObject({ ok: true, text: "3" });
    await clock.advance(2_000);
    expect(await warned).toMatchObject({
      text: expect.stringContaining("audit entries could not be saved yet"),
    });
  });
});
