import {
  chmodSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import path from "node:path";

import { describe, expect, it } from "vitest";

import { DatabaseSync } from "../fixtures/store/database-sync.ts";
import { canary, type SourceFixture, sourceFixtures } from "./import-fixtures.ts";
import { CliSandbox, demoEntry } from "./run-cli.ts";

interface ImportObject {
  readonly servers: readonly {
    readonly name: string;
    readonly scope: string;
    readonly path: string;
    readonly entry: Readonly<Record<string, unknown>>;
  }[];
  readonly skipped: readonly { readonly name: string; readonly kind: string }[];
}

function write(file: string, text: string): string {
  mkdirSync(path.dirname(file), { recursive: true });
  writeFileSync(file, text);
  return file;
}

function place(sandbox: CliSandbox, { file, in: folder, text }: SourceFixture): string {
  return write(path.join(sandbox[folder], file), text.replaceAll("CWD", sandbox.cwd));
}

/** Everything below a folder that is not the source itself, as one text. */
function allFiles(folder: string, source: string): string {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => path.join(entry.parentPath, entry.name))
    .filter((file) => file !== source)
    .map((file) => readFileSync(file, "latin1"))
    .join("\n");
}

async function importJson(sandbox: CliSandbox, ...words: string[]): Promise<ImportObject> {
  const { stdout } = await sandbox.run(["import", "--json", ...words]);
  return JSON.parse(stdout) as ImportObject;
}

describe("plugboard import", () => {
  it.each(sourceFixtures.map((fixture) => [fixture.source, fixture] as const))(
    "CFG-20 ENV-12: %s: keeps its servers, names what is lost or broken, and copies no secret",
    async (source, fixture) => {
      const sandbox = new CliSandbox();
      const file = place(sandbox, fixture);
      const names = Object.keys(fixture.entries);
      const expected = JSON.parse(
        JSON.stringify(fixture.entries).replaceAll("CWD", sandbox.cwd),
      ) as Readonly<Record<string, object>>;
      if (source === "claude-code") write(path.join(sandbox.cwd, "tools/serve.js"), "");

      // A dry run says exactly what is written afterwards, and writes nothing.
      const dry = await importJson(sandbox, source, "--dry-run");
      expect(existsSync(path.join(sandbox.home, ".plugboard"))).toBe(false);
      expect(existsSync(path.join(sandbox.cwd, ".plugboard"))).toBe(false);
      const shown = Object.fromEntries(dry.servers.map(({ name, entry }) => [name, entry]));
      const written = Object.fromEntries(
        Object.entries(expected).map(([name, entry]) => [
          name,
          { ...entry, importedFrom: expect.stringMatching(/^(?:~\/)?\.?[\w./]+:\d+$/) as string },
        ]),
      );
      expect(shown).toEqual(written);

      const { stdout, stderr, exitCode } = await sandbox.run(["import", source]);
      for (const name of names) expect(stdout).toContain(`✓ imported ${name} (`);
      for (const text of fixture.told) expect(stderr).toContain(text);
      expect(exitCode).toBe(2);
      expect(stdout + stderr).not.toContain(canary);
      for (const folder of [sandbox.home, sandbox.cwd])
        expect(allFiles(folder, file)).not.toContain(canary);

      // What is kept is what the dry run showed, and lands where the file belongs.
      const scope = fixture.in === "cwd" ? "project" : "store";
      const { stdout: listed } = await sandbox.run(["list", "--json"]);
      const { servers } = JSON.parse(listed) as { servers: { name: string; state: string }[] };
      const states = new Map(servers.map(({ name, state }) => [name, state]));
      for (const name of names) {
        const kept = await sandbox.run(["get", name, "--json"]);
        const { servers: found } = JSON.parse(kept.stdout) as {
          servers: { scope: string; entry: object; replaces: { scope: string }[] }[];
        };
        if (source !== "nexus3") expect(found[0]?.scope).toBe(scope);
        else expect(found[0]?.replaces.map((it) => it.scope)).toContain("store");
        const isOff = "enabled" in (expected[name] ?? {});
        const waiting = scope === "project" ? "pending" : "idle";
        expect(states.get(name), name).toBe(isOff ? "disabled" : waiting);
      }

      // The second import changes nothing.
      const before = fixture.in === "cwd" ? sandbox.read(".plugboard/mcp.json") : "";
      const again = await importJson(sandbox, source);
      expect(again.servers).toEqual([]);
      const kinds = again.skipped.filter(({ name }) => names.includes(name));
      expect(kinds.map(({ kind }) => kind)).toEqual(names.map(() => "same"));
      if (fixture.in === "cwd") expect(sandbox.read(".plugboard/mcp.json")).toBe(before);
    },
  );

  it("C-28 B-K13: kuse: takes a database over, without its secrets in clear", async () => {
    const sandbox = new CliSandbox();
    const file = path.join(sandbox.home, ".kuse-cowork/settings.db");
    mkdirSync(path.dirname(file));
    const database = new DatabaseSync(file);
    database.exec(`CREATE TABLE mcp_servers (id TEXT PRIMARY KEY, name TEXT NOT NULL, server_url TEXT NOT NULL,
        oauth_client_id TEXT, oauth_client_secret TEXT, enabled INTEGER NOT NULL, created_at INTEGER, updated_at INTEGER);
      INSERT INTO mcp_servers VALUES ('1', 'zeta', 'https://z.example.com/mcp', 'client', '${canary}', 1, 1, 1);
      INSERT INTO mcp_servers VALUES ('2', 'off', 'http://localhost:3000', NULL, NULL, 0, 1, 1);
      INSERT INTO mcp_servers VALUES ('3', 'broken', '', NULL, NULL, 1, 1, 1);`);
    database.close();
    const { stdout, stderr, exitCode } = await sandbox.run(["import", "kuse"]);
    expect(stdout).toBe(
      "✓ imported off (user scope) from ~/.kuse-cowork/settings.db\n✓ imported zeta (user scope) from ~/.kuse-cowork/settings.db\n",
    );
    expect(stderr).toContain("settings.db — 3: it has neither config nor server_url");
    expect(stderr).toContain('zeta: "auth.clientSecret" is a secret: it is kept sealed');
    expect(exitCode).toBe(2);
    expect(allFiles(sandbox.home, file)).not.toContain(canary);
    expect((await sandbox.run(["get", "zeta"])).stdout).toMatch(
      /^ {2}imported +~\/\.kuse-cowork\/settings\.db$/m,
    );
  });

  it("says what was found where, and how to import it; starts and writes nothing", async () => {
    const sandbox = new CliSandbox();
    for (const fixture of sourceFixtures) place(sandbox, fixture);
    write(path.join(sandbox.cwd, ".cursor/mcp.json"), "{ no json");
    const { stdout, stderr, exitCode } = await sandbox.run(["import"]);
    const rows = stdout.split("\n").map((row) => row.replaceAll(/ {2,}/g, " | "));
    expect(rows).toEqual([
      "SOURCE | SERVERS | SCOPE | FILE | NOTE",
      expect.stringMatching(/^cursor \| – \| project \| \.cursor\/mcp\.json \| ✗ 1:3 /),
      "vscode | 2 | project | .vscode/mcp.json | 2 new, 1 cannot be used",
      "opencode | 2 | project | opencode.jsonc | 2 new, 1 cannot be used",
      "claude-desktop | 2 | user | ~/.config/Claude/claude_desktop_config.json | 2 new, 1 cannot be used",
      "claude-code | 3 | user | ~/.claude.json | 3 new, 1 cannot be used",
      "cursor | 3 | user | ~/.cursor/mcp.json | 3 new, 1 cannot be used",
      "codex | 2 | user | ~/.codex/config.toml | 2 new, 1 cannot be used",
      "windsurf | 2 | user | ~/.codeium/windsurf/mcp_config.json | 2 new, 1 cannot be used",
      "gemini | 2 | user | ~/.gemini/settings.json | 2 new, 1 cannot be used",
      "nexus3 | 2 | user | ~/.nexus3/mcp.json | read from there already, 1 cannot be used",
      "",
    ]);
    expect(stderr).toBe(
      "Import one of them: plugboard import vscode   (--dry-run shows what would be written)\n",
    );
    expect(exitCode).toBe(0);
    expect(existsSync(path.join(sandbox.home, ".plugboard"))).toBe(false);
    const nothing = await new CliSandbox().run(["import"]);
    expect(nothing).toMatchObject({
      stdout: "No program with MCP servers was found.\n",
      exitCode: 0,
    });
  });

  it("keeps what is configured under the same name, and replaces it only when told to", async () => {
    const sandbox = new CliSandbox().configureUser({ mine: demoEntry });
    const entries = { mine: { command: "theirs" }, other: { command: "one" } };
    const file = write(path.join(sandbox.cwd, "a.json"), JSON.stringify({ mcpServers: entries }));
    const first = await sandbox.run(["import", "a.json"]);
    expect(first.stdout).toBe("✓ imported other (user scope) from a.json:1\n");
    expect(first.stderr).toContain(
      "– mine: there is a server of that name already (~/.plugboard/mcp.json:3); left alone\n",
    );
    expect(first.exitCode).toBe(0);

    write(file, JSON.stringify({ mcpServers: { ...entries, other: { command: "two" } } }));
    const kept = await sandbox.run(["import", "a.json"]);
    expect(kept.stdout).toBe("Nothing was imported.\n");
    expect((await sandbox.run(["get", "other"])).stdout).toMatch(/runs +one\n/);
    const replaced = await sandbox.run(["import", "a.json", "--overwrite"]);
    expect(replaced.stdout).toBe("✓ replaced other (user scope) from a.json:1\n");
    expect(replaced.stderr).toContain("in ~/.plugboard/mcp.json:3: change it there");
    expect((await sandbox.run(["get", "other"])).stdout).toMatch(/runs +two\n/);
    expect((await sandbox.run(["get", "mine"])).stdout).toContain("run-stdio.cjs demo");
  });

  it("one variable never stands for two secrets, nor for another one of the shell", async () => {
    const sandbox = new CliSandbox();
    const server = (token: string) => ({ command: "x", env: { API_TOKEN: token } });
    const servers = {
      one: server("first-1234567"),
      two: server("other-7654321"),
      again: server("first-1234567"),
    };
    write(path.join(sandbox.cwd, "a.json"), JSON.stringify({ servers }));
    const words = ["import", "a.json", "--scope", "project", "--dry-run", "--json"];
    const run = async (env: Readonly<Record<string, string>>) => {
      const { stdout } = await sandbox.run(words, { env });
      const { variables } = JSON.parse(stdout) as { variables: { name: string; isSet: boolean }[] };
      return variables.map(({ name, isSet }) => [name, isSet]);
    };
    expect(await run({})).toEqual([
      ["API_TOKEN", false],
      ["TWO_API_TOKEN", false],
      ["API_TOKEN", false],
    ]);
    expect(await run({ API_TOKEN: "other-7654321" })).toEqual([
      ["ONE_API_TOKEN", false],
      ["API_TOKEN", true],
      ["AGAIN_API_TOKEN", false],
    ]);
    await sandbox.run(["import", "a.json", "one", "--scope", "project"]);
    words.splice(2, 0, "two");
    expect(await run({})).toEqual([["TWO_API_TOKEN", false]]);
  });

  it("references stay what they are, beside secrets and by themselves", async () => {
    const sandbox = new CliSandbox();
    const url = (query: string) => ({ url: `https://example.com/mcp?${query}` });
    const servers = {
      pure: url("api_key=${API_KEY}&token=${env:TOKEN}"),
      mixed: url(`token=${canary}&region=\${REGION}`),
      fallback: url(`api_key=\${API_KEY:-${canary}}&x=1`),
      words: {
        command: "x",
        args: ["--api-key=${API_KEY}", `--token=${canary}`, "${workspaceFolder}"],
      },
      env: { command: "x", env: { A_TOKEN: "Bearer ${TOKEN}", B_TOKEN: `\${B:-${canary}}` } },
    };
    write(path.join(sandbox.cwd, "a.json"), JSON.stringify({ servers }));
    const scope = ["--scope", "project"];
    const { servers: shown } = await importJson(sandbox, "a.json", "--dry-run", ...scope);
    expect(Object.fromEntries(shown.map(({ name, entry }) => [name, entry]))).toMatchObject({
      pure: servers.pure,
      mixed: url("token=${MIXED_TOKEN}&region=${REGION}"),
      fallback: url("api_key=${FALLBACK_API_KEY}&x=1"),
      words: {
        args: ["--api-key=$${API_KEY}", "--token=${WORDS_TOKEN}", "${workspaceFolder}"],
        expandArgs: true,
      },
      env: { env: { A_TOKEN: "Bearer ${TOKEN}", B_TOKEN: "${B_TOKEN}" } },
    });
    expect(JSON.stringify(shown)).not.toContain(canary);
    const { stderr } = await sandbox.run(["import", "a.json", "words", "--dry-run", ...scope]);
    expect(stderr).toContain("words: argument 2 looks like a credential");
    expect(stderr).toContain("words: argument 2 held a secret");

    // What is stored is sealed, and refers to the same variables.
    const { servers: sealed } = await importJson(sandbox, "a.json");
    expect(Object.fromEntries(sealed.map(({ name, entry }) => [name, entry]))).toMatchObject({
      pure: servers.pure,
      mixed: url("token=${secret:entry/mixed/url}&region=${REGION}"),
      fallback: url("api_key=${secret:entry/fallback/url}&x=1"),
      words: {
        args: [
          "--api-key=$${API_KEY}",
          "--token=${secret:entry/words/args.1}",
          "${workspaceFolder}",
        ],
        expandArgs: true,
      },
      env: { env: { A_TOKEN: "Bearer ${TOKEN}", B_TOKEN: "${secret:entry/env/env.B_TOKEN}" } },
    });
    expect(JSON.stringify(sealed)).not.toContain(canary);
    expect(allFiles(sandbox.home, "")).not.toContain(canary);
  });

  it("PRM-21: what lands in the project waits for approval, and keeps comments and relative paths", async () => {
    const sandbox = new CliSandbox();
    const entry = { command: "./bin/serve", args: ["./data"], cwd: "tools" };
    write(
      path.join(sandbox.cwd, ".cursor/mcp.json"),
      JSON.stringify({ mcpServers: { near: entry } }),
    );
    write(path.join(sandbox.cwd, ".plugboard/mcp.json"), '{\n  // ours\n  "mcpServers": {}\n}\n');
    const { stdout, stderr } = await sandbox.run(["import", "cursor"]);
    expect(stdout).toBe("✓ imported near (project scope) from .cursor/mcp.json:1\n");
    expect(stderr).toContain("Those of the project wait for approval. Next: plugboard list\n");
    const text = sandbox.read(".plugboard/mcp.json");
    expect(text).toContain("// ours");
    expect(JSON.parse(text.replace("// ours", ""))).toEqual({
      mcpServers: { near: { ...entry, importedFrom: ".cursor/mcp.json:1" } },
    });
    expect((await sandbox.run(["list"])).stdout).toMatch(/^near +⏸ not approved/m);
  });

  it.each(["user", "project"])("two imports at once lose nothing: scope %s", async (scope) => {
    const sandbox = new CliSandbox();
    const files = ["one", "two"];
    for (const file of files) {
      const own = ["a", "b", "c"].map((name) => [`${file}-${name}`, { command: name }]);
      const servers = { ...Object.fromEntries(own), both: { command: file } } as object;
      write(path.join(sandbox.cwd, `${file}.json`), JSON.stringify({ servers }));
    }
    const results = await Promise.all(
      files.map((file) => sandbox.runAsProcess(["import", `${file}.json`, "--scope", scope])),
    );
    for (const { exitCode, stderr } of results)
      expect({ exitCode, hasFailed: stderr.includes("✗") }).toEqual({
        exitCode: 0,
        hasFailed: false,
      });
    const { stdout } = await sandbox.run(["list", "--json"]);
    const { servers } = JSON.parse(stdout) as { servers: { name: string; target: string }[] };
    expect(servers.map(({ name }) => name).toSorted()).toEqual([
      "both",
      "one-a",
      "one-b",
      "one-c",
      "two-a",
      "two-b",
      "two-c",
    ]);
    // The one that came first stays, and the other one says so.
    const kept = servers.find(({ name }) => name === "both")?.target;
    const [winner, loser] = kept === "one" ? results : results.toReversed();
    expect(winner?.stdout).toContain("imported both (");
    expect(loser?.stderr).toContain("– both: there is a server of that name already");
  });

  it.each([
    ["an empty file", (file: string) => write(file, ""), "the file is empty"],
    ["a file of spaces", (file: string) => write(file, " \n"), "the file is empty"],
    ["a folder", (file: string) => mkdirSync(file), "is not a regular file"],
    ["a link to itself", (file: string) => symlinkSync(file, file), "cannot be read (ELOOP)"],
    ["half a file", (file: string) => write(file, '{ "mcpServers": { "a": '), "a.json:1:24"],
    ["something else", (file: string) => write(file, '{ "name": 5 }'), "holds no servers"],
    ["no text", (file: string) => write(file, "\0\u0001binary"), "a.json:1:1"],
  ])("CFG-42: %s is one clear error, and changes nothing", async (_what, make, message) => {
    const sandbox = new CliSandbox();
    make(path.join(sandbox.cwd, "a.json"));
    const { stdout, stderr, exitCode } = await sandbox.run(["import", "a.json"]);
    expect({ stdout, exitCode }).toEqual({ stdout: "", exitCode: 2 });
    expect(stderr).toMatch(/^✗ /);
    expect(stderr).toContain(message);
    expect(existsSync(path.join(sandbox.home, ".plugboard"))).toBe(false);
  });

  it.skipIf(process.getuid?.() === 0)("CFG-42: a file that may not be read is named", async () => {
    const sandbox = new CliSandbox();
    const file = write(path.join(sandbox.cwd, "a.json"), "{}");
    chmodSync(file, 0o000);
    const { stderr, exitCode } = await sandbox.run(["import", "a.json"]);
    expect(stderr).toContain("cannot be read (EACCES)");
    expect(exitCode).toBe(2);
  });

  it("a broken file of a program does not keep its other file away", async () => {
    const sandbox = new CliSandbox();
    write(path.join(sandbox.cwd, ".cursor/mcp.json"), "{ no json");
    const entry = { mcpServers: { fine: { command: "x" } } };
    write(path.join(sandbox.home, ".cursor/mcp.json"), JSON.stringify(entry));
    const { stdout, stderr, exitCode } = await sandbox.run(["import", "cursor"]);
    expect(stdout).toBe("✓ imported fine (user scope) from ~/.cursor/mcp.json:1\n");
    expect(stderr).toContain("✗ .cursor/mcp.json:1:3 — ");
    expect(exitCode).toBe(2);
  });

  it("CFG-43: reads a byte order mark, and settings of five megabytes", async () => {
    const sandbox = new CliSandbox();
    const settings = {
      history: Array.from({ length: 5_000 }, (_, index) => `${index} ${"x".repeat(1_000)}`),
      mcpServers: { large: { command: "x" } },
    };
    write(path.join(sandbox.home, ".claude.json"), `\uFEFF${JSON.stringify(settings)}`);
    const { stdout, exitCode } = await sandbox.run(["import", "claude-code"]);
    expect({ stdout, exitCode }).toEqual({
      stdout: "✓ imported large (user scope) from ~/.claude.json:1\n",
      exitCode: 0,
    });
  });

  it("CLI-13: a program, file or server that is not there gets suggestions", async () => {
    const sandbox = new CliSandbox();
    const program = await sandbox.run(["import", "cursr"]);
    expect(program.stderr).toMatch(/^✗ there is no file cursr/);
    expect(program.stderr).toContain(
      "name a file, or a program: claude-desktop, claude-code, cursor",
    );
    const missing = await sandbox.run(["import", "windsurf"]);
    expect(missing.stderr).toContain('✗ no file of "windsurf" is here');
    expect(missing.stderr).toContain("looked for ~/.codeium/windsurf/mcp_config.json");
    write(
      path.join(sandbox.cwd, "a.json"),
      JSON.stringify({ servers: { github: { command: "x" } } }),
    );
    const server = await sandbox.run(["import", "a.json", "gihub"]);
    expect(server.stderr).toContain('✗ no server "gihub" in a.json. Did you mean: github?');
    for (const { exitCode, stdout } of [program, missing, server])
      expect({ exitCode, stdout }).toEqual({ exitCode: 2, stdout: "" });
    expect((await sandbox.run(["import", "a.json", "--scope", "galaxy"])).exitCode).toBe(2);
  });
});
