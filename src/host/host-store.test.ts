import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";

import { describe, expect, it } from "vitest";

import { ManualClock } from "../../tests/fixtures/protocol/manual-clock.ts";
import { silentLogger } from "../ports/logger.ts";
import { HostStore } from "./host-store.ts";

describe("HostStore", () => {
  it("B18: what could not be opened is tried again, and not more than once a second", async () => {
    const root = await mkdtemp(path.join(tmpdir(), "host-store-"));
    const folder = path.join(root, "later");
    await writeFile(folder, "in the way");
    const clock = new ManualClock();
    const location = path.join(folder, "s.db");
    const store = new HostStore({ location, clock, logger: silentLogger });
    let changes = 0;
    await store.watch(() => {
      changes += 1;
    });
    const first: unknown = await store.open().catch((error: unknown) => error);
    expect(first).toMatchObject({ code: "store_failed" });
    await clock.advance(999);
    expect(await store.open().catch((error: unknown) => error)).toBe(first);
    await clock.advance(1);
    const second: unknown = await store.open().catch((error: unknown) => error);
    expect(second).toMatchObject({ code: "store_failed" });
    expect(second).not.toBe(first);
    await rm(folder);
    await mkdir(folder, { mode: 0o700 });
    expect(await store.open().catch((error: unknown) => error)).toBe(second);
    expect(changes).toBe(0);
    await clock.advance(1_000);
    const [opened, same] = await Promise.all([store.open(), store.open()]);
    expect(opened).toBeDefined();
    expect(same).toBe(opened);
    expect(changes).toBe(1);
    await clock.advance(10_000);
    expect(await store.open()).toBe(opened);
    await store.close();
    await rm(root, { recursive: true });
  });
});
