import { spawn } from "node:child_process";
import { cp, mkdir, mkdtemp, readdir, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { fileURLToPath } from "node:url";

import { afterAll, beforeAll, describe, expect, it } from "vitest";

import { consentIdOf, launchFacts } from "../../src/approval/launch-facts.ts";
import { parseServerEntry } from "../../src/config/parse/parse-config.ts";
import { namesIn } from "../../src/host/secrets/entry-vault.ts";
import { createHost, type HostOptions, type McpHost } from "../../src/index.ts";
import { openStore } from "../../src/store/open-store.ts";
import { openVault } from "../fixtures/secrets/open-vault.ts";
import { DatabaseSync } from "../fixtures/store/database-sync.ts";
import {
  findPostgres,
  startPostgres,
  type TestPostgres,
} from "../fixtures/store/postgres-server.ts";

const root = path.resolve(import.meta.dirname, "../..");
const leaking = fileURLToPath(new URL("../fixtures/servers/leaking-server.mjs", import.meta.url));
const canary = (index: number): string => `kestrel-${index}-meadow-4711`;

/** An entry as it was stored before there was a vault. */
function clearEntry(index: number): Readonly<Record<string, unknown>> {
  return {
    command: process.execPath,
    args: [leaking, "--token", `${canary(index)}-arg`],
    env: { API_TOKEN: canary(index), MODE: "fast" },
  };
}

interface Place extends AsyncDisposable {
  readonly folder: string;
  readonly location: string;
  host(options?: HostOptions): Promise<McpHost>;
  /** All files of the host's own folder, as one text. */
  files(): Promise<string>;
}

async function makePlace(): Promise<Place> {
  const home = await mkdtemp(path.join(tmpdir(), "clear-"));
  const folder = path.join(home, ".plugboard");
  await mkdir(folder, { mode: 0o700 });
  return {
    folder,
    location: path.join(folder, "plugboard.db"),
    host: (options) => createHost({ home, cwd: home, watch: false, ...options }),
    files: () => textsIn(folder),
    [Symbol.asyncDispose]: () => rm(home, { recursive: true }),
  };
}

async function textsIn(folder: string): Promise<string> {
  const found = await readdir(folder, { recursive: true, withFileTypes: true });
  const files = found.filter((item) => item.isFile());
  const texts = files.map((item) => readFile(path.join(item.parentPath, item.name), "latin1"));
  return (await Promise.all(texts)).join("\n");
}

/** A store as a host without a vault has left it: what entries were before is still in the file. */
async function writeClearStore(location: string, count: number): Promise<void> {
  const names = Array.from({ length: count }, (_, index) => `s${index}`);
  {
    await using store = await openStore({ location });
    for (const [index, name] of names.entries())
      await store.servers.put({ id: name, name, config: { name, ...clearEntry(index) } });
  }
  if (location.startsWith("postgres:")) return;
  const database = new DatabaseSync(location);
  database.exec("PRAGMA secure_delete = OFF");
  const put = database.prepare("UPDATE mcp_servers SET config = ? WHERE id = ?");
  for (const pad of ["x".repeat(6_000), ""])
    for (const [index, name] of names.entries())
      put.run(
        JSON.stringify({ name, pad, ...clearEntry(index), ...(pad === "" && { pad: undefined }) }),
        name,
      );
  database.close();
}

async function givenTo(host: McpHost, name: string): Promise<{ env: object; args: string[] }> {
  const outcome = await host.session({ level: "yolo" }).call(`mcp__${name}__given`, {});
  expect(outcome).toMatchObject({ ok: true });
  return JSON.parse(outcome.text) as { env: object; args: string[] };
}

/** What the host warns of, apart from the tools of its servers. */
function warningsOf(host: McpHost): string[] {
  const texts: string[] = [];
  host.on("warning", ({ text, serverName }) => {
    if (serverName === undefined) texts.push(text);
  });
  return texts;
}

function identityOf(host: McpHost): string {
  const { config } = host.server("s0");
  return consentIdOf(launchFacts(config), config.provenance);
}

function pinsOf(location: string, identity: string): number {
  const database = new DatabaseSync(location);
  const pins = database.prepare("SELECT * FROM pins WHERE identity = ?").all(identity);
  database.close();
  return pins.length;
}

describe("secrets that lie in clear text in a store", () => {
  it("STO-09, I6: are moved to the vault when it is opened, and nothing is left of them", async () => {
    await using place = await makePlace();
    await writeClearStore(place.location, 3);
    expect(await place.files()).toContain(canary(0));
    {
      await using host = await place.host();
      const warnings = warningsOf(host);
      expect(host.servers().map(({ name }) => name)).toEqual(["s0", "s1", "s2"]);
      expect(await place.files()).not.toMatch(/kestrel/);
      expect(await givenTo(host, "s1")).toMatchObject({
        env: { API_TOKEN: canary(1), MODE: "fast" },
        args: ["--token", `${canary(1)}-arg`],
      });
      expect(warnings).toEqual([]);
    }
    await using host = await place.host();
    expect(await givenTo(host, "s2")).toMatchObject({ env: { API_TOKEN: canary(2) } });
    expect(await place.files()).not.toMatch(/kestrel/);
  });

  it("what was accepted and allowed for a server stays so", async () => {
    await using place = await makePlace();
    const plain = { command: process.execPath, args: [leaking], env: { MODE: "fast" } };
    await using store = await openStore({ location: place.location });
    await store.servers.put({ id: "s0", name: "s0", config: plain });
    {
      await using host = await place.host();
      await host.connect("s0");
      await host.grants.allow({ agent: "main", server: "s0" });
    }
    // The same server with a secret, under the id that its consents would have had.
    const database = new DatabaseSync(place.location);
    const { identity } = database.prepare("SELECT identity FROM pins").get() as {
      identity: string;
    };
    database.close();
    const sealedBefore = { ...plain, env: { MODE: "fast", API_TOKEN: canary(0) } };
    await store.servers.put({ id: "s0", name: "s0", config: sealedBefore });
    const provenance = { layer: "store" } as const;
    const config = parseServerEntry("s0", sealedBefore, { provenance });
    const clearId = consentIdOf(launchFacts(config), provenance);
    const rename = new DatabaseSync(place.location);
    for (const table of ["pins", "grants", "catalog"])
      rename.prepare(`UPDATE ${table} SET identity = ? WHERE identity = ?`).run(clearId, identity);
    rename.close();

    await using host = await place.host();
    expect(host.server("s0").toolCount).toBeGreaterThan(0);
    expect(host.grants.list({ server: "s0" })).toContainEqual(
      expect.objectContaining({ agent: "main", server: "s0" }),
    );
    const [count, copies] = [clearId, identityOf(host)].map((id) => pinsOf(place.location, id));
    expect(count).toBeGreaterThan(0);
    expect(copies).toBe(count);
  });

  it("a row stays as it is, and works, while the vault cannot be opened; a warning says why", async () => {
    await using place = await makePlace();
    await writeClearStore(place.location, 1);
    {
      const env = { ...process.env, PLUGBOARD_SECRET_KEY: "no key" };
      await using host = await place.host({ env });
      const warnings = warningsOf(host);
      await host.reload();
      expect(await givenTo(host, "s0")).toMatchObject({ env: { API_TOKEN: canary(0) } });
      expect(warnings).toEqual([
        expect.stringMatching(
          /^The secrets of "s0" lie in clear text there, because .*PLUGBOARD_SECRET_KEY/,
        ),
      ]);
      expect(warnings.join("")).not.toContain("kestrel");
    }
    await using host = await place.host();
    expect(await place.files()).not.toMatch(/kestrel/);
    expect(await givenTo(host, "s0")).toMatchObject({ env: { API_TOKEN: canary(0) } });
  });

  it("a store without them is left alone: nothing is written, and no vault is made", async () => {
    await using place = await makePlace();
    {
      await using store = await openStore({ location: place.location });
      const config = { command: "run", env: { TOKEN: "${TOKEN}", MODE: "fast" } };
      await store.servers.put({ id: "s", name: "s", config });
    }
    const before = await readFile(place.location);
    {
      await using host = await place.host();
      expect(host.servers()).toHaveLength(1);
    }
    expect(await readFile(place.location)).toEqual(before);
    const own = (await readdir(place.folder)).filter((name) => !/-(?:wal|shm)$/.test(name));
    expect(own).toEqual(["plugboard.db"]);
  });

  it("STO-09: what another program writes into the table later is moved when it is read", async () => {
    await using place = await makePlace();
    await using host = await place.host();
    await host.add("first", { command: "run" });
    const database = new DatabaseSync(place.location);
    database
      .prepare("INSERT INTO mcp_servers VALUES (?, ?, ?, ?)")
      .run("b7a1", "Other Server", JSON.stringify(clearEntry(5)), "idle");
    database.close();
    await host.reload();
    expect(host.server("Other Server").config.transport).toMatchObject({
      env: { API_TOKEN: expect.stringContaining("${secret:entry/b7a1/env.API_TOKEN@") as unknown },
    });
    await host.close();
    expect(await place.files()).not.toMatch(/kestrel/);
  });

  it("an erasure that was not finished is finished by the next host", async () => {
    await using place = await makePlace();
    await writeClearStore(place.location, 1);
    await (await place.host()).close();
    const database = new DatabaseSync(place.location);
    // As it is left by a process that ends between the last row and the erasure.
    database.exec("CREATE TABLE left_over (text TEXT); PRAGMA secure_delete = OFF");
    database.prepare("INSERT INTO left_over VALUES (?)").run(`${canary(7)} ${"x".repeat(9_000)}`);
    database.exec("DROP TABLE left_over; INSERT INTO revisions VALUES ('erasure', 0)");
    database.close();
    expect(await place.files()).toContain(canary(7));
    await (await place.host()).close();
    expect(await place.files()).not.toMatch(/kestrel/);
    const marks = new DatabaseSync(place.location);
    expect(marks.prepare("SELECT * FROM revisions WHERE area = 'erasure'").all()).toEqual([]);
    marks.close();
  });

  it(
    "STO-08, STO-09: a host that is killed while it moves them loses none",
    { timeout: 300_000 },
    async () => {
      await using place = await makePlace();
      const servers = 5;
      await writeClearStore(place.location, servers);
      const origin = path.join(path.dirname(place.folder), "origin");
      await cp(place.folder, origin, { recursive: true });
      let midway = 0;
      for (let kill = 0; kill < 20; kill += 1) {
        const moment = {
          steps: Math.floor(Math.random() * (2 * servers + 3)),
          delayMs: Math.random() * 12,
        };
        await moveAndKill(place.folder, moment);
        const left = await readRows(place.location);
        const sealed = left.filter(({ config }) => namesIn(config).length > 0);
        expect(left).toHaveLength(servers);
        await expectSecrets(place, left);
        if (sealed.length > 0 && sealed.length < servers) midway += 1;
        if (sealed.length < servers) continue;
        // All is moved: whoever opens it next finds and leaves nothing.
        await (await place.host()).close();
        expect(await place.files(), JSON.stringify(moment)).not.toMatch(/kestrel/);
        await expectSecrets(place, await readRows(place.location));
        await rm(place.folder, { recursive: true });
        await cp(origin, place.folder, { recursive: true });
      }
      expect(midway).toBeGreaterThan(0);
      await (await place.host()).close();
      expect(await place.files()).not.toMatch(/kestrel/);
      await expectSecrets(place, await readRows(place.location));
    },
  );
});

type Row = { readonly name: string; readonly config: Readonly<Record<string, unknown>> };

async function readRows(location: string): Promise<readonly Row[]> {
  await using store = await openStore({ location });
  return await store.servers.list();
}

/** Every secret is where its row says: in it, or in the vault. */
async function expectSecrets({ folder }: Place, rows: readonly Row[]): Promise<void> {
  await using opened = openVault({ folder });
  for (const { name, config } of rows) {
    const index = Number(name.slice(1));
    let text = JSON.stringify(config);
    for (const secret of namesIn(config))
      text = text.replace(`\${secret:${secret}}`, String(await opened.vault.read(secret)));
    expect(text).toContain(`"API_TOKEN":"${canary(index)}"`);
    expect(text).toContain(`"--token","${canary(index)}-arg"`);
  }
}

async function moveAndKill(
  folder: string,
  { steps, delayMs }: { readonly steps: number; readonly delayMs: number },
): Promise<void> {
  const program = path.join(root, "tests/fixtures/secrets/moving-host.mjs");
  const args = ["--import", "tsx", program, folder, String(steps), String(delayMs)];
  const child = spawn(process.execPath, args, {
    cwd: root,
    stdio: ["ignore", "ignore", "inherit"],
  });
  await new Promise((resolve) => {
    child.once("close", resolve);
  });
  if (child.signalCode !== "SIGKILL") throw new Error("the host ended by itself");
}

const source = findPostgres();
describe.skipIf(source.kind === "none")("secrets that lie in clear text in Postgres", () => {
  let server: TestPostgres;
  beforeAll(async () => {
    server = await startPostgres(source);
  }, 60_000);
  afterAll(() => server[Symbol.asyncDispose]());

  it("STO-09: are moved, and a warning names the servers whose credentials are to be replaced", async () => {
    await using place = await makePlace();
    const location = await server.createDatabase();
    await writeClearStore(location, 2);
    // A shared database needs a key that all of its hosts have.
    const env = { ...process.env, PLUGBOARD_SECRET_KEY: Buffer.alloc(32, 7).toString("base64") };
    {
      await using host = await place.host({ store: location, env });
      const warnings = warningsOf(host);
      expect(await givenTo(host, "s1")).toMatchObject({ env: { API_TOKEN: canary(1) } });
      expect(warnings).toEqual([
        expect.stringMatching(/^The secrets of "s0", "s1" lay in clear text .* replace these/),
      ]);
    }
    expect(JSON.stringify(await readRows(location))).not.toContain("kestrel");
    await using host = await place.host({ store: location, env });
    const warnings = warningsOf(host);
    expect(await givenTo(host, "s0")).toMatchObject({ env: { API_TOKEN: canary(0) } });
    expect(warnings).toEqual([]);
  });
});
