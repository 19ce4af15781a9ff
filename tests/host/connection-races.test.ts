import { mkdir, mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";

import { describe, expect, it } from "vitest";

import { createHost, type McpHost } from "../../src/index.ts";
import {
  createMemoryServer,
  createRecordedServer,
  createTestServer,
} from "../../src/testing/index.ts";
import { isAlive } from "../fixtures/is-alive.ts";
import { settled } from "../fixtures/protocol/manual-clock.ts";
import { entering } from "./entering.ts";

const program = path.resolve("tests/fixtures/servers/lingering-server.mjs");

interface Scene extends AsyncDisposable {
  readonly host: McpHost;
  /** An entry of the server, with another definition for another label. */
  readonly entry: (label?: string) => {
    readonly command: string;
    readonly args: readonly string[];
  };
  /** What its processes wrote down, each with whether that process is still there. */
  notes(): Promise<{ readonly what: string; readonly isAlive: boolean }[]>;
}

/** A host with the server `slow`, that is open and takes most of the grace to stop. */
async function slowToStop(stopGraceMs = 800): Promise<Scene> {
  const root = await mkdtemp(path.join(tmpdir(), "races-"));
  const [home, cwd] = [path.join(root, "home"), path.join(root, "work")];
  await mkdir(path.join(home, ".plugboard"), { recursive: true, mode: 0o700 });
  await mkdir(cwd);
  const file = path.join(root, "notes");
  const limits = { stopTermAfterMs: 100, stopGraceMs };
  const host = await createHost({ home, cwd, watch: false, limits });
  const entry = (label = "first") => ({ command: process.execPath, args: [program, file, label] });
  await host.add("slow", entry());
  await host.connect("slow");
  return {
    host,
    entry,
    async notes() {
      return (await readNotes(file)).map(({ what, pid }) => ({ what, isAlive: isAlive(pid) }));
    },
    async [Symbol.asyncDispose]() {
      await host.close();
      // Nothing else ends what a failing test leaves behind.
      for (const { pid } of await readNotes(file)) if (isAlive(pid)) process.kill(pid, "SIGKILL");
      await rm(root, { recursive: true });
    },
  };
}

/** A call that waits until the server has stopped, to start it again. */
async function callDuringStop({ host }: Scene) {
  const session = host.session({ level: "yolo" });
  const disconnected = host.disconnect("slow");
  const begun = entering(host, "connecting");
  const call = session.call("mcp__slow__stay");
  await begun;
  return { call, disconnected };
}

async function readNotes(file: string) {
  const lines = (await readFile(file, "utf8")).trim().split("\n");
  return lines.map((line) => {
    const [what = "", pid] = line.split(" ");
    return { what, pid: Number(pid) };
  });
}

describe("a server that is slow to stop", () => {
  it.each([
    ["closing the host", "closed", ({ host }: Scene) => host.close()],
    ["removing the server", "tool_unknown", ({ host }: Scene) => host.remove("slow")],
    ["disconnecting it again", "closed", ({ host }: Scene) => host.disconnect("slow")],
  ] as const)(
    "CON-04 CON-14: %s ends the call that waits to start it again (%s), and no process is left",
    async (_name, code, end) => {
      await using scene = await slowToStop();
      const { call, disconnected } = await callDuringStop(scene);
      await end(scene);
      expect(await scene.notes()).toEqual([{ what: "started", isAlive: false }]);
      expect(await call).toMatchObject({ ok: false, error: { code } });
      await disconnected;
      await settled();
      expect(await scene.notes()).toHaveLength(1);
    },
  );

  it("CON-14: editing the server sends the call that waits to start it again to the new one", async () => {
    // The change comes before the end of the stop, also on a busy machine.
    await using scene = await slowToStop(5_000);
    const { call, disconnected } = await callDuringStop(scene);
    await scene.host.update("slow", scene.entry("second"));
    expect(await call).toMatchObject({ ok: true });
    await disconnected;
    const starts = (await scene.notes()).filter(({ what }) => what === "started");
    expect(starts.map((start) => start.isAlive)).toEqual([false, true]);
  });

  it.each([
    ["removed", ({ host }: Scene) => host.remove("slow")],
    ["replaced", ({ host, entry }: Scene) => host.update("slow", entry("second"))],
  ])(
    "CON-04: one that is being %s is gone when the host has closed meanwhile",
    async (_name, begin) => {
      await using scene = await slowToStop();
      const { host } = scene;
      const before = host.servers()[0]?.target;
      const ending = begin(scene).catch(() => undefined);
      // Until the name no longer stands for it.
      while (host.servers()[0]?.target === before) await settled();
      await host.close();
      expect((await scene.notes()).filter((note) => note.isAlive)).toEqual([]);
      await ending;
    },
  );

  it("CON-04: one that hung up and stays is gone when the host has closed", async () => {
    await using scene = await slowToStop();
    const { host } = scene;
    const session = host.session({ level: "yolo" });
    const lost = entering(host, "reconnecting");
    const call = session.call("mcp__slow__hang-up");
    await lost;
    await host.close();
    expect(await scene.notes()).toEqual([
      { what: "started", isAlive: false },
      { what: "hang-up", isAlive: false },
    ]);
    expect(await call).toMatchObject({ ok: false });
  });

  it("CON-04: who closes the host on hearing of a start prevents it", async () => {
    await using scene = await slowToStop();
    const { host } = scene;
    const session = host.session({ level: "yolo" });
    await host.disconnect("slow");
    const closed = new Promise<void>((resolve) => {
      host.on("server-state", ({ state }) => {
        if (state === "connecting") resolve(host.close());
      });
    });
    const call = session.call("mcp__slow__stay");
    await closed;
    expect(await call).toMatchObject({ ok: false, error: { code: "closed" } });
    expect(await scene.notes()).toEqual([{ what: "started", isAlive: false }]);
  });
});

describe("a caller who gives up", () => {
  const anything = { name: "any", description: "Takes anything", inputSchema: { type: "object" } };
  const cannotStart = { command: "/nonexistent/program" };

  /** What `work` and all that it set going left unhandled. */
  async function unhandledIn(work: () => Promise<void>): Promise<unknown[]> {
    const escaped: unknown[] = [];
    const onEscape = (reason: unknown): void => void escaped.push(reason);
    process.on("unhandledRejection", onEscape);
    await work();
    await settled();
    process.off("unhandledRejection", onEscape);
    return escaped;
  }

  it("PRO-22: cancels a call before its person is asked, and nothing escapes", async () => {
    const factory = createRecordedServer({ tools: [anything] });
    const escaped = await unhandledIn(async () => {
      await using host = await createHost({
        config: false,
        servers: { fake: () => createMemoryServer(factory).transport },
      });
      await host.connect("fake");
      const session = host.session({
        level: "trusted",
        human: { confirm: () => Promise.resolve("once") },
      });
      const abort = new AbortController();
      const call = session.call("mcp__fake__any", {}, { signal: abort.signal });
      abort.abort();
      expect(await call).toMatchObject({ ok: false, error: { code: "cancelled" } });
    });
    expect(escaped).toEqual([]);
  });

  it.each(["before", "during"])(
    "PRO-22: cancels a call %s a start that fails, and nothing escapes",
    async (when) => {
      const escaped = await unhandledIn(async () => {
        await using host = await createHost({ config: false, servers: { bad: cannotStart } });
        host.registerTools("bad", [anything]);
        const session = host.session({ level: "yolo" });
        const abort = new AbortController();
        const begun = entering(host, "connecting");
        const failed = entering(host, "error");
        const call = session.call("mcp__bad__any", {}, { signal: abort.signal });
        if (when === "during") await begun;
        abort.abort();
        expect(await call).toMatchObject({ ok: false, error: { code: "cancelled" } });
        // Who has given up by then is no reason to start it.
        if (when === "before") expect(host.server("bad").state).toBe("idle");
        else await failed;
      });
      expect(escaped).toEqual([]);
    },
  );

  it("PRO-22 CON-02: who is not ready to wait starts nothing, and nothing escapes", async () => {
    const escaped = await unhandledIn(async () => {
      await using host = await createHost({
        config: false,
        servers: { bad: cannotStart, good: () => createMemoryServer(createTestServer()).transport },
      });
      const session = host.session({ level: "yolo" });
      const ready = session.ready({ signal: AbortSignal.abort() });
      await expect(ready).rejects.toMatchObject({ code: "cancelled" });
      await settled();
      expect(host.servers().map(({ state }) => state)).toEqual(["idle", "idle"]);
    });
    expect(escaped).toEqual([]);
  });
});
