import { mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";

import fc from "fast-check";
import pg from "pg";
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";

import { auditWriter } from "../../../tests/fixtures/store/audit-writer.ts";
import { DatabaseSync } from "../../../tests/fixtures/store/database-sync.ts";
import { hostileCharacters } from "../../../tests/fixtures/store/hostile-characters.ts";
import {
  findPostgres,
  startPostgres,
  type TestPostgres,
} from "../../../tests/fixtures/store/postgres-server.ts";
import { psql, sqlite3 } from "../../../tests/fixtures/store/sql-shells.ts";
import { binaryPages, createVersion2Store } from "../../../tests/fixtures/store/version-2-store.ts";
import { openStore } from "../open-store.ts";
import type { Store } from "../store.ts";
import { toStored } from "../tables/stored-text.ts";
import type { AuditRow } from "./audit-entry.ts";
import { maxCallIdChars } from "./audit-page-draft.ts";
import type { CallHead } from "./audit-page.ts";

type ViewRow = Readonly<Record<string, unknown>>;

const source = findPostgres();
let postgres: TestPostgres | undefined;

beforeAll(async () => {
  if (source.kind !== "none") postgres = await startPostgres(source);
});

afterAll(async () => {
  await postgres?.[Symbol.asyncDispose]();
});

const inFile = {
  place: "in a file",
  missing: undefined,
  shell: sqlite3,
  asJson: `json_object('seq', seq, 'at', at, 'type', type, 'agent', agent, 'server', server,
      'tool', tool, 'code', code, 'rule', rule, 'consent', consent, 'duration_ms', duration_ms,
      'side_effects', side_effects, 'call_id', call_id, 'arguments_hash', arguments_hash,
      'detail', json(detail))`,
  create: async () => path.join(mkdtempSync(path.join(tmpdir(), "store-")), "plugboard.db"),
  execute: async (file: string, sql: string) => {
    const connection = new DatabaseSync(file);
    const rows = connection.prepare(sql).all() as readonly ViewRow[];
    connection.close();
    return rows.map((row) => ({ ...row, detail: JSON.parse(String(row["detail"])) as unknown }));
  },
};
const inPostgres = {
  place: "in Postgres",
  missing: source.kind === "none" ? source.reason : undefined,
  shell: psql,
  asJson: `row_to_json(audit_entries)`,
  create: async () => (await postgres?.createDatabase()) ?? "",
  execute: async (url: string, sql: string) => {
    const client = new pg.Client({ connectionString: url });
    await client.connect();
    try {
      return ((await client.query(sql)).rows as readonly ViewRow[]).map(asJavaScript);
    } finally {
      await client.end();
    }
  },
};

/** Postgres has times and 64-bit numbers of its own. */
function asJavaScript(row: ViewRow): ViewRow {
  const { seq, at } = row;
  return { ...row, seq: Number(seq), at: at instanceof Date ? at.toISOString() : at };
}

/** A row of `host.audit` as the view has it. */
function viewRow({ seq, at, type, agent, server, tool, code, detail = {} }: AuditRow): ViewRow {
  const stored = storedJson(detail) as ViewRow;
  const texts = { type, agent, server, tool, code };
  return {
    seq,
    at: new Date(at).toISOString(),
    ...Object.fromEntries(
      Object.entries(texts).map(([name, value]) => [name, toStored(value) ?? null]),
    ),
    rule: stored["rule"] ?? null,
    consent: stored["consent"] ?? null,
    duration_ms: stored["durationMs"] ?? null,
    side_effects: stored["sideEffects"] ?? null,
    call_id: stored["callId"] ?? null,
    arguments_hash: stored["argumentsHash"] ?? null,
    detail: stored,
  };
}

/** Texts in it as columns store them. */
function storedJson(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(storedJson);
  if (typeof value !== "object" || value === null) return toStored(value);
  return Object.fromEntries(
    Object.entries(value).map(([name, member]) => [toStored(name), storedJson(member)]),
  );
}

async function exportAll(store: Store): Promise<readonly AuditRow[]> {
  const rows: AuditRow[] = [];
  for await (const row of store.audit.export()) rows.push(row);
  return rows;
}

describe.each([inFile, inPostgres])("the view audit_entries $place", (database) => {
  const { missing, shell, asJson, create, execute } = database;
  const test = it.skipIf(missing !== undefined);
  const missingShell = missing ?? shell.missing;
  const testWithShell = it.skipIf(missingShell !== undefined);
  const note = missingShell === undefined ? "" : ` (skipped: ${missingShell})`;
  const stores: Store[] = [];

  async function open(location: string): Promise<Store> {
    const store = await openStore({ location });
    stores.push(store);
    return store;
  }

  afterEach(async () => {
    await Promise.all(stores.splice(0).map((store) => store.close()));
  });

  test("has a row for each entry, as the product gives it, whatever the texts are", async () => {
    const location = await create();
    const store = await open(location);
    const audit = auditWriter(store.audit);
    const text = fc.oneof(
      fc.string({ unit: fc.constantFrom(...hostileCharacters), maxLength: 12 }),
      fc.string({ unit: "binary", maxLength: 40 }),
    );
    const optional = fc.option(text, { nil: undefined });
    const detail = fc.record(
      { rule: text, callId: text, durationMs: fc.nat(), toolNames: fc.array(text) },
      { requiredKeys: [] },
    );
    // Postgres and SQLite write years before 0 and after 9999 in their own ways.
    const at = fc.integer({ min: -62_000_000_000_000, max: 253_000_000_000_000 });
    const entries = fc.record({ at, type: text, agent: optional, tool: optional, detail });
    const heads = fc.record({ agent: text, server: optional, tool: text, consent: text });
    const callId = fc.oneof(
      fc.nat().map((number) => `host-${number}`),
      fc.string({ unit: fc.constantFrom(...hostileCharacters), maxLength: maxCallIdChars / 5 }),
    );
    const calls = fc.record({
      at,
      of: fc.nat(2),
      callId,
      durationMs: fc.double({ min: 0, max: 1e6, noNaN: true }),
      hasEffects: fc.boolean(),
      argumentsText: text,
    });
    let seen = 0;
    await fc.assert(
      fc.asyncProperty(
        fc.tuple(heads, heads, heads),
        fc.array(fc.oneof(entries, calls), { maxLength: 20 }),
        async (callHeads, items) => {
          for (const item of items)
            if ("type" in item) audit.append(item);
            else audit.queue.addCall({ ...item, head: callHeads[item.of] as CallHead });
          await audit.flush();
          const rows = await exportAll(store);
          const view = await execute(location, "SELECT * FROM audit_entries ORDER BY seq");
          expect(view.slice(seen)).toEqual(rows.slice(seen).map(viewRow));
          seen += items.length;
          expect(view).toHaveLength(seen);
        },
      ),
      { numRuns: 25 },
    );
  });

  testWithShell(`is read by the program that people have${note}`, async () => {
    const location = await create();
    const store = await open(location);
    const audit = auditWriter(store.audit);
    const long = "x".repeat(100_000);
    for (const text of [...hostileCharacters, hostileCharacters.join(""), long]) {
      audit.append({ type: "x", at: 1, agent: text, tool: `a${text}b`, detail: { name: text } });
      const head = { agent: text, server: text, tool: text, consent: text };
      const callId = `c${text.slice(0, 60)}`;
      audit.queue.addCall({
        at: 1_763_305_200_123,
        head,
        callId,
        durationMs: 1.24,
        hasEffects: false,
        argumentsText: text,
      });
    }
    await audit.flush();
    const query = `SELECT ${asJson} FROM audit_entries ORDER BY seq`;
    const found = (await shell.readJson(location, query)) as readonly ViewRow[];
    const rows = (await exportAll(store)).map(viewRow);
    expect(found.map((row) => ({ ...row, at: isoTime(row["at"]) }))).toEqual(rows);
    expect(rows).toHaveLength(2 * hostileCharacters.length + 4);
  });

  test("has the entries of version 2 when they are converted", async () => {
    const location = await create();
    await createVersion2Store(location, binaryPages(3, 100));
    const store = await open(location);
    await store.audit.convert();
    const view = await execute(location, "SELECT * FROM audit_entries ORDER BY seq");
    expect(view).toEqual((await exportAll(store)).map(viewRow));
    expect(view).toHaveLength(300);
  });
});

it("STO-08: a damaged page hides no other, neither in the view nor from the product", async () => {
  const { create, execute } = inFile;
  const location = await create();
  await using store = await openStore({ location });
  const audit = auditWriter(store.audit);
  for (const type of ["first", "second", "third"]) {
    audit.append({ type, at: 1 });
    await audit.flush();
  }
  const connection = new DatabaseSync(location);
  connection.exec("UPDATE audit SET lines = substr(lines, 1, 9) WHERE seq = 2");
  connection.close();
  const types = (rows: readonly object[]) => rows.map((row) => (row as ViewRow)["type"]);
  expect(types(await exportAll(store))).toEqual(["first", "third"]);
  expect(types(await execute(location, "SELECT * FROM audit_entries"))).toEqual(["first", "third"]);
});

/** One form for what the two programs print. */
function isoTime(at: unknown): string {
  return new Date(String(at)).toISOString();
}
