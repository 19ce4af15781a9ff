import { copyFile, mkdtemp, rm, stat } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";

import { createError } from "../../errors/families.ts";
import { sqliteError, storeError } from "../tables/store-error.ts";
import { parseObjectColumn } from "../tables/stored-text.ts";
import { requireSqlite } from "./find-sqlite.ts";
import { loadSqlite, type SqliteConnection } from "./sqlite-driver.mjs";

/** A server of another program's database, ready to be parsed as an entry. */
export interface KuseEntry {
  readonly id: string;
  readonly name: string;
  readonly entry: Readonly<Record<string, unknown>>;
  /** That database keeps it in clear; it belongs into the secret store and is not part of the entry. */
  readonly clientSecret?: string;
}

export interface KuseProblem {
  /** Of the row, when it has one. */
  readonly id?: string;
  readonly text: string;
}

export interface KuseDatabase {
  readonly entries: readonly KuseEntry[];
  readonly problems: readonly KuseProblem[];
}

type Row = Readonly<Record<string, unknown>>;

/** More servers than anybody has: a damaged or hostile file must not fill the memory. */
const maxRows = 10_000;

/**
 * The servers in a settings database of Kuse: the documented table (`id, name, config, status`) or the
 * one its program makes (`server_url, oauth_client_id, …`). Works on a copy, so that the source and its
 * folder stay as they are even while its program is running.
 */
export async function readKuseDatabase(file: string): Promise<KuseDatabase> {
  const source = path.resolve(file);
  const folder = await mkdtemp(path.join(tmpdir(), "plugboard-import-"));
  try {
    const copy = await copyDatabase(source, folder);
    const rows = await readRows(copy, source);
    if (rows === undefined)
      throw createError("config_invalid", `${source} has no table mcp_servers`);
    return readEntries(rows);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

/** With its journal, which may hold the newest rows. */
async function copyDatabase(source: string, folder: string): Promise<string> {
  const copy = path.join(folder, "settings.db");
  try {
    // A copy made while its program writes may be half old, half new; then once more.
    for (let tries = 0; tries < 5; tries += 1) {
      const before = await stamp(source);
      await copyFile(source, copy);
      for (const suffix of ["-wal", "-journal"])
        await copyFile(source + suffix, copy + suffix).catch(() =>
          rm(copy + suffix, { force: true }),
        );
      if ((await stamp(source)) === before) return copy;
    }
    return copy;
  } catch (error) {
    throw storeError("cannot-open", source, {
      cause: error,
      hint: "check the path; Kuse keeps its settings in ~/.kuse-cowork/settings.db",
    });
  }
}

async function stamp(source: string): Promise<string> {
  const parts = await Promise.all(
    [source, `${source}-wal`].map((one) =>
      stat(one).then(
        ({ mtimeMs, size }) => `${mtimeMs} ${size}`,
        () => "",
      ),
    ),
  );
  return parts.join("|");
}

async function readRows(copy: string, source: string): Promise<readonly Row[] | undefined> {
  const DatabaseSync = loadSqlite(requireSqlite(source));
  let connection: SqliteConnection | undefined;
  try {
    connection = new DatabaseSync(copy);
    const table = connection
      .prepare("SELECT 1 FROM sqlite_master WHERE type = 'table' AND name = 'mcp_servers'")
      .get();
    if (table === undefined) return undefined;
    return connection
      .prepare(`SELECT * FROM mcp_servers ORDER BY name LIMIT ${maxRows}`)
      .all() as Row[];
  } catch (error) {
    throw sqliteError(error, source);
  } finally {
    connection?.close();
  }
}

function readEntries(rows: readonly Row[]): KuseDatabase {
  const entries: KuseEntry[] = [];
  const problems: KuseProblem[] = [];
  for (const row of rows) {
    const read = readEntry(row);
    if ("entry" in read) entries.push(read);
    else problems.push(read);
  }
  return { entries, problems };
}

function readEntry(row: Row): KuseEntry | KuseProblem {
  const id = textOf(row["id"]);
  const name = textOf(row["name"]) ?? id;
  if (id === undefined || name === undefined) return { text: "a row has neither id nor name" };
  if (row["config"] !== undefined) {
    const entry = parseObjectColumn(textOf(row["config"]) ?? "");
    return entry === undefined ? { id, text: "its config is no JSON object" } : { id, name, entry };
  }
  const url = textOf(row["server_url"]);
  if (url === undefined) return { id, text: "it has neither config nor server_url" };
  const clientId = textOf(row["oauth_client_id"]);
  const clientSecret = textOf(row["oauth_client_secret"]);
  return {
    id,
    name,
    entry: {
      url,
      ...(clientId !== undefined && { auth: { type: "oauth", clientId } }),
      ...(isOff(row["enabled"]) && { enabled: false }),
    },
    ...(clientSecret !== undefined && { clientSecret }),
  };
}

function isOff(enabled: unknown): boolean {
  return enabled === 0 || enabled === "0" || enabled === "false";
}

function textOf(value: unknown): string | undefined {
  return typeof value === "string" && value !== "" ? value : undefined;
}
