import { mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { setImmediate as nextTurn } from "node:timers/promises";

import { describe, expect, it } from "vitest";

import { DatabaseSync } from "../../../tests/fixtures/store/database-sync.ts";
import { createSqliteQueryBuilder } from "./sqlite-query-builder.ts";
import { SqliteWriter } from "./sqlite-writer.ts";

function createFile(): string {
  const file = path.join(mkdtempSync(path.join(tmpdir(), "writer-")), "x.db");
  const connection = new DatabaseSync(file);
  connection.exec("CREATE TABLE secrets (id TEXT PRIMARY KEY, envelope TEXT, updated_at INTEGER)");
  connection.close();
  return file;
}

const queries = createSqliteQueryBuilder();

function insert(id: string) {
  return queries.insertInto("secrets").values({ id, envelope: "x", updated_at: 1 });
}

function readIds(file: string): readonly unknown[] {
  const connection = new DatabaseSync(file, { readOnly: true });
  const rows = connection.prepare("SELECT id FROM secrets ORDER BY rowid").all() as {
    readonly id: string;
  }[];
  connection.close();
  return rows.map(({ id }) => id);
}

describe.each([
  { how: "from a thread", options: {} },
  { how: "in place", options: { isInPlace: true } },
])("SqliteWriter $how", ({ options }) => {
  it("STO-08: writes in the order asked for; its end waits for all of them", async () => {
    const file = createFile();
    const writer = new SqliteWriter(file, options);
    const ids = Array.from({ length: 50 }, (_, index) => `s${index}`);
    const writes = ids.map((id) => writer.write([insert(id)], "normal"));
    await writer.close();
    await writer.close();
    expect(await Promise.all(writes)).toEqual(ids.map(() => [1]));
    expect(readIds(file)).toEqual(ids);
    await expect(writer.write([insert("late")], "full")).rejects.toMatchObject({ code: "closed" });
  });

  it("STO-08: a failed write changes nothing, and the next one works", async () => {
    const file = createFile();
    const writer = new SqliteWriter(file, options);
    await writer.write([insert("a")], "full");
    const twice = writer.write([insert("b"), insert("a")], "full");
    await expect(twice).rejects.toMatchObject({
      code: "store_failed",
      message: `the store ${file} failed`,
    });
    await writer.write([insert("c")], "full");
    await writer.close();
    expect(readIds(file)).toEqual(["a", "c"]);
  });

  it("STO-08: a file that is not there yet is tried again by the next write", async () => {
    const folder = mkdtempSync(path.join(tmpdir(), "writer-"));
    const writer = new SqliteWriter(path.join(folder, "missing", "x.db"), options);
    for (let tries = 0; tries < 2; tries += 1)
      await expect(writer.check()).rejects.toMatchObject({ details: { problem: "cannot-open" } });
    await writer.close();
  });
});

describe("SqliteWriter in place", () => {
  it("STO-08: leaves the event loop to others while another process holds the file", async () => {
    const file = createFile();
    const other = new DatabaseSync(file);
    other.exec("BEGIN IMMEDIATE");
    const writer = new SqliteWriter(file, { isInPlace: true });
    const written = writer.write([insert("a")], "full");
    const later = writer.write([insert("b")], "full");
    await nextTurn();
    other.exec("COMMIT");
    other.close();
    expect(await Promise.all([written, later])).toEqual([[1], [1]]);
    await writer.close();
    expect(readIds(file)).toEqual(["a", "b"]);
  });
});

describe("SqliteWriter", () => {
  it("never used, it starts no thread and ends at once", async () => {
    await new SqliteWriter("/nowhere/x.db").close();
  });
});
