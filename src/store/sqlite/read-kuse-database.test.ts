import { createHash } from "node:crypto";
import { mkdtempSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";

import { describe, expect, it } from "vitest";

import { DatabaseSync } from "../../../tests/fixtures/store/database-sync.ts";
import { parseServerEntry } from "../../config/parse/parse-config.ts";
import { readKuseDatabase } from "./read-kuse-database.ts";

function createDatabase(sql: string): {
  readonly file: string;
  readonly connection: InstanceType<typeof DatabaseSync>;
} {
  const folder = mkdtempSync(path.join(tmpdir(), "kuse-"));
  const file = path.join(folder, "settings.db");
  const connection = new DatabaseSync(file);
  connection.exec(sql);
  return { file, connection };
}

/** Everything in the folder, byte by byte. */
function fingerprint(file: string): Readonly<Record<string, string>> {
  const folder = path.dirname(file);
  return Object.fromEntries(
    readdirSync(folder).map((name) => [
      name,
      createHash("sha256")
        .update(readFileSync(path.join(folder, name)))
        .digest("hex"),
    ]),
  );
}

const documented = `CREATE TABLE mcp_servers (id TEXT PRIMARY KEY, name TEXT, config JSON, status TEXT);`;
const real = `CREATE TABLE mcp_servers (id TEXT PRIMARY KEY, name TEXT NOT NULL, server_url TEXT NOT NULL,
  oauth_client_id TEXT, oauth_client_secret TEXT, enabled INTEGER NOT NULL, created_at INTEGER, updated_at INTEGER);`;

describe("readKuseDatabase", () => {
  it("STO-02 STO-05: reads the documented table; rows that make no sense are problems", async () => {
    const { file, connection } = createDatabase(documented);
    const config = { name: "api", url: "https://api.example.com", transport: "http" };
    const insert = connection.prepare("INSERT INTO mcp_servers VALUES (?, ?, ?, ?)");
    insert.run("2", "b", JSON.stringify(config), "Connected");
    insert.run("1", "a", "not json", "Error");
    insert.run(null, null, "{}", "Error");
    const { entries, problems } = await readKuseDatabase(file);
    expect(entries).toEqual([{ id: "2", name: "b", entry: config }]);
    expect(problems).toEqual([
      { text: "a row has neither id nor name" },
      { id: "1", text: "its config is no JSON object" },
    ]);
  });

  it("B-K13: reads the real table; the client secret in clear is no part of the entry", async () => {
    const { file, connection } = createDatabase(real);
    const insert = connection.prepare("INSERT INTO mcp_servers VALUES (?, ?, ?, ?, ?, ?, 1, 1)");
    insert.run("2", "zeta", "https://z.example.com/mcp", "client", "hunter22", 1);
    insert.run("1", "alpha", "http://localhost:3000", null, null, 0);
    insert.run("3", "", "", null, null, 1);
    const { entries, problems } = await readKuseDatabase(file);
    expect(entries).toEqual([
      { id: "1", name: "alpha", entry: { url: "http://localhost:3000", enabled: false } },
      {
        id: "2",
        name: "zeta",
        entry: {
          url: "https://z.example.com/mcp",
          auth: { type: "oauth", clientId: "client" },
        },
        clientSecret: "hunter22",
      },
    ]);
    expect(problems).toEqual([{ id: "3", text: "it has neither config nor server_url" }]);
    expect(JSON.stringify(entries.map(({ entry }) => entry))).not.toContain("hunter22");
    for (const { name, entry } of entries) expect(parseServerEntry(name, entry).name).toBe(name);
  });

  it("B-K13: the source stays as it is while its program has it open, and its newest rows are read", async () => {
    const { file, connection } = createDatabase(`PRAGMA journal_mode = WAL; ${documented}`);
    connection.exec(`INSERT INTO mcp_servers VALUES ('1', 'a', '{"url":"http://x"}', '')`);
    const before = fingerprint(file);
    expect(Object.keys(before)).toContain("settings.db-wal");
    expect((await readKuseDatabase(file)).entries).toHaveLength(1);
    expect(fingerprint(file)).toEqual(before);
    connection.close();
  });

  it("a file that is missing, no database, or has no such table is told", async () => {
    const { file } = createDatabase("CREATE TABLE other (id TEXT);");
    await expect(readKuseDatabase(file)).rejects.toMatchObject({
      code: "config_invalid",
      message: `${file} has no table mcp_servers`,
    });
    writeFileSync(file, "this is no database, only text ".repeat(100));
    await expect(readKuseDatabase(file)).rejects.toMatchObject({
      code: "store_failed",
      details: { problem: "corrupt", place: file },
    });
    await expect(readKuseDatabase(`${file}.missing`)).rejects.toMatchObject({
      code: "store_failed",
      details: { problem: "cannot-open" },
    });
  });
});
