import { execFileSync, spawn, spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import {
  chmodSync,
  chownSync,
  copyFileSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { pathToFileURL } from "node:url";

import { afterEach, describe, expect, it } from "vitest";

import { bundleProgram } from "../../scripts/bundle-program.mjs";
import { auditWriter } from "../../tests/fixtures/store/audit-writer.ts";
import { DatabaseSync } from "../../tests/fixtures/store/database-sync.ts";
import { catalogs, consentId, launchId } from "../../tests/fixtures/store/made-up-ids.ts";
import type { McpError } from "../errors/mcp-error.ts";
import { systemClock } from "../ports/clock.ts";
import { openStore, type OpenStoreOptions } from "./open-store.ts";
import { SqliteFileDatabase } from "./sqlite/sqlite-file-database.ts";
import type { Store } from "./store.ts";
import { migrateStore } from "./tables/migrate-store.ts";
import { migrationSteps } from "./tables/migrations.ts";
import { latestVersion } from "./tables/schema-version.ts";
import { defaultStoreFile, storeExists } from "./tables/store-location.ts";

const isRoot = process.getuid?.() === 0;
const cleanups: (() => unknown)[] = [];

afterEach(async () => {
  for (const cleanup of cleanups.splice(0).toReversed()) await cleanup();
});

async function open(options: OpenStoreOptions): Promise<Store> {
  const store = await openStore(options);
  cleanups.push(() => store.close());
  return store;
}

function createFolder(): string {
  return mkdtempSync(path.join(tmpdir(), "store-"));
}

/**
 * A store with some rows in it, closed. A copy, since the driver closes the original with the garbage only
 * and SQLite shares what it knows of a file within the process.
 */
async function createFile(rows = 50): Promise<string> {
  const file = path.join(createFolder(), "original.db");
  const store = await openStore({ location: file });
  const audit = auditWriter(store.audit);
  for (let index = 0; index < rows; index += 1)
    audit.append({ type: "x", at: Date.now(), detail: { text: "x".repeat(500) } });
  await audit.flush();
  await store.secrets.put("kept", "value");
  await store.close();
  const copy = path.join(createFolder(), "plugboard.db");
  copyFileSync(file, copy);
  return copy;
}

async function failure(promise: Promise<unknown>): Promise<McpError> {
  const error = (await promise.then(
    () => undefined,
    (reason: unknown) => reason,
  )) as McpError | undefined;
  if (error === undefined) throw new Error("it did not fail");
  return error;
}

function digest(file: string): string {
  return createHash("sha256").update(readFileSync(file)).digest("hex");
}

function execute(file: string, sql: string): void {
  const connection = new DatabaseSync(file);
  connection.exec(sql);
  connection.close();
}

describe("the file of a store", () => {
  it("STO-01: is made on demand, with its folder, for this user alone", async () => {
    const file = path.join(createFolder(), "a", ".plugboard", "plugboard.db");
    expect(storeExists(file)).toBe(false);
    const store = await open({ location: file });
    await store.secrets.put("a", "b");
    expect(storeExists(file)).toBe(true);
    const folder = path.dirname(file);
    expect(statSync(folder).mode & 0o777).toBe(0o700);
    const modes = readdirSync(folder).map((name) => statSync(path.join(folder, name)).mode & 0o777);
    expect(modes.length).toBeGreaterThan(1);
    expect(new Set(modes)).toEqual(new Set([0o600]));
  });

  it("STO-01: is plugboard.db of the user's folder, which PLUGBOARD_HOME names", () => {
    expect(defaultStoreFile({ home: "/h", env: {} })).toBe("/h/.plugboard/plugboard.db");
    expect(defaultStoreFile({ env: { PLUGBOARD_HOME: "/p" } })).toBe("/p/plugboard.db");
    expect(storeExists(":memory:")).toBe(false);
    expect(storeExists("postgres://localhost/x")).toBe(true);
    expect(storeExists(pathToFileURL(import.meta.filename).href)).toBe(true);
    expect(() => storeExists("mysql://root:hunter22@x/y")).toThrow("cannot be kept in mysql://");
    expect(() => storeExists("file://elsewhere/x.db")).toThrow(
      "cannot be kept in file://elsewhere",
    );
  });

  it("STO-02: has the table that Kuse documents", async () => {
    const file = await createFile();
    const connection = new DatabaseSync(file, { readOnly: true });
    const columns = connection.prepare("PRAGMA table_info(mcp_servers)").all() as {
      readonly name: string;
      readonly type: string;
    }[];
    expect(columns.map(({ name, type }) => `${name} ${type.toUpperCase()}`)).toEqual([
      "id TEXT",
      "name TEXT",
      "config JSON",
      "status TEXT",
    ]);
    connection.close();
  });

  it.each([
    ...(
      [
        ["may be read by everybody", 0o644],
        ["may be read by its group", 0o640],
        ["may be written by its group", 0o620],
        ["may be read by all but its group", 0o604],
        ["may be written by all but its group", 0o602],
      ] as const
    ).map(
      ([what, mode]) =>
        [what, (file: string) => chmodSync(file, mode), /other users/, /chmod 600/] as const,
    ),
    [
      "is a link",
      (file: string) => {
        rmSync(file);
        writeFileSync(`${file}.target`, "", { mode: 0o600 });
        symlinkSync(`${file}.target`, file);
      },
      /plain file/,
      /name the file/,
    ],
    [
      "is a folder",
      (file: string) => {
        rmSync(file);
        mkdirSync(file);
      },
      /plain file/,
      /name the file/,
    ],
  ] as const)("STO-01: is refused when it %s", async (_, spoil, message, hint) => {
    const file = await createFile(1);
    spoil(file);
    const error = await failure(openStore({ location: file }));
    expect(error).toMatchObject({ code: "store_failed", details: { place: file } });
    expect(error.message).toMatch(message);
    expect(error.hint).toMatch(hint);
  });

  it.skipIf(!isRoot)("STO-01: is refused when another user owns it (needs root)", async () => {
    const file = await createFile(1);
    chownSync(file, 65_534, 65_534);
    expect((await failure(openStore({ location: file }))).message).toMatch(/another user/);
  });

  it("STO-03: holds everything by itself once the store is closed", async () => {
    const store = await open({ location: await createFile() });
    expect(await store.secrets.get("kept")).toBe("value");
    expect(await store.audit.query()).toHaveLength(50);
  });
});

describe("versions of the store", () => {
  it("STO-08: a newer one is refused and not touched", async () => {
    const file = await createFile();
    execute(file, "PRAGMA user_version = 99");
    const before = digest(file);
    const error = await failure(openStore({ location: file }));
    expect(error.message).toMatch(/newer version of Plugboard \(schema 99, this one knows \d+\)/);
    expect(error).toMatchObject({ code: "store_failed", hint: "update Plugboard" });
    expect(digest(file)).toBe(before);
  });

  it("STO-08: a database of another program is refused and not touched", async () => {
    const file = path.join(createFolder(), "settings.db");
    writeFileSync(file, "", { mode: 0o600 });
    execute(file, "CREATE TABLE mcp_servers (id TEXT, server_url TEXT)");
    const before = digest(file);
    const error = await failure(openStore({ location: file }));
    expect(error.message).toMatch(/another program/);
    expect(digest(file)).toBe(before);
  });

  it("STO-08: a store of the first version is brought up to date, and keeps what it has", async () => {
    const file = path.join(createFolder(), "plugboard.db");
    const database = await SqliteFileDatabase.open(file, { clock: systemClock });
    const [first] = migrationSteps(await database.queries(), "sqlite");
    await migrateStore(database, { latest: 1, steps: first === undefined ? [] : [first] });
    await database.close();
    execute(file, "INSERT INTO secrets VALUES ('kept', 'value', 1)");
    const store = await open({ location: file });
    expect(await store.secrets.get("kept")).toBe("value");
    const audit = auditWriter(store.audit);
    audit.append({ type: "x", at: 1 });
    await audit.flush();
    expect(await store.audit.query()).toMatchObject([{ type: "x", at: 1 }]);
  });

  it("STO-08: an update that is killed leaves the old version whole", async () => {
    const file = await createFile();
    const program = await bundleProgram("tests/fixtures/store/migrating-host.mjs");
    const child = spawn(process.execPath, [program, file], {
      stdio: ["ignore", "pipe", "inherit"],
    });
    const exit = new Promise((resolve) => {
      child.once("exit", resolve);
    });
    let said = "";
    child.stdout.on("data", (text: Buffer) => {
      said += text.toString();
      // Dozens of megabytes of the new table are still to come.
      child.kill("SIGKILL");
    });
    await exit;
    expect(said).toBe("begun\n");
    const store = await open({ location: file });
    expect(await store.secrets.get("kept")).toBe("value");
    expect(await store.check()).toEqual([]);
    const connection = new DatabaseSync(file, { readOnly: true });
    expect(connection.prepare("PRAGMA user_version").get()).toMatchObject({
      user_version: latestVersion,
    });
    expect(
      connection.prepare("SELECT 1 FROM sqlite_master WHERE name = 'added'").all(),
    ).toHaveLength(0);
    connection.close();
  });
});

describe("a damaged store", () => {
  it.each([
    ["no database at all", (file: string) => writeFileSync(file, "plain text ".repeat(2_000))],
    [
      "cut short",
      (file: string) => truncateSync(file, Math.floor(statSync(file).size / 2 / 4_096) * 4_096),
    ],
    [
      "overwritten in its first page",
      (file: string) => {
        const bytes = readFileSync(file);
        bytes.fill(0xff, 100, 2_000);
        writeFileSync(file, bytes);
      },
    ],
  ])("STO-08: %s: is refused, left as it is, and copied once", async (_, spoil) => {
    const file = await createFile(200);
    spoil(file);
    const before = digest(file);
    const attempt = async (): Promise<McpError> =>
      failure(openStore({ location: file }).then((store) => store.check()));
    for (const error of await Promise.all([attempt(), attempt()])) {
      expect(error.message).toBe(`the store ${file} is damaged; it was left as it is`);
      expect(error).toMatchObject({ code: "store_failed", details: { problem: "corrupt" } });
    }
    expect(digest(file)).toBe(before);
    const copies = readdirSync(path.dirname(file)).filter((name) => /damaged-\w+$/.test(name));
    expect(copies).toHaveLength(1);
    expect(digest(path.join(path.dirname(file), copies[0] ?? ""))).toBe(before);
  });

  it("STO-08: whichever byte is wrong, reading gives rows or a typed error and changes nothing", async () => {
    const original = await createFile(100);
    const bytes = readFileSync(original);
    // Spread over the file, a different bit each time.
    for (let flip = 0; flip < 40; flip += 1) {
      const spoiled = Buffer.from(bytes);
      const position = (flip * 7_919 + (flip < 10 ? flip * 10 : 0)) % bytes.length;
      spoiled[position] = (spoiled[position] ?? 0) ^ (1 << (flip % 8));
      const file = path.join(createFolder(), "plugboard.db");
      writeFileSync(file, spoiled, { mode: 0o600 });
      const before = digest(file);
      const readAll = async (): Promise<void> => {
        await using store = await openStore({ location: file });
        await store.servers.list();
        await store.secrets.get("kept");
        await store.audit.query({ limit: 1_000 });
      };
      const error = await readAll().catch((reason: unknown) => reason);
      if (error !== undefined)
        expect(error, `byte ${position}`).toHaveProperty("code", "store_failed");
      expect(digest(file)).toBe(before);
    }
  });

  it("STO-08: a row that is no JSON is warned about, and the others are there", async () => {
    const file = await createFile();
    const warnings: string[] = [];
    const warn = (text: string): void => void warnings.push(text);
    const logger = { debug() {}, info() {}, warn, error() {} };
    const store = await open({ location: file, logger });
    await store.servers.put({ id: "good", name: "good", config: {} });
    await store.servers.put({ id: "bad", name: "bad", config: {} });
    await store.catalog.save(catalogs({ i: { tools: [] } }));
    await store.approvals.approve({
      launchId: launchId("i"),
      serverName: "s",
      facts: {},
      approvedBy: "x",
    });
    execute(
      file,
      `UPDATE mcp_servers SET config = '{"url' WHERE id = 'bad';
       UPDATE catalog SET content = '['; UPDATE approvals SET facts = ''`,
    );
    expect((await store.servers.list()).map(({ id }) => id)).toEqual(["good"]);
    expect(warnings).toHaveLength(1);
    expect(await store.catalog.find(consentId("i"))).toBeUndefined();
    expect(await store.approvals.find(launchId("i"))).toMatchObject({ facts: {} });
  });
});

describe("a store that cannot be written", () => {
  /** Root may write anywhere, so it becomes somebody else for the time of the test. */
  function leaveRoot(folder: string): void {
    if (!isRoot) return;
    execFileSync("chown", ["-R", "65534:65534", folder]);
    process.seteuid?.(65_534);
    cleanups.push(() => process.seteuid?.(0));
  }

  it.each([
    { of: "its file", fileMode: 0o400, folderMode: 0o700, hasLeftovers: false },
    { of: "its folder", fileMode: 0o600, folderMode: 0o500, hasLeftovers: false },
    { of: "both, with an empty journal", fileMode: 0o400, folderMode: 0o500, hasLeftovers: true },
  ])("STO-08: because of $of: reads work, writes say why", async (place) => {
    const { fileMode, folderMode, hasLeftovers } = place;
    // The way to the folder must be open to whom root becomes.
    const folder = mkdtempSync("/tmp/plugboard-store-");
    cleanups.push(() => rmSync(folder, { recursive: true, force: true }));
    const file = path.join(folder, "plugboard.db");
    copyFileSync(await createFile(), file);
    chmodSync(file, fileMode);
    if (hasLeftovers)
      for (const name of [`${file}-wal`, `${file}-shm`])
        writeFileSync(name, "", { mode: fileMode });
    chmodSync(folder, folderMode);
    leaveRoot(folder);
    const store = await open({ location: file });
    expect(await store.secrets.get("kept")).toBe("value");
    const error = await failure(store.secrets.put("kept", "other"));
    expect(error).toMatchObject({ code: "store_failed", details: { place: file } });
    expect(["read-only", "cannot-open"]).toContain(error.details["problem"]);
    expect(error.hint).toMatch(/folder/);
    const audit = auditWriter(store.audit);
    audit.append({ type: "x", at: 1 });
    await audit.flush();
    await audit.queue.close();
    expect(await store.secrets.get("kept")).toBe("value");
  });

  it("STO-01: a folder where none can be made is told", async () => {
    const folder = mkdtempSync("/tmp/plugboard-store-");
    cleanups.push(() => rmSync(folder, { recursive: true, force: true }));
    chmodSync(folder, 0o500);
    leaveRoot(folder);
    const error = await failure(openStore({ location: path.join(folder, "a", "x.db") }));
    expect(error).toMatchObject({ code: "store_failed", details: { problem: "read-only" } });
  });

  it("STO-08: nor read, for a moment: reading waits, beside the loop", async () => {
    const file = await createFile();
    const blocker = new DatabaseSync(file);
    blocker.exec("PRAGMA locking_mode = EXCLUSIVE; BEGIN IMMEDIATE; COMMIT");
    let turns = 0;
    const release = (): void => {
      turns += 1;
      if (turns < 10) setImmediate(release);
      else blocker.close();
    };
    setImmediate(release);
    const store = await open({ location: file });
    expect(turns).toBe(10);
    expect(await store.secrets.get("kept")).toBe("value");
  });

  it("STO-08: because another process keeps it locked: told after a while, and the loop goes on", async () => {
    const file = await createFile();
    const store = await open({ location: file, lockWaitMs: 300 });
    const blocker = new DatabaseSync(file);
    blocker.exec("BEGIN IMMEDIATE");
    let turns = 0;
    const timer = setInterval(() => (turns += 1), 5);
    const error = await failure(store.secrets.put("kept", "other"));
    clearInterval(timer);
    expect(error).toMatchObject({
      code: "store_failed",
      retryable: true,
      details: { problem: "busy" },
    });
    // Waiting in the loop would have left none.
    expect(turns).toBeGreaterThan(0);
    expect(await store.secrets.get("kept")).toBe("value");
    blocker.exec("ROLLBACK");
    await store.secrets.put("kept", "other");
    expect(await store.secrets.get("kept")).toBe("other");
    blocker.close();
  });
});

describe("a store that is taken away while it is in use", () => {
  const approval = { serverName: "s", facts: {}, approvedBy: "x" };

  it.each([
    ["deleted", (file: string) => rmSync(file)],
    ["deleted with its folder", (file: string) => rmSync(path.dirname(file), { recursive: true })],
    [
      "replaced",
      (file: string) => {
        copyFileSync(file, `${file}.copy`);
        renameSync(`${file}.copy`, file);
      },
    ],
  ])("STO-08: %s: nobody is told that a change was saved", async (_, takeAway) => {
    const file = await createFile();
    const store = await open({ location: file });
    await store.approvals.approve({ launchId: launchId("one"), ...approval });
    takeAway(file);
    const error = await failure(
      store.approvals.approve({ launchId: launchId("two"), ...approval }),
    );
    expect(error).toMatchObject({ code: "store_failed", details: { problem: "replaced" } });
    expect(error.hint).toMatch(/restart/);
  });

  it("STO-08: before the first change: no other file is made in its place", async () => {
    const file = await createFile();
    const store = await open({ location: file });
    rmSync(file);
    const error = await failure(
      store.approvals.approve({ launchId: launchId("one"), ...approval }),
    );
    expect(error).toMatchObject({ details: { problem: "replaced" } });
    expect(storeExists(file)).toBe(false);
  });

  it("STO-08: and put back: it is written again", async () => {
    const file = await createFile();
    const store = await open({ location: file });
    await store.approvals.approve({ launchId: launchId("one"), ...approval });
    renameSync(file, `${file}.away`);
    await failure(store.approvals.approve({ launchId: launchId("two"), ...approval }));
    renameSync(`${file}.away`, file);
    await store.approvals.approve({ launchId: launchId("three"), ...approval });
    expect(await store.approvals.list()).toHaveLength(2);
  });
});

describe("a store on a full disk", () => {
  /** A disk of 2 MB, or none when this user may not make one. */
  function mountSmallDisk(): string | undefined {
    const folder = mkdtempSync("/tmp/plugboard-full-");
    cleanups.push(() => rmSync(folder, { recursive: true, force: true }));
    const options = ["-t", "tmpfs", "-o", "size=2m,mode=0700", "tmpfs", folder];
    if (spawnSync("/bin/mount", options).status !== 0) return undefined;
    // Lazily: the driver closes the file with the garbage.
    cleanups.push(() => spawnSync("/bin/umount", ["-l", folder]));
    return folder;
  }

  it("STO-08: says so, loses nothing, and goes on when there is room", async ({ skip }) => {
    const folder = mountSmallDisk();
    if (folder === undefined) return skip("needs the right to mount a tmpfs: run as root");
    const ballast = path.join(folder, "ballast");
    writeFileSync(ballast, Buffer.alloc(1_000_000));
    const store = await open({ location: path.join(folder, "plugboard.db") });
    const acknowledged: string[] = [];
    let error: McpError | undefined;
    while (error === undefined)
      try {
        const id = `s${acknowledged.length}`;
        await store.secrets.put(id, "x".repeat(20_000));
        acknowledged.push(id);
      } catch (reason) {
        error = reason as McpError;
      }
    expect(error).toMatchObject({ code: "store_failed", retryable: true });
    expect(error?.details["problem"]).toBe("disk-full");
    expect(error?.message).toMatch(/full; nothing was saved/);
    const audit = auditWriter(store.audit);
    for (let index = 0; index < 2_000; index += 1)
      audit.append({ type: "during", at: index, detail: { text: "x".repeat(1_000) } });
    await audit.flush();
    expect((await store.secrets.ids()).toSorted()).toEqual(acknowledged.toSorted());
    rmSync(ballast);
    // What waited is saved as far as there is room, oldest first.
    await audit.flush();
    expect(audit.queue.lost).toBe(0);
    await audit.queue.close();
    expect((await store.audit.query({ limit: 1 })).length).toBe(1);
    await store.secrets.put("after", "room");
    expect(await store.secrets.get("after")).toBe("room");
    expect(await store.check()).toEqual([]);
  });
});
