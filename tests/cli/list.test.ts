import { chmodSync, existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import path from "node:path";

import { describe, expect, it } from "vitest";

import { createTestServer, serveRest } from "../../src/testing/index.ts";
import { CliSandbox, demoEntry, normalize } from "./run-cli.ts";

const fixture = (file: string): string =>
  path.resolve(import.meta.dirname, "../fixtures/servers", file);

describe("plugboard list", () => {
  it("CLI-14: shows what is configured and starts nothing", async () => {
    const sandbox = new CliSandbox();
    const marker = path.join(sandbox.cwd, "started");
    sandbox
      .configureUser({
        local: { command: "touch", args: [marker] },
        remote: { url: "https://example.com/mcp", transport: "streamable-http" },
        legacy: { command: "touch", args: [marker], enabled: false },
      })
      .configureProject({ notes: { command: "touch", args: [marker] } });
    expect(await sandbox.run(["list"])).toEqual({
      stdout: [
        "NAME    STATUS          TRANSPORT        TOOLS  SCOPE    NOTE",
        "notes   ⏸ not approved  stdio                –  project  new in .plugboard/mcp.json:3 → plugboard approve notes",
        "local   ○ idle          stdio                –  user",
        "remote  ○ idle          streamable-http      –  user",
        "legacy  ○ disabled      stdio                –  user     ~/.plugboard/mcp.json:13",
        "",
      ].join("\n"),
      stderr: "",
      exitCode: 0,
    });
    expect(existsSync(marker)).toBe(false);
  });

  it("shows the demo server where nothing is configured, in ASCII where the locale asks for it", async () => {
    const sandbox = new CliSandbox();
    const { stdout } = await sandbox.run(["list"], { env: { LANG: "C" } });
    expect(stdout).toBe(
      [
        "NAME  STATUS  TRANSPORT  TOOLS  SCOPE  NOTE",
        "demo  o idle  stdio          -  demo   bundled, to try things out",
        "",
      ].join("\n"),
    );
  });

  it("B18: a store that cannot be opened is told in one line, and fails no list", async () => {
    const sandbox = new CliSandbox().configureUser({ local: { command: "true" } });
    const store = path.join(sandbox.home, ".plugboard/mcp.json/plugboard.db");
    const { stderr, exitCode } = await sandbox.run(["list"], { env: { PLUGBOARD_DB: store } });
    expect(stderr).toBe(
      `⚠ the store ~/.plugboard/mcp.json/plugboard.db cannot be opened. Nothing is kept meanwhile, and no call is written down: check that its folder exists and that you may read and write in it\n`,
    );
    expect(exitCode).toBe(0);
  });

  it("an empty list says so and names the next command", async () => {
    const sandbox = new CliSandbox().configureUser({});
    const file = path.join(sandbox.home, ".plugboard/mcp.json");
    expect(await sandbox.run(["list", "--config", file])).toEqual({
      stdout: "No servers are configured.\n",
      stderr: `Write them to ~/.plugboard/mcp.json under "mcpServers", then: plugboard --config ${file} list --check\n`,
      exitCode: 0,
    });
  });

  it("CLI-13: a file that cannot be read is told, and fails what answers for every server", async () => {
    const sandbox = new CliSandbox();
    const stderr = "✗ none.json — there is no such file\n";
    const config = ["--config", "none.json", "--quiet"];
    const told = { stderr, exitCode: 2 };
    expect(await sandbox.run(["list", "--config", "none.json"])).toEqual({
      stdout: "No servers are configured.\n",
      stderr,
      exitCode: 2,
    });
    expect(await sandbox.run(["list", ...config])).toMatchObject(told);
    expect(await sandbox.run(["up", "--once", "--config", "none.json"])).toMatchObject(told);
    expect(await sandbox.run(["list", "--check", ...config])).toMatchObject(told);
    expect(await sandbox.run(["tools", ...config])).toMatchObject(told);
  });

  it("CLI-13: a store that cannot be used is no mistake in a file", async () => {
    const sandbox = new CliSandbox().configureUser({ demo: demoEntry });
    const file = path.join(sandbox.home, "other.db");
    writeFileSync(file, "no database");
    chmodSync(file, 0o666);
    const { stdout, exitCode } = await sandbox.run(["list"], { env: { PLUGBOARD_DB: file } });
    expect(stdout).toMatch(/^demo /m);
    expect(exitCode).toBe(1);
  });

  it("CLI-13: tells what is wrong with the configuration on stderr, with its place", async () => {
    const sandbox = new CliSandbox().configureUser({
      good: demoEntry,
      bad: { comand: "x" },
    });
    mkdirSync(path.join(sandbox.cwd, ".plugboard"));
    writeFileSync(
      path.join(sandbox.cwd, ".plugboard", "mcp.json"),
      '{ "mcpServers": {\n  "a" 1 } }',
    );
    const { stdout, stderr, exitCode } = await sandbox.run(["list"]);
    expect(stderr).toMatch(/^✗ \.plugboard\/mcp\.json:2:\d+ — /m);
    expect(stderr).toMatch(/^⚠ ~\/\.plugboard\/mcp\.json:\d+:\d+ — bad: unknown key "comand"/m);
    expect(stderr).toMatch(
      /^✗ ~\/\.plugboard\/mcp\.json:\d+:\d+ — bad: needs "command" or "url"$/m,
    );
    expect(stdout).toMatch(/^good /m);
    expect(exitCode).toBe(2);
  });

  it("CFG-20: tells files of other programs that it found and did not read", async () => {
    const sandbox = new CliSandbox().configureUser({ local: demoEntry });
    const files = [
      path.join(sandbox.cwd, ".vscode/mcp.json"),
      path.join(sandbox.home, ".config/Claude/claude_desktop_config.json"),
      path.join(sandbox.home, ".cursor/mcp.json"),
    ];
    for (const file of files) {
      mkdirSync(path.dirname(file), { recursive: true });
      writeFileSync(file, JSON.stringify({ servers: { theirs: demoEntry } }));
    }
    const { stdout, stderr, exitCode } = await sandbox.run(["list"]);
    expect(stdout).not.toContain("theirs");
    const command = "plugboard import";
    expect({ stderr, exitCode }).toEqual({
      stderr: `Not read: .vscode/mcp.json (VS Code), ~/.config/Claude/claude_desktop_config.json (Claude Desktop), ~/.cursor/mcp.json (Cursor). Import them: ${command}\n`,
      exitCode: 0,
    });
    const { stdout: object } = await sandbox.run(["list", "--json"]);
    const { otherFiles } = JSON.parse(object) as { otherFiles: { path: string }[] };
    expect(otherFiles.map((file) => file.path)).toEqual(files);
    const found = await sandbox.type(command);
    expect(found.stdout).toMatch(/^vscode +1 +project +\.vscode\/mcp\.json +1 new$/m);
    // From then on it is known.
    expect((await sandbox.run(["import", "vscode"])).exitCode).toBe(0);
    expect((await sandbox.run(["import", "cursor", "--overwrite"])).exitCode).toBe(0);
    expect((await sandbox.run(["list"])).stderr).toBe(
      `Not read: ~/.config/Claude/claude_desktop_config.json (Claude Desktop). Import them: ${command}\n`,
    );
    const named = await sandbox.type("plugboard --config .vscode/mcp.json list");
    expect(named.stdout).toMatch(/^theirs /m);
    expect(named.stderr).toBe("");
  });

  it("STA-03: shows what the last attempt of any command came to, until one succeeds", async () => {
    const sandbox = new CliSandbox();
    const ok = path.join(sandbox.cwd, "ok");
    const start = [demoEntry.command, ...demoEntry.args];
    sandbox.configureUser({
      files: { command: "sh", args: ["-c", 'test -e "$0" && exec "$@"; exit 3', ok, ...start] },
    });
    const since = Date.now();
    expect((await sandbox.run(["call", "files.add", "a=1", "b=2"])).exitCode).toBe(4);
    const { stdout, exitCode } = await sandbox.run(["list"]);
    expect(stdout).toMatch(
      /^files {2}✗ disconnected .*\(exit code 3 after .*\), \d+ (?:s|min) ago → plugboard logs files$/m,
    );
    // It says what is known, and has not failed at that.
    expect(exitCode).toBe(0);
    expect((await sandbox.run(["get", "files"])).stdout).toMatch(
      /^files {2}✗ disconnected$[^]*^ {2}note .* ago → plugboard logs files$/m,
    );
    for (const words of [["list"], ["get", "files"]]) {
      const { stdout: object } = await sandbox.run([...words, "--json"]);
      const { servers } = JSON.parse(object) as { servers: readonly { error: { at: number } }[] };
      expect(servers).toMatchObject([{ state: "disconnected", error: { code: "start_exit" } }]);
      expect(servers[0]?.error.at).toBeGreaterThanOrEqual(since);
    }
    writeFileSync(ok, "");
    expect((await sandbox.run(["call", "files.add", "a=1", "b=2"])).stdout).toBe("3\n");
    expect((await sandbox.run(["list"])).stdout).toMatch(/^files {2}○ idle /m);
  });

  it("CLI-14: --json prints one object with servers and problems", async () => {
    const sandbox = new CliSandbox().configureUser({ demo: demoEntry, bad: {} });
    const { stdout, stderr, exitCode } = await sandbox.run(["list", "--json"]);
    expect({ stderr, exitCode }).toEqual({ stderr: "", exitCode: 2 });
    expect(JSON.parse(stdout)).toMatchObject({
      servers: [{ name: "demo", state: "idle", transport: "stdio", scope: "user", line: 3 }],
      problems: [{ severity: "error", code: "config_invalid", serverName: "bad" }],
    });
  });
});

describe("plugboard list --check", () => {
  it("connects in parallel what may start, and fails when one cannot be reached", async () => {
    const sandbox = new CliSandbox();
    const marker = path.join(sandbox.cwd, "started");
    sandbox
      .configureUser({
        works: demoEntry,
        silent: {
          command: "node",
          args: ["-e", "setInterval(() => {}, 1000)"],
          connectTimeout: 0.5,
        },
      })
      .configureProject({ notes: { command: "touch", args: [marker] } });
    const { stdout, stderr, exitCode } = await sandbox.run(["list", "--check"]);
    const rows = normalize(stdout).trimEnd().split("\n");
    expect(rows[0]).toMatch(/^NAME +STATUS +TRANSPORT +TOOLS +SCOPE +NOTE$/);
    expect(
      rows
        .slice(1)
        .map((row) => row.replaceAll(/ {2,}/g, " | "))
        .toSorted(),
    ).toEqual([
      "notes | ⏸ not approved | stdio | – | project | new in .plugboard/mcp.json:3 → plugboard approve notes",
      expect.stringMatching(
        /^silent \| ✗ disconnected \| stdio \| – \| user \| no answer to .* → plugboard test silent$/,
      ),
      "works | ● connected | stdio | 8 | user | MCP <revision>",
    ]);
    expect({ stderr, exitCode }).toEqual({ stderr: "", exitCode: 7 });
    expect(existsSync(marker)).toBe(false);
  });
});

describe("a silent server among ten", () => {
  it("delays no other row of list --check, and the end no longer than itself", async () => {
    const sandbox = new CliSandbox();
    const file = path.join(sandbox.home, "tools.json");
    writeFileSync(file, JSON.stringify([{ name: "look", inputSchema: { type: "object" } }]));
    const quick = { command: process.execPath, args: [fixture("listing-server.mjs"), file] };
    const halted = path.join(sandbox.cwd, "halted");
    const silent = {
      command: process.execPath,
      args: [fixture("halting-server.mjs"), "initialize", halted],
      // Asked for its era, a process that ends is started once more.
      protocol: "2025-06-18",
    };
    const names = [...Array(9).keys()].map((index) => `quick-${index}`);
    sandbox.configureUser({
      silent,
      ...Object.fromEntries(names.map((name) => [name, quick])),
    });
    const cli = sandbox.start(["list", "--check"]);
    for (const name of names) await cli.writes("stdout", new RegExp(`${name} +● connected`));
    await sandbox.holds("halted", "\n");
    expect(cli.stdout).not.toContain("\nsilent ");
    process.kill(Number(sandbox.read("halted")), "SIGKILL");
    const { stdout, exitCode } = await cli.ended;
    expect(stdout.split("\n").at(-2)).toMatch(/^silent +✗ disconnected .* stopped during start/);
    expect(exitCode).toBe(4);
  });
});

describe("plugboard tools", () => {
  it("CLI-16: lists signatures, claims, a rough cost and one line of description", async () => {
    const { stdout, exitCode } = await new CliSandbox().run(["tools", "demo"]);
    const [title, ...lines] = stdout.trimEnd().split("\n");
    expect(title).toMatch(/^demo · 8 tools · ~\d+ tokens$/);
    expect(lines[2]).toMatch(/^ {2}add\(a: number, b: number\) +read-only +Adds two numbers\.$/);
    expect(lines[6]).toMatch(/^ {2}delete_note\(id: string\) +destructive +Deletes a note/);
    expect(exitCode).toBe(0);
  });

  it("without a name lists all servers, and tells those that fail", async () => {
    const sandbox = new CliSandbox().configureUser({
      one: demoEntry,
      gone: { command: "no-such-command" },
      two: demoEntry,
    });
    const { stdout, stderr, exitCode } = await sandbox.run(["tools", "--quiet"]);
    expect(stdout.match(/^\w+ · 8 tools/gm)).toEqual(["one · 8 tools", "two · 8 tools"]);
    expect(stderr).toMatch(/^✗ gone: command not found: "no-such-command" {3}/);
    expect(exitCode).toBe(4);
  });

  it("CLI-14: --json holds the whole definitions", async () => {
    const { stdout } = await new CliSandbox().run(["tools", "demo", "--json"]);
    const { servers } = JSON.parse(stdout) as { servers: { name: string; tools: unknown[] }[] };
    expect(servers.map(({ name, tools }) => [name, tools.length])).toEqual([["demo", 8]]);
    expect(servers[0]?.tools[2]).toMatchObject({
      name: "add",
      publicName: "mcp__demo__add",
      inputSchema: { required: ["a", "b"] },
      annotations: { readOnlyHint: true },
    });
  });
});

describe("plugboard test", () => {
  it("starts, lists and stops one server", async () => {
    const { stdout, exitCode } = await new CliSandbox().run(["test", "demo"]);
    expect(normalize(stdout).replaceAll(/~\d+/g, "~<n>")).toBe(
      [
        "✓ started   stdio, MCP <revision>, plugboard-demo 1.0.0 <time>",
        "✓ listed    8 tools, ~<n> tokens",
        "✓ stopped   no process left <time>",
        "",
      ].join("\n"),
    );
    expect(exitCode).toBe(0);
  });

  it("a REST service claims no revision of MCP", async () => {
    const service = await serveRest(createTestServer());
    const sandbox = new CliSandbox().configureUser({
      api: { url: service.url, transport: "rest" },
      found: { url: service.url, transport: "http" },
    });
    try {
      for (const name of ["api", "found"]) {
        const { stdout } = await sandbox.run(["test", name]);
        expect(normalize(stdout).split("\n", 1)).toEqual(["✓ started   rest <time>"]);
      }
      const { stdout: json } = await sandbox.run(["test", "api", "--json"]);
      expect(Object.keys(JSON.parse(json) as object)).not.toContain("protocolVersion");
    } finally {
      await service.close();
    }
  });

  it("CLI-14: --json prints one object", async () => {
    const { stdout } = await new CliSandbox().run(["test", "demo", "--json"]);
    expect(JSON.parse(stdout)).toMatchObject({
      ok: true,
      name: "demo",
      tools: 8,
      startMs: expect.any(Number),
      stopMs: expect.any(Number),
    });
  });
});

describe("plugboard tools --remembered", () => {
  it("lists the tools as they were last seen, and starts nothing", async () => {
    const sandbox = new CliSandbox();
    const starts = path.join(sandbox.cwd, "starts");
    const script = `echo start >> '${starts}'; exec "$0" "$@"`;
    const args = ["-c", script, demoEntry.command, ...demoEntry.args];
    sandbox.configureUser({ demo: { ...demoEntry, command: "sh", args } });
    expect(await sandbox.run(["tools", "demo", "--remembered"])).toEqual({
      stdout: "",
      stderr:
        '✗ no tools of "demo" are remembered.  Nothing was run.   try: plugboard tools demo\n',
      exitCode: 5,
    });
    expect(await sandbox.run(["tools", "--remembered"])).toMatchObject({ stdout: "", exitCode: 0 });
    expect(existsSync(starts)).toBe(false);
    const { stdout } = await sandbox.run(["tools", "demo", "--schema"]);
    const remembered = await sandbox.run(["tools", "--remembered", "--schema"]);
    expect(remembered).toEqual({ stdout, stderr: "", exitCode: 0 });
    expect(readFileSync(starts, "utf8")).toBe("start\n");
  });

  it("has nothing to tell of a server that is not configured", async () => {
    const words = ["tools", "--remembered", "--", "node", "server.js"];
    const { stderr, exitCode } = await new CliSandbox().run(words);
    expect(stderr).toContain("✗ nothing is remembered of a server that is typed.");
    expect(exitCode).toBe(2);
  });
});
