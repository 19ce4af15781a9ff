import { mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";

import fc from "fast-check";
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";

import { auditWriter } from "../../tests/fixtures/store/audit-writer.ts";
import { catalogs, consentId, launchId } from "../../tests/fixtures/store/made-up-ids.ts";
import {
  findPostgres,
  startPostgres,
  type TestPostgres,
} from "../../tests/fixtures/store/postgres-server.ts";
import type { ConsentId } from "../config/keys/server-ids.ts";
import { type Clock, systemClock } from "../ports/clock.ts";
import type { AuditFilter, AuditQuery, AuditRow } from "./audit/audit-entry.ts";
import { AuditPageDraft } from "./audit/audit-page-draft.ts";
import { maxEntriesPerPage } from "./audit/audit-page.ts";
import { openStore, type OpenStoreOptions } from "./open-store.ts";
import type { Store } from "./store.ts";
import type { StoreArea } from "./tables/store-tables.ts";

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

/** What a filter means, without a database. */
function isWanted(row: AuditRow, filter: AuditFilter): boolean {
  const { since, until, ...members } = filter;
  if (since !== undefined && !(row.at >= since)) return false;
  if (until !== undefined && !(row.at <= until)) return false;
  return Object.entries(members).every(([name, value]) => row[name as keyof AuditRow] === value);
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

  test("STO-08: of two rows with one id that are added, the first stays", async () => {
    const store = await open();
    const row = { id: "a", name: "a", config: { url: "http://one" } };
    expect(await store.servers.add({ ...row, status: "disabled" })).toBe(true);
    expect(await store.servers.add({ ...row, config: { url: "http://two" } })).toBe(false);
    expect(await store.servers.list()).toEqual([{ ...row, status: "disabled" }]);
  });

  test("PRM-21: an approval is found by its launch id, with the facts to compare", async () => {
    const clock = shiftedClock();
    const store = await open({ clock });
    const facts = { kind: "stdio", command: "/bin/a", "args.0": "--x" };
    await store.approvals.approve({
      launchId: launchId("i1"),
      serverName: "git",
      facts,
      approvedBy: "cli",
    });
    clock.shiftMs = 1_000;
    await store.approvals.approve({
      launchId: launchId("i2"),
      serverName: "git",
      facts: {},
      approvedBy: "page",
    });
    expect(await store.approvals.find(launchId("i1"))).toMatchObject({ facts, approvedBy: "cli" });
    expect(await store.approvals.find(launchId("i3"))).toBeUndefined();
    const newestFirst = await store.approvals.list("git");
    expect(newestFirst.map((approval) => approval.launchId)).toEqual(["i2", "i1"]);
    expect(await store.approvals.list("other")).toEqual([]);
    expect(await store.approvals.revoke({ launchId: launchId("i1") })).toBe(1);
    expect(await store.approvals.find(launchId("i1"))).toBeUndefined();
    expect(await store.approvals.revoke({ serverName: "git" })).toBe(1);
    expect(await store.approvals.list()).toEqual([]);
  });

  test("PRM-21: a grant belongs to an agent, a launch and one tool or the server", async () => {
    const store = await open();
    const own = { agent: "main", consentId: consentId("i"), fingerprint: "h" };
    await store.grants.grant([{ ...own, tool: "read" }]);
    await store.grants.grant([own]);
    await store.grants.grant([{ ...own, agent: "other", tool: "read" }]);
    const found = await store.grants.list({ agent: "main", consentId: consentId("i") });
    expect(new Set(found.map(({ tool }) => tool))).toEqual(new Set(["read", undefined]));
    await store.grants.grant([{ ...own, tool: "read", fingerprint: "h2" }]);
    expect(await store.grants.list({ agent: "main", tool: "read" })).toMatchObject([
      { fingerprint: "h2" },
    ]);
    expect(await store.grants.revoke({ agent: "main" })).toBe(2);
    expect(await store.grants.list()).toMatchObject([{ agent: "other" }]);
  });

  test("PRM-21: no two agents become one, whatever characters their names have", async () => {
    const store = await open();
    const unit = fc.constantFrom("a", "\0", "\uD800", "\uDC00", "\uFFFD", "\uFDD0", "0");
    const name = fc.string({ unit, minLength: 1, maxLength: 6 });
    await fc.assert(
      fc.asyncProperty(fc.uniqueArray(name, { minLength: 1, maxLength: 5 }), async (agents) => {
        await store.grants.revoke({});
        await store.grants.grant(
          agents.map((agent) => ({
            agent,
            consentId: consentId("i"),
            tool: agent,
            fingerprint: "h",
          })),
        );
        const kept = await store.grants.list();
        expect(kept.map(({ agent }) => agent).toSorted()).toEqual(agents.toSorted());
        for (const agent of agents)
          expect(await store.grants.list({ agent })).toMatchObject([{ agent, tool: agent }]);
      }),
      { numRuns: 25 },
    );
  });

  test("PRM-21: a grant ends at a time, or never where it was given for ever", async () => {
    const clock = shiftedClock();
    const store = await open({ clock });
    const grant = (agent: string, expiresAt: number): Promise<void> =>
      store.grants.grant([
        { agent, consentId: consentId("i"), tool: "t", fingerprint: "h", expiresAt },
      ]);
    await expect(grant("a", Number.NaN)).rejects.toMatchObject({ code: "config_invalid" });
    await expect(grant("a", Date.parse("soon"))).rejects.toMatchObject({ code: "config_invalid" });
    await grant("b", Number.POSITIVE_INFINITY);
    await grant("c", 1e300);
    await grant("d", clock.now() + dayMs + 0.5);
    await grant("e", Number.NEGATIVE_INFINITY);
    const inForce = async (): Promise<readonly string[]> =>
      (await store.grants.list()).map(({ agent }) => agent).toSorted();
    expect(await inForce()).toEqual(["b", "c", "d"]);
    clock.shiftMs = dayMs + 1;
    expect(await inForce()).toEqual(["b", "c"]);
  });

  test("STO-08: an expired grant is gone for good, also when the clock goes back a day", async () => {
    const clock = shiftedClock();
    const store = await open({ clock });
    const own = { agent: "main", consentId: consentId("i"), fingerprint: "h" };
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
    await store.pins.acceptNew(
      new Map([[consentId("i"), [first, { tool: "write", fingerprint: "w" }]]]),
    );
    await store.pins.acceptNew(new Map([[consentId("i"), [changed]]]));
    await store.pins.quarantine(consentId("i"), changed);
    expect(await store.pins.definitions(consentId("i"), "read")).toEqual({
      accepted: first,
      quarantined: changed,
    });
    expect(await store.pins.definitions(consentId("i"), "none")).toEqual({});
    const states = async (): Promise<unknown> =>
      (await store.pins.list(consentId("i"))).map(
        (pin) => `${pin.tool} ${pin.state} ${pin.fingerprint}`,
      );
    const waiting = ["read accepted f1", "read quarantined f2", "write accepted w"];
    expect(await states()).toEqual(waiting);
    expect(await store.pins.accept(consentId("i"), "read", "f-shown-earlier")).toBe(false);
    expect(await states()).toEqual(waiting);
    expect(await store.pins.accept(consentId("i"), "read", "f2")).toBe(true);
    expect(await states()).toEqual(["read accepted f2", "write accepted w"]);
    await store.pins.quarantine(consentId("i"), first);
    await store.pins.replaceQuarantined(consentId("i"), []);
    expect(await states()).toEqual(["read accepted f2", "write accepted w"]);
    expect(await store.pins.acceptShown(consentId("i"), first)).toBe(true);
    expect(await states()).toEqual(["read accepted f1", "write accepted w"]);
    expect(await store.pins.remove(consentId("i"))).toBe(2);
  });

  test("PRM-21: says of which servers not all tools were new, among many that are pinned together", async () => {
    const store = await open();
    const pin = (tool: string, fingerprint = "f") => ({ tool, fingerprint });
    const [known, full, fresh] = ["known", "full", "fresh"].map(consentId) as [
      ConsentId,
      ConsentId,
      ConsentId,
    ];
    const many = Array.from({ length: 4_999 }, (_, index) => pin(`t${index}`));
    await store.pins.acceptNew(new Map([[full, many]]));
    expect(await store.pins.acceptNew(new Map([[known, [pin("a", "first")]]]))).toEqual(new Set());
    const more = Array.from({ length: 600 }, (_, index) => pin(`n${index}`));
    const leftAlone = await store.pins.acceptNew(
      new Map([
        [fresh, more],
        [full, [pin("last"), pin("beyond")]],
        [known, [pin("a", "second"), pin("b")]],
      ]),
    );
    expect([...leftAlone]).toEqual(expect.arrayContaining([full, known]));
    const fingerprints = await store.pins.list(known);
    expect(fingerprints.map(({ fingerprint }) => fingerprint)).toEqual(["first", "f"]);
    const names = (await store.pins.list(full)).map(({ tool }) => tool);
    expect([names.length, names.includes("last"), names.includes("beyond")]).toEqual([
      5_000,
      true,
      false,
    ]);
    expect(await store.pins.list(fresh)).toHaveLength(600);
  });

  test("PRM-21: what is accepted of several servers is told together, whatever the tools are called", async () => {
    const store = await open();
    const [odd, none, waiting] = ["odd", "none", "waiting"].map(consentId) as [
      ConsentId,
      ConsentId,
      ConsentId,
    ];
    const names = ["a\0b", 'quo"te', "\uD800", "\uFDD00022", "line\n", "é"];
    const definitions = names.map((tool, index) => ({ tool, fingerprint: `f${index}` }));
    await store.pins.acceptNew(new Map([[odd, definitions]]));
    await store.pins.acceptNew(new Map([[waiting, [{ tool: "t", fingerprint: "old" }]]]));
    await store.pins.quarantine(waiting, { tool: "t", fingerprint: "new" });
    const asked = [none, odd, waiting];
    const told = [
      new Map(),
      new Map(names.map((tool, index) => [tool, `f${index}`])),
      new Map([["t", "old"]]),
    ];
    const accepted = await store.pins.accepted(asked);
    expect(asked.map((id) => accepted.get(id))).toEqual(told);
    expect(await store.pins.accepted([])).toEqual(new Map());
    // More than one query gathers: nobody's pins may be missing then.
    const many = Array.from({ length: 4_998 }, (_, index) => ({
      tool: `m${index}`,
      fingerprint: "m",
    }));
    await store.pins.acceptNew(new Map([[consentId("many"), many]]));
    const all = await store.pins.accepted([...asked, consentId("many")]);
    expect(asked.map((id) => all.get(id))).toEqual(told);
    expect(all.get(consentId("many"))?.size).toBe(4_998);
  });

  test("PRM-21: a server with 5,000 tools is pinned at once; huge definitions keep their fingerprint", async () => {
    const store = await open();
    const definitions = Array.from({ length: 5_000 }, (_, index) => ({
      tool: `t${index}`,
      fingerprint: `f${index}`,
      definition: { description: "x".repeat(index === 7 ? 70_000 : 2_500) },
    }));
    await store.pins.acceptNew(new Map([[consentId("i"), definitions]]));
    await store.pins.acceptNew(new Map([[consentId("i"), []]]));
    expect(await store.pins.list(consentId("i"))).toHaveLength(5_000);
    const kept = async (tool: string): Promise<unknown> =>
      (await store.pins.definitions(consentId("i"), tool)).accepted;
    expect(await kept("t0")).toHaveProperty("definition");
    expect(await kept("t7")).toEqual({ tool: "t7", fingerprint: "f7" });
    // 8 MiB in all hold about 3,300 of these.
    expect(await kept("t3000")).toHaveProperty("definition");
    expect(await kept("t4999")).not.toHaveProperty("definition");
  });

  test("L7: a server that names new tools again and again gets a bounded number of rows and bytes", async () => {
    const store = await open();
    const id = consentId("i");
    const named = (round: number) =>
      Array.from({ length: 2_000 }, (_, index) => ({
        tool: `r${round}-${index}`,
        fingerprint: "f",
        definition: { description: "x".repeat(2_000) },
      }));
    for (let round = 0; round < 4; round += 1) {
      await store.pins.acceptNew(new Map([[id, named(round)]]));
      await store.pins.replaceQuarantined(id, named(round));
    }
    const rows = await store.pins.list(id);
    expect(rows.filter(({ state }) => state === "accepted")).toHaveLength(5_000);
    const waiting = rows.filter(({ state }) => state === "quarantined");
    expect(waiting).toHaveLength(500);
    // Of the last round alone: what waits no longer is gone.
    expect(waiting.every(({ tool }) => tool.startsWith("r3-"))).toBe(true);
    const kept = await Promise.all(
      rows.map(async ({ tool, state }) => {
        const definitions = await store.pins.definitions(id, tool);
        return JSON.stringify(definitions[state]?.definition ?? "").length;
      }),
    );
    const bytes = kept.reduce((sum, length) => sum + length, 0);
    expect(bytes).toBeLessThanOrEqual(9 * 1024 * 1024 + 2 * rows.length);
    await store.pins.acceptNew(new Map([[consentId("other"), [{ tool: "a", fingerprint: "f" }]]]));
    expect(await store.pins.list(consentId("other"))).toHaveLength(1);
  });

  test("the last catalog is remembered; one that is too large leaves nothing stale", async () => {
    const clock = shiftedClock();
    const store = await open({ clock });
    const content = { protocolVersion: "2025-06-18", tools: [{ name: "a" }], serverInfo: { n: 1 } };
    expect(await store.catalog.find(consentId("i"))).toBeUndefined();
    await store.catalog.save(catalogs({ i: content }));
    expect(await store.catalog.find(consentId("i"))).toMatchObject({ content });
    clock.shiftMs = -dayMs;
    expect((await store.catalog.find(consentId("i")))?.savedAt).toBeLessThanOrEqual(clock.now());
    const huge = { tools: ["x".repeat(4 * 1024 * 1024)] };
    await store.catalog.save(catalogs({ before: content, i: huge, behind: content }));
    expect(await store.catalog.find(consentId("i"))).toBeUndefined();
    for (const id of ["before", "behind"])
      expect(await store.catalog.find(consentId(id))).toMatchObject({ content });
  });

  test("STO-08: of changes that are asked for together the last one counts", async () => {
    const store = await open();
    for (let round = 0; round < 5; round += 1) {
      const id = consentId(`i${round}`);
      await Promise.all([
        store.catalog.save(catalogs({ [id]: { instructions: "x".repeat(1_000_000) } })),
        store.catalog.save(catalogs({ [id]: { instructions: "y" } })),
        store.catalog.save(catalogs({ [id]: { instructions: "z" } })),
      ]);
      expect(await store.catalog.find(id)).toMatchObject({ content: { instructions: "z" } });
    }
  });

  test("of many catalogs the oldest go", async () => {
    const clock = shiftedClock();
    const store = await open({ clock });
    const isKnown = async (id: string): Promise<boolean> =>
      (await store.catalog.find(consentId(id))) !== undefined;
    await store.catalog.save(catalogs({ first: {} }));
    clock.shiftMs = 1_000;
    await store.catalog.save(catalogs({ second: {} }));
    clock.shiftMs = 2_000;
    const names = Array.from({ length: 1_998 }, (_, index) => `i${index}`);
    await store.catalog.save(catalogs(Object.fromEntries(names.map((name) => [name, {}]))));
    expect(await isKnown("first")).toBe(true);
    await store.catalog.save(catalogs({ newest: {} }));
    expect(await isKnown("first")).toBe(false);
    for (const id of ["second", "i0", "i1997", "newest"]) expect(await isKnown(id)).toBe(true);
    // A clock that was set back must not make the newest look like the oldest.
    clock.shiftMs = -dayMs;
    await store.catalog.save(catalogs({ late: {} }));
    expect(await isKnown("late")).toBe(true);
  });

  test("envelopes of secrets are kept by id", async () => {
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

  test("whatever is asked, in whatever pages, is what a look at every entry finds", async () => {
    const store = await open();
    const word = fc.constantFrom("a", "b", "\0", "\u{1F600}", "\uD800");
    const optional = fc.option(word, { nil: undefined });
    // Few times, and no order among them: a clock that jumps.
    const at = fc.integer({ min: -3, max: 3 });
    const entry = fc.record({ at, type: word, agent: optional, server: optional, code: optional });
    const time = fc.option(
      fc.oneof(at, fc.double({ min: -4, max: 4, noNaN: true }), fc.constant(Infinity)),
      {
        nil: undefined,
      },
    );
    const filter = fc.record(
      { since: time, until: time, type: word, agent: word, server: word, tool: word, code: word },
      { requiredKeys: [] },
    );
    const all: AuditRow[] = [];
    const audit = auditWriter(store.audit);
    await fc.assert(
      fc.asyncProperty(
        fc.array(entry, { maxLength: 8 }),
        fc.array(filter, { minLength: 1, maxLength: 4 }),
        fc.integer({ min: 1, max: 5 }),
        async (entries, filters, limit) => {
          for (const one of entries) audit.append(one);
          await audit.flush();
          const known = all.at(-1)?.seq ?? -1;
          for await (const row of store.audit.export()) if (row.seq > known) all.push(row);
          expect(all.slice(all.length - entries.length)).toEqual(
            entries.map((one) => ({ ...one, seq: expect.any(Number) as number, detail: {} })),
          );
          for (const one of filters) {
            const expected = all.filter((row) => isWanted(row, one));
            const exported: AuditRow[] = [];
            for await (const row of store.audit.export(one)) exported.push(row);
            expect(exported).toEqual(expected);
            const newest = await store.audit.query({ ...one, limit });
            expect(newest).toEqual(expected.toReversed().slice(0, limit));
            const before = newest.at(-1)?.seq;
            if (before === undefined) continue;
            expect(await store.audit.query({ ...one, limit, before })).toEqual(
              expected.toReversed().slice(limit, 2 * limit),
            );
          }
        },
      ),
      { numRuns: 40 },
    );
  });

  test("the trail is asked for any number of rows and since any time, but not for no number", async () => {
    const store = await open();
    const audit = auditWriter(store.audit);
    for (let index = 0; index < 1_100; index += 1) audit.append({ type: "x", at: index });
    await audit.flush();
    const count = async (query: AuditQuery): Promise<number> =>
      (await store.audit.query(query)).length;
    expect(await count({ limit: Infinity })).toBe(1_000);
    expect(await count({ limit: 0 })).toBe(0);
    expect(await count({ limit: -1 })).toBe(0);
    expect(await count({ since: 1_090.5 })).toBe(9);
    expect(await count({ since: -Infinity, until: 4.5 })).toBe(5);
    expect(await count({ until: 1e300, before: 1e300, limit: 2 })).toBe(2);
    for (const name of ["since", "until", "limit", "before"])
      await expect(count({ [name]: Number.NaN })).rejects.toMatchObject({ code: "config_invalid" });
  });

  test("STO-08: reading a long trail leaves the event loop to others", async () => {
    const store = await open();
    const draft = new AuditPageDraft();
    const head = { agent: "a", server: "s", tool: "t", consent: "grant" };
    const at = Date.now();
    for (let index = 0; index < 60_000; index += 1) {
      draft.addCall({ at, head, callId: "c", durationMs: 1, hasEffects: true, argumentsText: "" });
      if (draft.isFull) await store.audit.save(draft.take());
    }
    let turns = 0;
    let isOver = false;
    const turn = (): void => {
      turns += 1;
      if (!isOver) setImmediate(turn);
    };
    turn();
    expect(await store.audit.query({ code: "none" })).toEqual([]);
    const turnsOfQuery = turns;
    let exported = 0;
    for await (const _ of store.audit.export()) exported += 1;
    isOver = true;
    expect(exported).toBe(60_000);
    // At a few microseconds for an entry.
    expect(turnsOfQuery).toBeGreaterThan(3);
    expect(turns - turnsOfQuery).toBeGreaterThan(3);
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

  test("STO-08: what was asked before the end is done before it", async () => {
    const location = await create();
    const store = await open({ location });
    const ids = Array.from({ length: 20 }, (_, index) => `s${index}`);
    const writes = ids.map((id) => store.secrets.put(id, "x"));
    const reading = store.secrets.ids();
    await store.close();
    await Promise.all(writes);
    expect(await reading).toBeDefined();
    if (!isShared) return;
    const later = await open({ location });
    expect(await later.secrets.ids()).toHaveLength(20);
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
    await other.grants.grant([{ agent: "a", consentId: consentId("i"), fingerprint: "h" }]);
    await until(2);
    expect(heard).toEqual(["servers", "grants"]);
    expect(await mine.servers.list()).toHaveLength(1);
    end();
  });

  test("STO-08: of two hosts that see a tool first, one pins it", async () => {
    const [one, two] = await openTwice();
    await Promise.all([
      one.pins.acceptNew(new Map([[consentId("i"), [{ tool: "t", fingerprint: "one" }]]])),
      two.pins.acceptNew(new Map([[consentId("i"), [{ tool: "t", fingerprint: "two" }]]])),
    ]);
    expect(await one.pins.list(consentId("i"))).toHaveLength(1);
    expect(await two.pins.list(consentId("i"))).toEqual(await one.pins.list(consentId("i")));
  });
});
