import { constants } from "node:fs";
import { type FileHandle, open } from "node:fs/promises";

import { parseConfig } from "../../config/parse/parse-config.ts";
import { type ReadSource, readSource } from "../../config/sources/read-source.ts";
import type { SourceFile } from "../../config/sources/source-table.ts";
import { McpError } from "../../errors/mcp-error.ts";
import { readKuseDatabase } from "../../store/sqlite/read-kuse-database.ts";
import { boundedLine } from "../../text/untrusted/bounded-text.ts";

/** Reads the servers of another program's file or database. */
export async function readImport(file: SourceFile, workspaceFolder: string): Promise<ReadSource> {
  return (await isSqlite(file.path))
    ? await readDatabase(file)
    : await readSource(file, workspaceFolder);
}

async function readDatabase(file: SourceFile): Promise<ReadSource> {
  const place = { code: "config_invalid", layer: "project", path: file.path } as const;
  try {
    const { entries, problems } = await readKuseDatabase(file.path);
    const list = entries.map(({ name, entry, clientSecret }) => ({
      ...entry,
      ...(clientSecret === undefined ? {} : { auth: withSecret(entry["auth"], clientSecret) }),
      name,
    }));
    const parsed = parseConfig(list, { provenance: { layer: "project", path: file.path } });
    const unread = problems.map(({ id = "", text }) => ({
      ...place,
      severity: "error" as const,
      message: text,
      serverName: boundedLine(id, 128),
    }));
    return {
      status: "read",
      servers: parsed.servers.map((config) => ({ config, base: file.base })),
      problems: [...unread, ...parsed.problems],
      elsewhere: [],
    };
  } catch (error) {
    if (!McpError.is(error)) throw error;
    const { code, message } = error;
    return { status: "failed", problem: { ...place, severity: "error", code, message } };
  }
}

/** The secret is replaced by a reference like any other, so it goes where the entry would have it. */
function withSecret(auth: unknown, clientSecret: string): object {
  return { type: "oauth", ...(auth as object | undefined), clientSecret };
}

async function isSqlite(file: string): Promise<boolean> {
  const magic = Buffer.from("SQLite format 3\0");
  const start = Buffer.alloc(magic.length);
  let handle: FileHandle | undefined;
  try {
    // Without O_NONBLOCK, opening a named pipe would wait for a writer.
    handle = await open(file, constants.O_RDONLY | (constants.O_NONBLOCK ?? 0));
    await handle.read(start, 0, start.length, 0);
    return start.equals(magic);
  } catch {
    // Reading the whole file reports why it cannot be read.
    return false;
  } finally {
    await handle?.close();
  }
}
