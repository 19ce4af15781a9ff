import { mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";

import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";

import { auditWriter } from "../../../tests/fixtures/store/audit-writer.ts";
import { BinaryPageDraft } from "../../../tests/fixtures/store/binary-page-draft.ts";
import { killConversions } from "../../../tests/fixtures/store/kill-conversions.ts";
import {
  findPostgres,
  startPostgres,
  type TestPostgres,
} from "../../../tests/fixtures/store/postgres-server.ts";
import {
  binaryPages,
  countBinaryPages,
  createVersion2Store,
  insertBinaryPage,
  openDatabase,
  readTrail,
} from "../../../tests/fixtures/store/version-2-store.ts";
import { openStore } from "../open-store.ts";
import type { Store } from "../store.ts";
import type { StoreDatabase } from "../tables/store-database.ts";
import type { AuditRow } from "./audit-entry.ts";
import { maxEntriesPerPage } from "./audit-page.ts";

const source = findPostgres();
const note = source.kind === "none" ? ` (skipped: ${source.reason})` : "";
let postgres: TestPostgres | undefined;

beforeAll(async () => {
  if (source.kind !== "none") postgres = await startPostgres(source);
});

afterAll(async () => {
  await postgres?.[Symbol.asyncDispose]();
});

const places = [
  {
    place: "in a file",
    isMissing: false,
    kills: 5,
    create: async () => path.join(mkdtempSync(path.join(tmpdir(), "store-")), "plugboard.db"),
  },
  {
    place: "in Postgres",
    isMissing: source.kind === "none",
    kills: 2,
    create: async () => (await postgres?.createDatabase()) ?? "",
  },
];

describe.each(places)(
  "the trail of a store of version 2 $place",
  ({ isMissing, kills, create }) => {
    const test = it.skipIf(isMissing);
    const opened: { close(): Promise<void> }[] = [];

    async function open(location: string): Promise<Store> {
      const store = await openStore({ location });
      opened.push(store);
      return store;
    }

    async function openRaw(location: string): Promise<StoreDatabase> {
      const database = await openDatabase(location);
      opened.push(database);
      return database;
    }

    async function createOld(pages = binaryPages(5, 100)): Promise<string> {
      const location = await create();
      await createVersion2Store(location, pages);
      return location;
    }

    async function exportAll(store: Store): Promise<readonly AuditRow[]> {
      const rows: AuditRow[] = [];
      for await (const row of store.audit.export()) rows.push(row);
      return rows;
    }

    afterEach(async () => {
      await Promise.all(opened.splice(0).map((one) => one.close()));
    });

    test(`STO-08: is converted when the store is opened, and each row keeps its number${note}`, async () => {
      const location = await createOld();
      const store = await open(location);
      // Before, while and after: the same rows.
      const before = await exportAll(store);
      expect(before).toHaveLength(500);
      expect(before.map(({ seq }) => seq)).toEqual(
        Array.from(
          { length: 500 },
          (_, n) => (1 + Math.floor(n / 100)) * maxEntriesPerPage + (n % 100),
        ),
      );
      expect(before[1]).toMatchObject({
        agent: "main",
        tool: "write",
        detail: { callId: "host-1" },
      });
      const newest = await store.audit.query({ limit: 150 });
      await store.audit.convert();
      expect(await countBinaryPages(location)).toBe(0);
      expect(await exportAll(store)).toEqual(before);
      expect(await store.audit.query({ limit: 350, before: newest.at(-1)?.seq })).toEqual(
        before.slice(0, 350).toReversed(),
      );
      const audit = auditWriter(store.audit);
      audit.append({ type: "x", at: 1 });
      await audit.flush();
      const [last] = await store.audit.query({ limit: 1 });
      expect(last?.seq).toBe(6 * maxEntriesPerPage);
    });

    test("STO-08: is converted by several hosts at once, and nothing is there twice", async () => {
      const location = await createOld(binaryPages(40, 500));
      const stores = await Promise.all([open(location), open(location), open(location)]);
      await Promise.all(stores.map((store) => store.audit.convert()));
      expect(await countBinaryPages(location)).toBe(0);
      const rows = await readTrail(location);
      expect(rows).toHaveLength(20_000);
      expect(new Set(rows.map(({ detail }) => detail?.["callId"])).size).toBe(20_000);
    });

    test("STO-08: of a damaged page the bytes are kept, beside what can be read of it", async () => {
      const [first, second, third] = binaryPages(3, 100);
      if (first === undefined || second === undefined || third === undefined) throw new Error();
      const content = second.content.slice(0, 1_000);
      const location = await createOld([first, { ...second, content }, third]);
      const store = await open(location);
      const before = await exportAll(store);
      expect(before.length).toBeGreaterThan(200);
      expect(before.length).toBeLessThan(300);
      await store.audit.convert();
      expect(await exportAll(store)).toEqual(before);
      const { queries, read } = bound(await openRaw(location));
      const rows = await read(
        (await queries()).selectFrom("audit").select("content").orderBy("seq"),
      );
      expect(rows.map((row) => row.content.length)).toEqual([0, content.length, 0]);
      expect(Buffer.from(rows[1]?.content ?? []).equals(Buffer.from(content))).toBe(true);
    });

    test("STO-08: a program that still has the store open as version 2 loses nothing", async () => {
      const location = await createOld();
      const older = await openRaw(location);
      const store = await open(location);
      await store.audit.convert();
      // It writes as before, and is seen.
      const draft = new BinaryPageDraft();
      draft.add({ type: "of the older program", at: 1 });
      await insertBinaryPage(older, draft.take());
      const audit = auditWriter(store.audit);
      audit.append({ type: "of the newer program", at: 2 });
      await audit.flush();
      const rows = await exportAll(store);
      expect(rows.slice(-2).map(({ type }) => type)).toEqual([
        "of the older program",
        "of the newer program",
      ]);
      expect(rows).toHaveLength(502);
      // To it, a page of JSON is a page without entries.
      const { queries, read } = bound(older);
      const pages = await read(
        (await queries()).selectFrom("audit").select("content").orderBy("seq"),
      );
      expect(pages.map(({ content }) => content.length > 0)).toContain(false);
      expect(pages.every(({ content }) => content instanceof Uint8Array)).toBe(true);
      await store.audit.convert();
      expect(await countBinaryPages(location)).toBe(0);
      expect(await exportAll(store)).toEqual(rows);
    });

    test("STO-08: survives kills in the middle of its conversion", async () => {
      // They are converted in five transactions.
      const pages = binaryPages(2_500, 2);
      const expected = await readTrail(await createOld(pages));
      expect(expected).toHaveLength(5_000);
      const portions = [0, 1, 2, 1, 1];
      const result = await killConversions({
        kills,
        create: () => createOld(pages),
        expected,
        nextMoment: () => ({ portions: portions.pop() ?? 0, delayMs: portions.length }),
      });
      expect(result).toMatchObject({ kills, lost: 0, added: 0 });
      expect(result.midway).toBeGreaterThan(0);
    });
  },
);

/** The parts of a database that a test of rows needs. */
function bound(database: StoreDatabase): Pick<StoreDatabase, "queries" | "read"> {
  return { queries: () => database.queries(), read: (query) => database.read(query) };
}
