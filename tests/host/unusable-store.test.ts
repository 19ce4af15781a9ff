import { execFile } from "node:child_process";
import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { promisify } from "node:util";

import { describe, expect, it } from "vitest";

import { createHost, type HostEventOf } from "../../src/index.ts";
import { ManualClock } from "../fixtures/protocol/manual-clock.ts";
import { recordingLogger } from "../fixtures/stdio/observe-server.ts";
import { anyTool, recordedHost } from "./recorded-host.ts";

/** A store whose folder cannot be: a file has its name. */
async function blockedStore() {
  const root = await mkdtemp(path.join(tmpdir(), "unusable-store-"));
  const folder = path.join(root, "folder");
  await writeFile(folder, "in the way");
  return {
    store: path.join(folder, "plugboard.db"),
    async free(): Promise<void> {
      await rm(folder, { recursive: true });
      await mkdir(folder, { mode: 0o700 });
    },
    [Symbol.asyncDispose]: () => rm(root, { recursive: true }),
  };
}

describe("a store that cannot be opened", () => {
  it("B18: is a problem of the configuration, a warning event and one line for the logger", async () => {
    await using place = await blockedStore();
    const { store } = place;
    const logger = recordingLogger();
    await using context = await recordedHost({ tools: [anyTool], host: { store, logger } });
    const { host } = context;
    const events: HostEventOf<"warning">[] = [];
    host.on("warning", (event) => void events.push(event));
    const message = `the store ${store} cannot be opened. Nothing is kept meanwhile, and no call is written down: check that its folder exists and that you may read and write in it`;
    expect(host.configProblems).toEqual([
      { severity: "warning", code: "store_failed", message, layer: "store" },
    ]);
    await expect.poll(() => events.map(({ text }) => text)).toEqual([message]);
    expect(logger.records.map(({ text }) => text)).toEqual([message]);
    // Nothing that fails because of it is told again.
    expect(await host.session({ level: "yolo" }).call("mcp__fake__any")).toMatchObject({
      ok: true,
    });
    await expect(host.audit.query()).rejects.toMatchObject({ code: "store_failed" });
    await host.reload();
    expect(host.configProblems).toHaveLength(1);
    expect(events).toHaveLength(1);
  });

  it("B18: is a line on stderr of a program that has no logger, and its lost entries are another", async () => {
    await using place = await blockedStore();
    const { store } = place;
    const program = path.join(import.meta.dirname, "../fixtures/programs/unlogged-program.mjs");
    const { stdout, stderr } = await promisify(execFile)(process.execPath, [program, store]);
    expect(stdout).toBe("called\n");
    expect(stderr.split("\n")).toEqual([
      expect.stringContaining(`the store ${store} cannot be opened. Nothing is kept meanwhile`),
      expect.stringContaining("audit entries were not saved (count: 1)"),
      "",
    ]);
  });

  it("B18: says at the end how many entries were lost", async () => {
    await using place = await blockedStore();
    const { store } = place;
    const logger = recordingLogger();
    const context = await recordedHost({ tools: [anyTool], host: { store, logger } });
    await context.host.session({ level: "yolo" }).call("mcp__fake__any");
    await context.host.close();
    expect(logger.records).toContainEqual({
      text: "audit entries were not saved",
      fields: { count: 1 },
    });
  });

  it("B18: is no problem any more when it can be opened", async () => {
    await using place = await blockedStore();
    const { store } = place;
    const clock = new ManualClock();
    await using context = await recordedHost({ tools: [anyTool], host: { store, clock } });
    const { host } = context;
    await expect(host.audit.query()).rejects.toMatchObject({ code: "store_failed" });
    await place.free();
    await clock.advance(1_000);
    await host.audit.query();
    expect(host.configProblems).toEqual([]);
  });
});

describe("a host whose audit trail is required", () => {
  it("B18: refuses calls with a stable code as long as they cannot be written down", async () => {
    await using place = await blockedStore();
    const { store } = place;
    const clock = new ManualClock();
    const options = { store, clock, audit: "required" } as const;
    await using context = await recordedHost({ tools: [anyTool], host: options });
    const { host, calls } = context;
    const session = host.session({ level: "yolo" });
    const refused = {
      ok: false,
      sideEffects: "none",
      error: {
        code: "store_failed",
        message: `refused, because it could not be written down: the store ${store} cannot be opened`,
        hint: "check that its folder exists and that you may read and write in it",
      },
    };
    expect(host.configProblems).toMatchObject([
      { message: expect.stringContaining("and calls are refused") as string },
    ]);
    expect(await session.call("mcp__fake__any")).toMatchObject(refused);
    session.defineTool({
      name: "own",
      description: "Does something",
      inputSchema: { type: "object" },
      handler: () => "done",
    });
    expect(await session.call("own")).toMatchObject(refused);
    await expect(session.content.readResource("fake", "file:///a")).rejects.toMatchObject({
      code: "store_failed",
    });
    expect(calls).toEqual([]);
    await place.free();
    await clock.advance(1_000);
    expect(await session.call("mcp__fake__any")).toMatchObject({ ok: true });
    expect((await host.audit.query({ type: "call" })).map(({ code }) => code)).toEqual([
      "ok",
      "store_failed",
      "store_failed",
    ]);
  });

  it("B18: refuses them also when the store is lost while it runs", async () => {
    await using place = await blockedStore();
    await place.free();
    const { store } = place;
    const clock = new ManualClock();
    const options = { store, clock, audit: "required" } as const;
    const context = await recordedHost({ tools: [anyTool], host: options });
    const session = context.host.session({ level: "yolo" });
    expect(await session.call("mcp__fake__any")).toMatchObject({ ok: true });
    await context.host.audit.query();
    await rm(store);
    // Nobody knows yet; the entry waits for what will not come.
    expect(await session.call("mcp__fake__any")).toMatchObject({ ok: true });
    await context.host.audit.query().catch(() => undefined);
    expect(await session.call("mcp__fake__any")).toMatchObject({
      ok: false,
      error: { code: "store_failed", details: { problem: "replaced" } },
    });
    await context.host.close();
  });

  it.each([{ config: false }, { config: false, store: false }, { store: false }] as const)(
    "B18: is refused without a store: %j",
    async (options) => {
      await expect(createHost({ ...options, audit: "required" })).rejects.toMatchObject({
        code: "config_invalid",
        message: '`audit: "required"` needs a store to write calls down in',
      });
    },
  );

  it("B18: `config: false` keeps a trail where a store is named", async () => {
    const options = { store: ":memory:", audit: "required" } as const;
    await using context = await recordedHost({ tools: [anyTool], host: options });
    const { host } = context;
    await host.session({ level: "yolo" }).call("mcp__fake__any");
    expect(await host.audit.query({ type: "call" })).toHaveLength(1);
  });
});
