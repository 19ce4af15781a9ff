import pg from "pg";
import { afterAll, beforeAll, describe, expect, it } from "vitest";

import { auditWriter } from "../../../tests/fixtures/store/audit-writer.ts";
import { startPostgresProxy } from "../../../tests/fixtures/store/postgres-proxy.ts";
import {
  findPostgres,
  startPostgres,
  type TestPostgres,
} from "../../../tests/fixtures/store/postgres-server.ts";
import { systemClock } from "../../ports/clock.ts";
import { silentLogger } from "../../ports/logger.ts";
import { openStore } from "../open-store.ts";
import { migrateStore } from "../tables/migrate-store.ts";
import { PostgresDatabase } from "./postgres-database.ts";

const source = findPostgres();
// Behind an address of its own a proxy would have to speak TLS.
const canRun = source.kind === "initdb";
const note = source.kind === "none" ? ` (skipped: ${source.reason})` : "";

let postgres: TestPostgres | undefined;

beforeAll(async () => {
  if (canRun) postgres = await startPostgres(source);
});

afterAll(async () => {
  await postgres?.[Symbol.asyncDispose]();
});

async function startProxy() {
  return await startPostgresProxy((await postgres?.createDatabase()) ?? "");
}

describe.skipIf(!canRun)(`a connection to Postgres that is lost${note}`, () => {
  it("LIM-14: while something is asked: told as unreachable, and the next question is answered", async () => {
    await using proxy = await startProxy();
    await using store = await openStore({ location: proxy.url });
    await store.secrets.put("a", "1");
    proxy.cut("insert into", "before");
    await expect(store.secrets.put("a", "2")).rejects.toMatchObject({
      code: "store_failed",
      details: { problem: "unreachable" },
    });
    expect(await store.secrets.get("a")).toBe("1");
    proxy.cut("select", "before");
    await expect(store.secrets.get("a")).rejects.toMatchObject({ code: "store_failed" });
    await store.secrets.put("a", "3");
    expect(await store.secrets.get("a")).toBe("3");
  });

  it("LIM-14: because the server ends it: told the same way", async () => {
    const url = (await postgres?.createDatabase()) ?? "";
    await using store = await openStore({ location: url });
    await store.secrets.put("a", "1");
    const blocker = new pg.Client({ connectionString: url });
    await blocker.connect();
    await blocker.query("BEGIN");
    await blocker.query("LOCK TABLE secrets");
    const waiting = store.secrets.put("a", "2");
    const waitingPid = async (): Promise<number> => {
      const { rows } = await blocker.query(
        "SELECT pid FROM pg_locks WHERE NOT granted AND relation = 'secrets'::regclass",
      );
      return (rows[0] as { readonly pid: number } | undefined)?.pid ?? (await waitingPid());
    };
    const failed = expect(waiting).rejects.toMatchObject({
      code: "store_failed",
      details: { problem: "unreachable" },
    });
    await blocker.query("SELECT pg_terminate_backend($1)", [await waitingPid()]);
    await failed;
    await blocker.query("COMMIT");
    await blocker.end();
    expect(await store.secrets.get("a")).toBe("1");
  });

  it("STO-08: before anybody is told that a change was saved: the hint says to look", async () => {
    await using proxy = await startProxy();
    await using store = await openStore({ location: proxy.url });
    proxy.cut("COMMIT", "after");
    await expect(store.secrets.put("a", "1")).rejects.toMatchObject({
      code: "store_failed",
      hint: "look whether the change was saved",
    });
    expect(await store.secrets.get("a")).toBe("1");
  });

  it("B18: before anybody is told that entries of the trail were saved: they are there once", async () => {
    await using proxy = await startProxy();
    await using store = await openStore({ location: proxy.url });
    const audit = auditWriter(store.audit);
    audit.append({ type: "x", at: 1 });
    audit.append({ type: "x", at: 2 });
    proxy.cut("COMMIT", "after");
    await audit.flush();
    audit.append({ type: "x", at: 3 });
    await audit.flush();
    expect((await store.audit.query()).map(({ at }) => at)).toEqual([3, 2, 1]);
    audit.append({ type: "x", at: 4 });
    proxy.cut("insert into", "before");
    await audit.flush();
    await audit.flush();
    expect((await store.audit.query()).map(({ at }) => at)).toEqual([4, 3, 2, 1]);
  });

  it("LIM-14: without a word: what is asked fails after a while, and the end comes", async () => {
    await using proxy = await startProxy();
    const options = { clock: systemClock, logger: silentLogger };
    // With all the time it needs: only the silence below is to be cut short.
    const first = await PostgresDatabase.open(proxy.url, options);
    await migrateStore(first);
    await first.close();
    const database = await PostgresDatabase.open(proxy.url, { ...options, answerTimeoutMs: 1_000 });
    await database.schemaState();
    const queries = await database.queries();
    proxy.swallow();
    const writing = database.write(
      [queries.insertInto("secrets").values({ id: "a", envelope: "x", updated_at: 1 })],
      "full",
    );
    const failed = expect(writing).rejects.toMatchObject({ details: { problem: "unreachable" } });
    await database.close();
    await failed;
  });
});
