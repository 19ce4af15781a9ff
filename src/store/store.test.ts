import { mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";

import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";

import { auditWriter } from "../../tests/fixtures/store/audit-writer.ts";
import {
  findPostgres,
  startPostgres,
  type TestPostgres,
} from "../../tests/fixtures/store/postgres-server.ts";
import { type Clock, systemClock } from "../ports/clock.ts";
import type { AuditRow } from "./audit-entry.ts";
import { maxEntriesPerPage } from "./audit-page.ts";
import { openStore, type OpenStoreOptions } from "./open-store.ts";
import type { StoreArea } from "./store-tables.ts";
import type { Store } from "./store.ts";

const source = findPostgres();
const isMissing = source.kind === "none";
const note = source.kind === "none" ? ` (skipped: ${source.reason})` : "";
const dayMs = 24 * 60 * 60 * 1_000;

let postgres: TestPostgres | undefined;

beforeAll(async () => {
  if (!isMissing) postgres = await startPostgres(source);
});

afterAll(async () => {
  await postgres?.[Symbol.asyncDispose]();
});

const places: readonly {
  readonly place: string;
  readonly isShared: boolean;
  readonly create: () => Promise<string>;
}[] = [
  { place: "in memory", isShared: false, create: async () => ":memory:" },
  {
    place: "in a file",
    isShared: true,
    create: async () => path.join(mkdtempSync(path.join(tmpdir(), "store-")), "plugboard.db"),
  },
  {
    place: "in Postgres",
    isShared: true,
    create: async () => (await postgres?.createDatabase()) ?? "",
  },
];

/** The system's clock, ahead or behind by what the test says. */
function shiftedClock(): Clock & { shiftMs: number } {
  return {
    ...systemClock,
    shiftMs: 0,
    now() {
      return Date.now() + this.shiftMs;
    },
  };
}

describe.each(places)("a store $place", ({ place, isShared, create }) => {
  const skip = place === "in Postgres" && isMissing;
  const test = it.skipIf(skip);
  const stores: Store[] = [];

  async function open(options: Partial<OpenStoreOptions> = {}): Promise<Store> {
    const store = await openStore({ location: await create(), ...options });
    stores.push(store);
    return store;
  }

  /** Two hosts on one database. */
  async function openTwice(): Promise<readonly [Store, Store]> {
    const location = await create();
    return [await open({ location }), await open({ location })];
  }

  afterEach(async () => {
    await Promise.all(stores.splice(0).map((store) => store.close()));
  });

  test(`STO-02 STO-05: a server's entry comes back as it was put in, ordered by name${note}`, async () => {
    const store = await open();
    const config = {
      name: "oauth-server",
      url: "https://service.example.com",
      transport: "http",
      auth: { type: "oauth", clientId: "your-client-id", scopes: ["b", "a"] },
    };
    await store.servers.put({ id: "z", name: "beta", config: { command: ["x", "é\n\u2028"] } });
    await store.servers.put({ id: "oauth-server", name: "alpha", config });
    const rows = await store.servers.list();
    expect(rows).toEqual([
      { id: "oauth-server", name: "alpha", config, status: "idle" },
      { id: "z", name: "beta", config: { command: ["x", "é\n\u2028"] }, status: "idle" },
    ]);
    expect(JSON.stringify(rows[0]?.config)).toBe(JSON.stringify(config));
  });

  test("STO-03 STO-04 STA-03: an edit keeps the status, removing removes the row", async () => {
    const store = await open();
    await store.servers.put({ id: "a", name: "a", config: { url: "http://one" } });
    await store.servers.setStatuses(new Map([["a", "connected"]]));
    await store.servers.put({ id: "a", name: "b", config: { url: "http://two" } });
    expect(await store.servers.list()).toEqual([
      { id: "a", name: "b", config: { url: "http://two" }, status: "connected" },
    ]);
    expect(await store.servers.remove("a")).toBe(true);
    expect(await store.servers.remove("a")).toBe(false);
    expect(await store.servers.list()).toEqual([]);
  });

  test("PRM-21: an approval is found by its identity, with the facts to compare", async () => {
    const clock = shiftedClock();
    const store = await open({ clock });
    const facts = { kind: "stdio", command: "/bin/a", "args.0": "--x" };
    await store.approvals.approve({
      identity: "i1",
      serverName: "git",
      facts,
      approvedBy: "cli",
    });
    clock.shiftMs = 1_000;
    await store.approvals.approve({
      identity: "i2",
      serverName: "git",
      facts: {},
      approvedBy: "page",
    });
    expect(await store.approvals.find("i1")).toMatchObject({ facts, approvedBy: "cli" });
    expect(await store.approvals.find("i3")).toBeUndefined();
    const newestFirst = await store.approvals.list("git");
    expect(newestFirst.map(({ identity }) => identity)).toEqual(["i2", "i1"]);
    expect(await store.approvals.list("other")).toEqual([]);
    expect(await store.approvals.revoke({ identity: "i1" })).toBe(1);
    expect(await store.approvals.find("i1")).toBeUndefined();
    expect(await store.approvals.revoke({ serverName: "git" })).toBe(1);
    expect(await store.approvals.list()).toEqual([]);
  });

  test("PRM-21: a grant belongs to an agent, a launch and one tool or the server", async () => {
    const store = await open();
    const own = { agent: "main", identity: "i", definitionHash: "h" };
    await store.grants.grant([{ ...own, tool: "read" }]);
    await store.grants.grant([own]);
    await store.grants.grant([{ ...own, agent: "other", tool: "read" }]);
    const found = await store.grants.list({ agent: "main", identity: "i" });
    expect(new Set(found.map(({ tool }) => tool))).toEqual(new Set(["read", undefined]));
    await store.grants.grant([{ ...own, tool: "read", definitionHash: "h2" }]);
    expect(await store.grants.list({ agent: "main", tool: "read" })).toMatchObject([
      { definitionHash: "h2" },
    ]);
    expect(await store.grants.revoke({ agent: "main" })).toBe(2);
    expect(await store.grants.list()).toMatchObject([{ agent: "other" }]);
  });

  test("STO-08: an expired grant is gone for good, also when the clock goes back a day", async () => {
    const clock = shiftedClock();
    const store = await open({ clock });
    const own = { agent: "main", identity: "i", definitionHash: "h" };
    await store.grants.grant([{ ...own, tool: "hour", expiresAt: clock.now() + 3_600_000 }]);
    await store.grants.grant([{ ...own, tool: "ever" }]);
    const tools = async (): Promise<unknown> =>
      (await store.grants.list()).map(({ tool }) => `${tool}`).toSorted();
    expect(await tools()).toEqual(["ever", "hour"]);
    // Before it expires: an hour must not become 25.
    clock.shiftMs = -dayMs;
    expect(await tools()).toEqual(["ever"]);
    clock.shiftMs = 0;
    expect(await tools()).toEqual(["ever", "hour"]);
    clock.shiftMs = dayMs;
    expect(await tools()).toEqual(["ever"]);
    clock.shiftMs = 0;
    expect(await tools()).toEqual(["ever"]);
  });

  test("PRM-21: the first definition is pinned; a change waits beside it until it is accepted", async () => {
    const store = await open();
    const first = { tool: "read", fingerprint: "f1", definition: { description: "reads" } };
    const changed = { tool: "read", fingerprint: "f2", definition: { description: "deletes" } };
    await store.pins.acceptNew("i", [first, { tool: "write", fingerprint: "w" }]);
    await store.pins.acceptNew("i", [changed]);
    await store.pins.quarantine("i", changed);
    expect(await store.pins.definitions("i", "read")).toEqual({
      accepted: first,
      quarantined: changed,
    });
    expect(await store.pins.definitions("i", "none")).toEqual({});
    const states = async (): Promise<unknown> =>
      (await store.pins.list("i")).map((pin) => `${pin.tool} ${pin.state} ${pin.fingerprint}`);
    const waiting = ["read accepted f1", "read quarantined f2", "write accepted w"];
    expect(await states()).toEqual(waiting);
    expect(await store.pins.accept("i", "read", "f-shown-earlier")).toBe(false);
    expect(await states()).toEqual(waiting);
    expect(await store.pins.accept("i", "read", "f2")).toBe(true);
    expect(await states()).toEqual(["read accepted f2", "write accepted w"]);
    await store.pins.quarantine("i", first);
    await store.pins.release("i", "read");
    expect(await states()).toEqual(["read accepted f2", "write accepted w"]);
    expect(await store.pins.remove("i")).toBe(2);
  });

  test("PRM-21: a server with 5,000 tools is pinned at once; huge definitions keep their fingerprint", async () => {
    const store = await open();
    const definitions = Array.from({ length: 5_000 }, (_, index) => ({
      tool: `t${index}`,
      fingerprint: `f${index}`,
      definition: { description: "x".repeat(index === 7 ? 70_000 : 2_500) },
    }));
    await store.pins.acceptNew("i", definitions);
    await store.pins.acceptNew("i", []);
    expect(await store.pins.list("i")).toHaveLength(5_000);
    const kept = async (tool: string): Promise<unknown> =>
      (await store.pins.definitions("i", tool)).accepted;
    expect(await kept("t0")).toHaveProperty("definition");
    expect(await kept("t7")).toEqual({ tool: "t7", fingerprint: "f7" });
    // 8 MiB in all hold about 3,300 of these.
    expect(await kept("t3000")).toHaveProperty("definition");
    expect(await kept("t4999")).not.toHaveProperty("definition");
  });

  test("the last catalog is remembered; one that is too large leaves nothing stale", async () => {
    const clock = shiftedClock();
    const store = await open({ clock });
    const content = { protocolVersion: "2025-06-18", tools: [{ name: "a" }], serverInfo: { n: 1 } };
    expect(await store.catalog.find("i")).toBeUndefined();
    expect(await store.catalog.save("i", content)).toBe(true);
    expect(await store.catalog.find("i")).toMatchObject({ content });
    clock.shiftMs = -dayMs;
    expect((await store.catalog.find("i"))?.savedAt).toBeLessThanOrEqual(clock.now());
    const huge = { tools: ["x".repeat(4 * 1024 * 1024)] };
    expect(await store.catalog.save("i", huge)).toBe(false);
    expect(await store.catalog.find("i")).toBeUndefined();
  });

  test("of many catalogs the oldest go", async () => {
    const clock = shiftedClock();
    const store = await open({ clock });
    for (let index = 0; index <= 500; index += 1) {
      clock.shiftMs = index;
      await store.catalog.save(`i${index}`, {});
    }
    expect(await store.catalog.find("i0")).toBeUndefined();
    expect(await store.catalog.find("i1")).toBeDefined();
    // A clock that was set back must not make the newest look like the oldest.
    clock.shiftMs = -dayMs;
    await store.catalog.save("late", {});
    expect(await store.catalog.find("late")).toBeDefined();
  });

  test("STO-09: sealed secrets are kept by id", async () => {
    const store = await open();
    await store.secrets.put("b", "v1|key|iv|text|tag");
    await store.secrets.put("a", "one");
    await store.secrets.put("a", "two");
    expect(await store.secrets.ids()).toEqual(["a", "b"]);
    expect(await store.secrets.get("a")).toBe("two");
    expect(await store.secrets.get("c")).toBeUndefined();
    expect(await store.secrets.remove("a")).toBe(true);
    expect(await store.secrets.remove("a")).toBe(false);
  });

  test("the audit trail is filtered, paged and exported in the order of recording", async () => {
    const store = await open();
    const audit = auditWriter(store.audit);
    const newestAt = Date.now();
    for (let index = 0; index < 2_500; index += 1)
      audit.append({
        type: index % 2 === 0 ? "call-end" : "consent-granted",
        at: newestAt - index,
        agent: "main",
        server: `s${index % 5}`,
        tool: "t",
        code: "ok",
        detail: { index },
      });
    audit.append({ type: "bare", at: Number.NaN });
    await audit.flush();
    const [newest, second] = await store.audit.query({ limit: 2 });
    expect(newest).toMatchObject({ type: "bare", at: 0, detail: {} });
    expect(newest).not.toHaveProperty("agent");
    expect(second).toMatchObject({ detail: { index: 2_499 }, server: "s4", agent: "main" });
    const next = await store.audit.query({ limit: 1, before: second?.seq });
    expect(next).toMatchObject([{ detail: { index: 2_498 } }]);
    const filtered = await store.audit.query({
      type: "call-end",
      server: "s3",
      since: newestAt - 1_000,
      until: newestAt,
      limit: 5_000,
    });
    expect(filtered).toHaveLength(100);
    const exported: AuditRow[] = [];
    for await (const row of store.audit.export({ agent: "main" })) exported.push(row);
    expect(exported.map(({ detail }) => detail?.["index"])).toEqual(
      Array.from({ length: 2_500 }, (_, index) => index),
    );
  });

  test("an entry that is no JSON, or too large, does not stop the others", async () => {
    const store = await open();
    const circle: Record<string, unknown> = {};
    circle["self"] = circle;
    const audit = auditWriter(store.audit);
    audit.append({ type: "circle", at: 1, detail: circle });
    audit.append({ type: "large", at: 2, detail: { text: "x".repeat(10_000) } });
    audit.append({ type: "zero\0byte", at: 3 });
    await audit.flush();
    const rows = await store.audit.query();
    expect(rows.map(({ detail }) => detail)).toEqual([
      {},
      { text: `${"x".repeat(255)}…`, omitted: { text: 9_745 } },
      { omitted: "not JSON" },
    ]);
  });

  test("the trail is bounded by age and number, but no clock empties it", async () => {
    const clock = shiftedClock();
    const page = maxEntriesPerPage;
    const store = await open({ clock, auditLimits: { maxRows: 3 * page, maxAgeMs: 30 * dayMs } });
    const count = async (): Promise<number> => {
      let rows = 0;
      for await (const _ of store.audit.export()) rows += 1;
      return rows;
    };
    const audit = auditWriter(store.audit);
    for (let index = 0; index < 4.5 * page; index += 1) audit.append({ type: "x", at: Date.now() });
    await audit.flush();
    await store.audit.prune();
    // Whole pages go, so that a little less may be left.
    const kept = await count();
    expect(kept).toBeGreaterThan(2 * page);
    expect(kept).toBeLessThanOrEqual(3 * page);
    clock.shiftMs = 3_650 * dayMs;
    await store.audit.prune();
    const newest = await count();
    expect(newest).toBeGreaterThanOrEqual(1_000);
    expect(newest).toBeLessThanOrEqual(2 * page);
  });

  test("STO-08: what is asked after the end fails as closed, and a second end is fine", async () => {
    const store = await open();
    await store.close();
    await store.close();
    await expect(store.servers.list()).rejects.toMatchObject({ code: "closed" });
    await expect(store.secrets.put("a", "b")).rejects.toMatchObject({ code: "closed" });
  });

  if (!isShared) return;

  test("STO-03: what was saved is there when the store is opened again", async () => {
    const location = await create();
    const first = await openStore({ location });
    await first.servers.put({ id: "a", name: "a", config: {} });
    const audit = auditWriter(first.audit);
    audit.append({ type: "x", at: 1 });
    await audit.flush();
    await first.close();
    const second = await open({ location });
    expect(await second.servers.list()).toHaveLength(1);
    expect(await second.audit.query()).toHaveLength(1);
  });

  test("STO-08: stores that are opened together on an empty place share it", async () => {
    const location = await create();
    const all = await Promise.all(Array.from({ length: 5 }, () => open({ location })));
    await Promise.all(all.map((store, index) => store.secrets.put(`s${index}`, "x")));
    expect(await all[0]?.secrets.ids()).toEqual(["s0", "s1", "s2", "s3", "s4"]);
  });

  test("STO-08: a change of another host is told, an own one is not", async () => {
    const [mine, other] = await openTwice();
    const heard: StoreArea[] = [];
    let hear = (): void => {};
    const until = async (count: number): Promise<void> => {
      while (heard.length < count)
        await new Promise<void>((resolve) => {
          hear = resolve;
        });
    };
    const end = mine.onchange((areas) => {
      heard.push(...areas);
      hear();
    });
    await mine.secrets.put("own", "x");
    await other.servers.put({ id: "a", name: "a", config: {} });
    await until(1);
    await other.grants.grant([{ agent: "a", identity: "i", definitionHash: "h" }]);
    await until(2);
    expect(heard).toEqual(["servers", "grants"]);
    expect(await mine.servers.list()).toHaveLength(1);
    end();
  });

  test("STO-08: of two hosts that see a tool first, one pins it", async () => {
    const [one, two] = await openTwice();
    await Promise.all([
      one.pins.acceptNew("i", [{ tool: "t", fingerprint: "one" }]),
      two.pins.acceptNew("i", [{ tool: "t", fingerprint: "two" }]),
    ]);
    expect(await one.pins.list("i")).toHaveLength(1);
    expect(await two.pins.list("i")).toEqual(await one.pins.list("i"));
  });
});
