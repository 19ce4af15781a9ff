import pg from "pg";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from "vitest";

import {
  findPostgres,
  startPostgres,
  type TestPostgres,
} from "../../../tests/fixtures/store/postgres-server.ts";
import { openStore } from "../open-store.ts";
import type { Store } from "../store.ts";

const source = findPostgres();
const isMissing = source.kind === "none";
const note = source.kind === "none" ? ` (skipped: ${source.reason})` : "";
const key = { id: "key", envelope: "one" };

let postgres: TestPostgres | undefined;

beforeAll(async () => {
  if (!isMissing) postgres = await startPostgres(source);
});

afterAll(async () => {
  await postgres?.[Symbol.asyncDispose]();
});

describe.each(["in memory", "in Postgres"])("secrets %s", (place) => {
  const test = it.skipIf(place === "in Postgres" && isMissing);
  let store: Store;

  beforeEach(async () => {
    const location = place === "in memory" ? ":memory:" : await postgres?.createDatabase();
    store = await openStore({ location: location ?? "" });
  });

  afterEach(() => store.close());

  test(`the first row is added where there is none of any id${note}`, async () => {
    expect(await store.secrets.addFirst(key)).toBe(true);
    expect(await store.secrets.addFirst(key)).toBe(false);
    expect(await store.secrets.addFirst({ id: "other", envelope: "x" })).toBe(false);
    expect(await store.secrets.ids()).toEqual(["key"]);
  });

  test("a row is put while the key row is as it was known", async () => {
    const { secrets } = store;
    expect(await secrets.putUnder(key, { id: "a", envelope: "x" })).toBe(false);
    await secrets.addFirst(key);
    expect(await secrets.putUnder(key, { id: "a", envelope: "x" })).toBe(true);
    expect(await secrets.putUnder(key, { id: "a", envelope: "y" })).toBe(true);
    expect(await secrets.replace(key, "two")).toBe(true);
    expect(await secrets.replace(key, "three")).toBe(false);
    expect(await secrets.putUnder(key, { id: "a", envelope: "z" })).toBe(false);
    expect([await secrets.get("a"), await secrets.get("key")]).toEqual(["y", "two"]);
  });

  test("all rows are replaced when nothing was written since they were read", async () => {
    const { secrets } = store;
    await secrets.addFirst(key);
    await secrets.putUnder(key, { id: "a", envelope: "x" });
    const before = await secrets.snapshot();
    expect(before.rows).toHaveLength(2);
    await secrets.putUnder(key, { id: "b", envelope: "x" });
    const replaced = [{ id: "a", envelope: "new" }];
    const by = { ...key, by: "two" };
    expect(await secrets.replaceAll(before.revision, by, replaced)).toBe(false);
    expect([await secrets.get("a"), await secrets.get("key")]).toEqual(["x", "one"]);
    const { revision } = await secrets.snapshot();
    expect(await secrets.replaceAll(revision, { ...by, envelope: "x" }, replaced)).toBe(false);
    const now = await secrets.snapshot();
    expect(await secrets.replaceAll(now.revision, by, replaced)).toBe(true);
    expect([await secrets.get("a"), await secrets.get("key")]).toEqual(["new", "two"]);
  });
});

describe("secrets that two hosts of a Postgres change at once", () => {
  const test = it.skipIf(isMissing);
  let store: Store;
  let other: pg.Client;

  beforeEach(async () => {
    const location = (await postgres?.createDatabase()) ?? "";
    store = await openStore({ location });
    other = new pg.Client({ connectionString: location });
    await other.connect();
    await store.secrets.addFirst(key);
  });

  afterEach(async () => {
    await other.end();
    await store.close();
  });

  /** Resolves when somebody waits for a lock that `other` holds. */
  async function untilSomebodyWaits(): Promise<void> {
    const waiting = "select 1 from pg_locks where not granted and pid <> pg_backend_pid()";
    await expect.poll(async () => (await other.query(waiting)).rowCount).toBeGreaterThan(0);
  }

  test(`a row waits for a change of the key row, and is not put after it${note}`, async () => {
    await other.query("begin");
    await other.query("update secrets set envelope = 'two' where id = 'key'");
    const putting = store.secrets.putUnder(key, { id: "a", envelope: "x" });
    await untilSomebodyWaits();
    await other.query("commit");
    expect(await putting).toBe(false);
    expect(await store.secrets.get("a")).toBeUndefined();
  });

  test("a change of all rows waits for a row under way, and is not made after it", async () => {
    const { revision } = await store.secrets.snapshot();
    await other.query("begin");
    // What `putUnder` does.
    await other.query(
      "insert into secrets (id, envelope, updated_at) select 'a', 'x', 0 from secrets where id = 'key' for share",
    );
    const replacing = store.secrets.replaceAll(revision, { ...key, by: "two" }, []);
    await untilSomebodyWaits();
    await other.query("update revisions set revision = revision + 1 where area = 'secrets'");
    await other.query("commit");
    expect(await replacing).toBe(false);
    expect(await store.secrets.get("key")).toBe("one");
  });
});
