import { mkdir, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";

import { describe, expect, it } from "vitest";

import { createHost, type HostOptions, type McpHost } from "../../src/index.ts";
import { openStore } from "../../src/store/open-store.ts";
import { testServerEntry } from "../../src/testing/index.ts";
import { revealAll } from "../../src/text/secrets/secret-text.ts";
import { DatabaseSync } from "../fixtures/store/database-sync.ts";
import { entering } from "./entering.ts";

interface Place extends AsyncDisposable {
  readonly root: string;
  readonly storeFile: string;
  readonly projectFile: string;
  write(name: string, content: unknown): Promise<string>;
  host(options?: HostOptions): Promise<McpHost>;
}

async function makePlace(): Promise<Place> {
  const root = await mkdtemp(path.join(tmpdir(), "import-"));
  const [home, cwd] = [path.join(root, "home"), path.join(root, "work")];
  await mkdir(home);
  await mkdir(cwd);
  return {
    root,
    storeFile: path.join(home, ".plugboard", "plugboard.db"),
    projectFile: path.join(cwd, ".plugboard", "mcp.json"),
    async write(name, content) {
      const file = path.join(root, name);
      await writeFile(file, typeof content === "string" ? content : JSON.stringify(content));
      return file;
    },
    host: (options) => createHost({ home, cwd, watch: false, ...options }),
    [Symbol.asyncDispose]: () => rm(root, { recursive: true }),
  };
}

function kuseDatabase(file: string, sql: string): void {
  const database = new DatabaseSync(file);
  database.exec(sql);
  database.close();
}

const realTable = `CREATE TABLE mcp_servers (id TEXT PRIMARY KEY, name TEXT NOT NULL, server_url TEXT NOT NULL,
  oauth_client_id TEXT, oauth_client_secret TEXT, enabled INTEGER NOT NULL, created_at INTEGER, updated_at INTEGER);`;

describe("importConfig", () => {
  it("C-28 B-K13: takes over a database of Kuse, without its secrets in clear", async () => {
    await using place = await makePlace();
    const from = path.join(place.root, "settings.db");
    kuseDatabase(
      from,
      `${realTable}
      INSERT INTO mcp_servers VALUES ('1', 'zeta', 'https://z.example.com/mcp', 'client', 'hunter22-secret', 1, 1, 1);
      INSERT INTO mcp_servers VALUES ('2', 'alpha', 'http://localhost:3000', NULL, NULL, 0, 1, 1);
      INSERT INTO mcp_servers VALUES ('3', 'alpha', 'http://localhost:3001', NULL, NULL, 1, 1, 1);
      INSERT INTO mcp_servers VALUES ('4', 'broken', '', NULL, NULL, 1, 1, 1);`,
    );
    {
      await using host = await place.host();
      const states: string[] = [];
      host.on("server-state", ({ state }) => states.push(state));
      expect(await host.importConfig({ from })).toMatchObject({
        imported: ["alpha", "zeta"],
        skipped: [
          { name: "4", kind: "broken", reason: "it has neither config nor server_url" },
          {
            name: "alpha",
            kind: "broken",
            reason: expect.stringContaining("used twice") as unknown,
          },
        ],
        variables: [],
        notes: ['zeta: "auth.clientSecret" is a secret: it is kept sealed, apart from the entry'],
      });
      expect(host.servers().map(({ name, state }) => [name, state])).toEqual([
        ["alpha", "disabled"],
        ["zeta", "idle"],
      ]);
      expect(states).toEqual([]);
    }
    await using host = await place.host();
    expect(host.server("zeta")).toMatchObject({
      provenance: { layer: "store" },
      config: {
        transport: { url: "https://z.example.com/mcp" },
        auth: {
          type: "oauth",
          clientId: "client",
          clientSecret: expect.stringMatching(
            /^\$\{secret:entry\/zeta\/auth\.clientSecret@/,
          ) as unknown,
        },
        importedFrom: from,
      },
    });
    expect(await readFile(place.storeFile, "latin1")).not.toContain("hunter22");
  });

  it("starts none of them, eager ones included, also when its files are read again", async () => {
    await using place = await makePlace();
    const eager = { ...testServerEntry(), start: "eager" };
    const from = await place.write("other.json", { mcpServers: { eager } });
    await using host = await place.host({ watch: true });
    const states: string[] = [];
    host.on("server-state", ({ state }) => states.push(state));
    expect(await host.importConfig({ from })).toMatchObject({ imported: ["eager"] });
    await host.reload();
    await host.add("other", testServerEntry());
    expect(host.server("eager").state).toBe("idle");
    expect(states).toEqual([]);
    await host.connect("eager");
    expect(host.server("eager").state).toBe("connected");
  });

  it("decision 5: an eager one of the project starts once a person has approved it", async () => {
    await using place = await makePlace();
    const eager = { ...testServerEntry(), start: "eager" };
    const from = await place.write("other.json", { mcpServers: { eager } });
    await using host = await place.host();
    await host.importConfig({ from, scope: "project" });
    expect(host.server("eager").state).toBe("pending");
    const connected = entering(host, "connected");
    await host.approve("eager");
    await connected;
    expect(host.server("eager").state).toBe("connected");
  });

  it("STO-05: entries of the documented table keep what they say, and what makes no sense is skipped", async () => {
    await using place = await makePlace();
    const from = path.join(place.root, "settings.db");
    const entry = { name: "other", ...testServerEntry(), timeout: 5 };
    kuseDatabase(
      from,
      `CREATE TABLE mcp_servers (id TEXT PRIMARY KEY, name TEXT, config JSON, status TEXT);
      INSERT INTO mcp_servers VALUES ('1', 'tools', '${JSON.stringify(entry)}', 'Connected');
      INSERT INTO mcp_servers VALUES ('2', 'both', '{"command":"a","url":"http://b"}', 'Error');
      INSERT INTO mcp_servers VALUES ('3', 'text', 'no json', 'Error');`,
    );
    await using host = await place.host();
    const result = await host.importConfig({ from });
    expect(result).toMatchObject({
      imported: ["tools"],
      skipped: [
        { name: "3" },
        { name: "both", reason: expect.stringContaining('"url"') as unknown },
      ],
    });
    expect(host.server("tools")).toMatchObject({ state: "idle", config: { callTimeoutMs: 5_000 } });
    await host.connect("tools");
  });

  it("CFG-01: takes over files of other hosts, comments and all; a name that exists is left alone", async () => {
    await using place = await makePlace();
    const claude = await place.write(
      "claude.json",
      `{ "numStartups": 3, // theirs
        "mcpServers": {
          "files": { "command": "./serve", "env": { "TOKEN": "literal-token-1" } },
          "mine": { "command": "theirs" },
          "oauth": { "url": "https://o.example.com", "auth": { "type": "oauth", "clientId": "c", "clientSecret": "shh-secret" } },
          "named": { "url": "https://n.example.com", "auth": { "type": "oauth", "clientId": "c", "clientSecret": "\${SECRET}" } },
        } }`,
    );
    const vscode = await place.write("mcp.json", {
      inputs: [],
      servers: { web: { type: "http", url: "https://w.example.com/mcp" }, files: { command: "x" } },
    });
    await using host = await place.host({ servers: { mine: testServerEntry() } });
    expect(await host.importConfig({ from: "../claude.json", dryRun: true })).toMatchObject({
      imported: ["files", "oauth", "named"],
    });
    expect(host.servers()).toHaveLength(1);
    expect(await host.importConfig({ from: claude })).toMatchObject({
      imported: ["files", "oauth", "named"],
      skipped: [
        { name: "mine", kind: "exists", reason: "there is a server of that name already (code)" },
      ],
      variables: [],
      notes: [
        expect.stringContaining('command "./serve" is kept as') as unknown,
        expect.stringContaining('"env.TOKEN" is a secret') as unknown,
        expect.stringContaining('"auth.clientSecret" is a secret') as unknown,
      ],
    });
    expect(revealAll(host.server("files").config.transport)).toMatchObject({
      command: path.join(place.root, "serve"),
      env: { TOKEN: expect.stringContaining("${secret:entry/files/env.TOKEN@") as unknown },
    });
    expect(host.server("oauth").config.auth).toEqual({
      type: "oauth",
      clientId: "c",
      clientSecret: expect.stringContaining("${secret:entry/oauth/auth.clientSecret@") as unknown,
    });
    expect(host.server("named").config.auth).toEqual({
      type: "oauth",
      clientId: "c",
      clientSecret: "${SECRET}",
    });
    expect(await host.importConfig({ from: vscode })).toMatchObject({
      imported: ["web"],
      skipped: [{ name: "files" }],
    });
    expect(host.server("mine").provenance.layer).toBe("code");
  });

  it("a project's file gets no secrets, and its servers wait for approval", async () => {
    await using place = await makePlace();
    const from = await place.write("mcp.json", {
      mcpServers: {
        plain: { command: "serve", env: { LOG_LEVEL: "debug", KEY: "${KEY}" } },
        env: { command: "serve", env: { API_KEY: "sk-literal-value" } },
        args: { command: "serve", args: ["--token", "sk-literal-value"] },
        url: { url: "https://example.com/?api_key=sk-literal-value" },
        headers: { url: "https://h.example.com", headers: { Authorization: "Bearer abcdefgh" } },
        bearer: { url: "https://b.example.com", auth: { type: "bearer", token: "abcdefgh" } },
      },
    });
    await using host = await place.host();
    const { imported, servers, variables } = await host.importConfig({ from, scope: "project" });
    expect(imported).toEqual(["plain", "env", "args", "url", "headers", "bearer"]);
    const entries = Object.fromEntries(servers.map(({ name, entry }) => [name, entry]));
    expect(entries).toMatchObject({
      plain: { env: { LOG_LEVEL: "debug", KEY: "${KEY}" } },
      env: { env: { API_KEY: "${API_KEY}" } },
      args: { args: ["--token", "${ARGS_TOKEN}"], expandArgs: true },
      url: { url: "https://example.com/?api_key=${URL_API_KEY}" },
      headers: { headers: { Authorization: "Bearer ${HEADERS_TOKEN}" } },
      bearer: { auth: { type: "bearer", token: "${BEARER_TOKEN}" } },
    });
    expect(variables.map(({ name }) => name)).toEqual([
      "API_KEY",
      "ARGS_TOKEN",
      "URL_API_KEY",
      "HEADERS_TOKEN",
      "BEARER_TOKEN",
    ]);
    expect(host.servers().map(({ state }) => state)).toEqual(imported.map(() => "pending"));
    const written = await readFile(place.projectFile, "utf8");
    expect(written).not.toMatch(/sk-literal-value|abcdefgh/);
  });

  it("a stored entry that cannot be read is not overwritten", async () => {
    await using place = await makePlace();
    const config = { command: "a", url: "http://b" };
    await mkdir(path.dirname(place.storeFile), { mode: 0o700 });
    {
      await using store = await openStore({ location: place.storeFile });
      await store.servers.put({ id: "tools", name: "tools", config });
    }
    const from = await place.write("mcp.json", { servers: { tools: testServerEntry() } });
    await using host = await place.host();
    expect(await host.importConfig({ from })).toMatchObject({
      imported: [],
      skipped: [{ name: "tools" }],
    });
    await using store = await openStore({ location: place.storeFile });
    expect(await store.servers.list()).toMatchObject([{ name: "tools", config }]);
  });

  it("what cannot be used as a whole is a typed error, and changes nothing", async () => {
    await using place = await makePlace();
    await using host = await place.host();
    const wrong = "config_invalid";
    await expect(host.importConfig({ from: "nowhere.json" })).rejects.toMatchObject({
      code: wrong,
      message: `there is no file ${path.join(place.root, "work", "nowhere.json")}`,
    });
    for (const text of ["not json", '{"other": 1}', "[1]", '{"servers": 5}', ""]) {
      const from = await place.write("bad.json", text);
      await expect(host.importConfig({ from }), text).rejects.toMatchObject({ code: wrong });
    }
    await expect(host.importConfig({ from: place.root })).rejects.toMatchObject({ code: wrong });
    const database = path.join(place.root, "other.db");
    kuseDatabase(database, "CREATE TABLE other (id TEXT)");
    await expect(host.importConfig({ from: database })).rejects.toMatchObject({ code: wrong });
    const broken = await place.write("broken.db", `SQLite format 3\0${"x".repeat(4_000)}`);
    await expect(host.importConfig({ from: broken })).rejects.toMatchObject({
      code: "store_failed",
    });
    await using bare = await createHost({ config: false });
    const from = await place.write("good.json", { servers: { a: testServerEntry() } });
    await expect(bare.importConfig({ from })).rejects.toMatchObject({ code: "store_failed" });
    expect(
      await bare.importConfig({ from: await place.write("none.json", { servers: {} }) }),
    ).toMatchObject({ imported: [], skipped: [], notes: [] });
    expect(host.servers()).toEqual([]);
  });
});
