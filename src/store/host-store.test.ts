import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";

import { describe, expect, it } from "vitest";

import { ManualClock, settled } from "../../tests/fixtures/protocol/manual-clock.ts";
import { consentId } from "../../tests/fixtures/store/made-up-ids.ts";
import { deferred } from "../../tests/host/deferred.ts";
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

  it("REG-17: what another process wrote before this one opened the store is a change", async () => {
    const root = await mkdtemp(path.join(tmpdir(), "host-store-"));
    const location = path.join(root, "s.db");
    const clock = new ManualClock();
    const store = new HostStore({ location, clock, logger: silentLogger });
    expect(await store.read(({ servers }) => servers.list(), [])).toEqual([]);
    let changes = 0;
    await store.watch(() => {
      changes += 1;
    });
    const other = new HostStore({ location, clock, logger: silentLogger });
    await other.write(({ servers }) => servers.put({ id: "second", name: "second", config: {} }));
    expect(changes).toBe(0);
    await store.open();
    expect(changes).toBe(1);
    await Promise.all([store.close(), other.close()]);
    await rm(root, { recursive: true });
  });

  it("decision 13: what has begun is finished by closing, what comes later is refused", async () => {
    const root = await mkdtemp(path.join(tmpdir(), "host-store-"));
    const location = path.join(root, "s.db");
    const clock = new ManualClock();
    const store = new HostStore({ location, clock, logger: silentLogger });
    const grant = { consentId: consentId("i"), tool: "t", fingerprint: "h" };
    const held = deferred();
    const begun = deferred();
    const writing = store.write(async ({ grants }) => {
      await grants.grant([{ agent: "first", ...grant }]);
      begun.resolve();
      await held.promise;
      await grants.grant([{ agent: "second", ...grant }]);
    });
    await begun.promise;
    const closing = store.close();
    await settled();
    await expect(store.open()).rejects.toMatchObject({ code: "closed" });
    await expect(store.write(() => Promise.resolve())).rejects.toMatchObject({ code: "closed" });
    await expect(store.read(() => Promise.resolve(1), 0)).rejects.toMatchObject({ code: "closed" });
    held.resolve();
    await Promise.all([writing, closing]);
    store.writeLater("what nobody waits for", () => () => Promise.reject(new Error("too late")));
    expect(clock.pending).toBe(0);
    const next = new HostStore({ location, clock, logger: silentLogger });
    const agents = await next.read(async ({ grants }) => await grants.list(), []);
    expect(agents.map(({ agent }) => agent)).toEqual(["first", "second"]);
    await next.close();
    await rm(root, { recursive: true });
  });

  it("B18: a delayed write takes what has been collected, also when the store does not open", async () => {
    const root = await mkdtemp(path.join(tmpdir(), "host-store-"));
    const folder = path.join(root, "later");
    await writeFile(folder, "in the way");
    const clock = new ManualClock();
    const location = path.join(folder, "s.db");
    const store = new HostStore({ location, clock, logger: silentLogger });
    const told: string[] = [];
    const writeLater = (name: string): void =>
      store.writeLater(name, () => {
        told.push(`${name} begins`);
        return () => Promise.resolve(told.push(`${name} is written`));
      });
    writeLater("first");
    await clock.advance(1_000);
    await store.open().catch(() => undefined);
    expect(told).toEqual(["first begins"]);
    await rm(folder);
    await mkdir(folder, { mode: 0o700 });
    writeLater("second");
    await clock.advance(1_000);
    await store.close();
    expect(told).toEqual(["first begins", "second begins", "second is written"]);
    await rm(root, { recursive: true });
  });

  it("decision 13: closing keeps also what is found out while it keeps", async () => {
    const clock = new ManualClock();
    const store = new HostStore({ location: ":memory:", clock, logger: silentLogger });
    const kept: string[] = [];
    store.writeLater("the first", () => () => {
      store.writeLater("the second", () => () => Promise.resolve(kept.push("second")));
      return Promise.resolve(kept.push("first"));
    });
    await store.close();
    expect(kept).toEqual(["first", "second"]);
  });
});
