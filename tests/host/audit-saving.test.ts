import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";

import { describe, expect, it } from "vitest";

import { createHost } from "../../src/index.ts";
import { maxEntriesPerPage } from "../../src/store/audit/audit-page.ts";
import { ManualClock } from "../fixtures/protocol/manual-clock.ts";
import { anyTool, recordedHost } from "./recorded-host.ts";

describe("what becomes of entries that wait to be saved", () => {
  it("B18: a look at an empty trail does not end it", async () => {
    await using context = await recordedHost({ tools: [anyTool], host: { store: ":memory:" } });
    const { host } = context;
    const session = host.session({ level: "yolo" });
    expect(await host.audit.query()).toEqual([]);
    await session.call("mcp__fake__any", {}, { callId: "c1" });
    expect(await host.audit.query({ type: "call" })).toMatchObject([{ detail: { callId: "c1" } }]);
    expect(await host.audit.query({ type: "call" })).toHaveLength(1);
    await session.call("mcp__fake__any", {}, { callId: "c2" });
    expect(await host.audit.query({ type: "call" })).toHaveLength(2);
  });

  it("B18: a full page of calls, a quiet moment, one more and the end: all of them are there", async () => {
    const root = await mkdtemp(path.join(tmpdir(), "audit-"));
    const store = path.join(root, "store", "s.db");
    const clock = new ManualClock();
    {
      await using context = await recordedHost({ tools: [anyTool], host: { store, clock } });
      const { host } = context;
      const session = host.session({ level: "yolo" });
      for (let index = 0; index < maxEntriesPerPage; index += 1)
        await session.call("mcp__fake__any", {});
      expect(await host.audit.query({ limit: 1 })).toHaveLength(1);
      await clock.advance(1_000);
      await session.call("mcp__fake__any", {}, { callId: "last" });
    }
    await using later = await createHost({ config: false, store, clock });
    let count = 0;
    for await (const _ of later.audit.export({ type: "call" })) count += 1;
    expect(count).toBe(maxEntriesPerPage + 1);
    const [newest] = await later.audit.query({ limit: 1 });
    expect(newest).toMatchObject({ detail: { callId: "last" } });
    await rm(root, { recursive: true });
  });

  it("B18: they are saved when a store that could not be opened can be", async () => {
    const root = await mkdtemp(path.join(tmpdir(), "audit-"));
    const folder = path.join(root, "later");
    await writeFile(folder, "in the way");
    const clock = new ManualClock();
    const store = path.join(folder, "s.db");
    {
      await using context = await recordedHost({ tools: [anyTool], host: { store, clock } });
      const { host } = context;
      const session = host.session({ level: "yolo" });
      expect(await session.call("mcp__fake__any", {})).toMatchObject({ ok: true });
      await expect(host.audit.query()).rejects.toMatchObject({ code: "store_failed" });
      await rm(folder);
      await mkdir(folder, { mode: 0o700 });
      await clock.advance(1_000);
      await session.call("mcp__fake__any", {});
      expect(await host.audit.query({ type: "call" })).toHaveLength(2);
    }
    await rm(root, { recursive: true });
  });
});
