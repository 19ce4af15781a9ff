import { existsSync, mkdirSync, writeFileSync } from "node:fs";
import path from "node:path";

import { parse } from "jsonc-parser";
import { describe, expect, it } from "vitest";

import { canary, sourceFixtures } from "./import-fixtures.ts";
import { CliSandbox, demoEntry } from "./run-cli.ts";

function write(sandbox: CliSandbox, file: string, text: string): string {
  const target = path.resolve(sandbox.cwd, file);
  mkdirSync(path.dirname(target), { recursive: true });
  writeFileSync(target, text);
  return target;
}

describe("plugboard config check", () => {
  it("CFG-45: a configuration without faults, and none at all, is no failure", async () => {
    const empty = new CliSandbox();
    expect(await empty.run(["config", "check"])).toEqual({
      stdout: "No configuration file is here.\n0 errors, 0 warnings\n",
      stderr: "",
      exitCode: 0,
    });
    expect(existsSync(path.join(empty.home, ".plugboard"))).toBe(false);
    const sandbox = new CliSandbox().configureUser({ demo: demoEntry });
    expect(await sandbox.run(["config", "check"])).toEqual({
      stdout: "✓ ~/.plugboard/mcp.json (user): 1 server\n0 errors, 0 warnings\n",
      stderr: "",
      exitCode: 0,
    });
  });

  it("CFG-41 CFG-42 ENV-10: names every flaw with its place, and starts nothing", async () => {
    const sandbox = new CliSandbox().configureUser({
      files: { command: "theirs", env: { KEY: "${SET} ${UNSET} ${OTHER:-default}" } },
      gone: { command: "x", env: { KEY: "${NEVER}" }, enabled: false },
    });
    const started = path.join(sandbox.cwd, "started");
    write(
      sandbox,
      ".plugboard/mcp.json",
      `{
  "servers": {
    "files": { "command": "touch", "args": [${JSON.stringify(started)}], "start": "eager" },
    "odd": { "command": "x", "disabledTool": [], "env": { "API_KEY": "${canary}" } },
    "bad": { "args": [] },
    "bad": { "args": [1] }
  },
  "extra": 1
}
`,
    );
    const { stdout, stderr, exitCode } = await sandbox.run(["config", "check"], {
      env: { SET: "1" },
    });
    expect(stdout.split("\n")).toEqual([
      "✗ .plugboard/mcp.json (project): 2 servers",
      "✓ ~/.plugboard/mcp.json (user): 2 servers",
      '  ⚠ .plugboard/mcp.json:6:5 — the key "bad" is repeated; the last one counts',
      expect.stringMatching(/^ {2}⚠ \.plugboard\/mcp\.json:8:3 — unknown key "extra"/),
      expect.stringMatching(
        /:4:30 — odd: unknown key "disabledTool"\. Did you mean "disabledTools"\?$/,
      ),
      expect.stringMatching(
        /^ {2}✗ \.plugboard\/mcp\.json:6:\d+ — bad: "args\.0" must be a string/,
      ),
      expect.stringMatching(
        /^ {2}⚠ \.plugboard\/mcp\.json:4:5 — odd: "env\.API_KEY" looks like a secret/,
      ),
      "  – files: .plugboard/mcp.json:3 replaces ~/.plugboard/mcp.json:3",
      "1 error, 4 warnings",
      "",
    ]);
    expect(stdout).not.toContain(canary);
    expect({ stderr, exitCode }).toEqual({ stderr: "", exitCode: 2 });
    expect(existsSync(started)).toBe(false);
  });

  it("ENV-10: a variable that is not set is a warning, which --strict fails for", async () => {
    const sandbox = new CliSandbox().configureUser({
      one: { command: "x", env: { KEY: "${SET} ${UNSET} ${OTHER:-default}" } },
      off: { command: "x", env: { KEY: "${NEVER}" }, enabled: false },
      api: { url: "https://example.com", headers: { "X-Key": "${command:pick}" } },
    });
    const env = { SET: "1" };
    const { stdout, exitCode } = await sandbox.run(["config", "check"], { env });
    expect(stdout.split("\n").slice(1)).toEqual([
      '  ⚠ ~/.plugboard/mcp.json:3:5 — one: "env.KEY" needs ${UNSET}, which is not set',
      '  ⚠ ~/.plugboard/mcp.json:16:5 — api: "headers.X-Key" holds "${command:…}", which only another program can replace',
      "0 errors, 2 warnings",
      "",
    ]);
    expect(exitCode).toBe(0);
    expect((await sandbox.run(["config", "check", "--strict"], { env })).exitCode).toBe(2);
    const set = { SET: "1", UNSET: "" };
    expect((await sandbox.run(["config", "check"], { env: set })).stdout).not.toContain("UNSET");
  });

  it("CFG-42: a file that is no JSON is told with line and column", async () => {
    const sandbox = new CliSandbox();
    write(
      sandbox,
      ".mcp.json",
      '{\n  "mcpServers": {\n    "a": { "command": "x" }\n    "b": 1 } }',
    );
    const { stdout, exitCode } = await sandbox.run(["config", "check"]);
    expect(stdout).toBe(
      '✗ .mcp.json (project): cannot be read\n  ✗ .mcp.json:4:5 — expected ","\n1 error, 0 warnings\n',
    );
    expect(exitCode).toBe(2);
    const named = await sandbox.run(["config", "check", "--config", "none.json"]);
    expect(named.stdout).toContain("✗ none.json — there is no such file");
    expect(named.exitCode).toBe(2);
    expect((await sandbox.run(["config", "check", ".mcp.json"])).stderr).toContain(
      "✗ check takes no file.   try: name it before: plugboard --config .mcp.json config check",
    );
  });

  it("looks at what was added and imported, too", async () => {
    const sandbox = new CliSandbox();
    await sandbox.run(["add", "kept", "--no-test", "-e", "KEPT_TOKEN", "--", "x"]);
    const { stdout, exitCode } = await sandbox.run(["config", "check"]);
    expect(stdout).toBe(
      '✓ your settings: 1 server\n  ⚠ kept: "env.KEPT_TOKEN" needs ${KEPT_TOKEN}, which is not set\n0 errors, 1 warning\n',
    );
    expect(exitCode).toBe(0);
  });
});

describe("plugboard config convert", () => {
  const ours = `{
  // the defaults
  "defaults": { "timeout": 5 },
  "servers": {
    // a process
    "calc": {
      "command": ["python", "-m", "calc"], // started as it is
      "env_passthrough": ["CALC_MODE"],
      "enabled": false,
    },
    "api": { "url": "https://api.example.com/mcp", "auth": { "type": "bearer", "token": "\${API_TOKEN}" }, "timeout": 9 },
  },
}
`;

  it("CFG-20: to mcpServers keeps comments, and says what other programs do not know", async () => {
    const sandbox = new CliSandbox();
    write(sandbox, "ours.json", ours);
    const { stdout, stderr, exitCode } = await sandbox.run([
      "config",
      "convert",
      "ours.json",
      "--to",
      "mcpServers",
    ]);
    expect(stdout).toMatch(/\/\/ a process\n[\s\S]*\/\/ started as it is/);
    expect(parse(stdout)).toEqual({
      mcpServers: {
        calc: {
          command: "python",
          args: ["-m", "calc"],
          env: { CALC_MODE: "${CALC_MODE}" },
          disabled: true,
          timeout: 5,
        },
        api: {
          type: "http",
          url: "https://api.example.com/mcp",
          headers: { Authorization: "Bearer ${API_TOKEN}" },
          timeout: 9,
        },
      },
    });
    expect(stderr.split("\n")).toEqual([
      '  calc: "env_passthrough" became "env": a server does not start where one of them is not set',
      '  calc: "timeout" is known to Plugboard alone',
      '  api: "timeout" is known to Plugboard alone',
      "",
    ]);
    expect(exitCode).toBe(0);
  });

  it("to servers changes the key and nothing else, and there and back is the same", async () => {
    const sandbox = new CliSandbox();
    const text = `{\n  // theirs\n  "mcpServers": {\n    "a": { "command": "x", "args": ["y"] }, // one\n    "b": { "type": "sse", "url": "https://b.example/sse" }\n  }\n}\n`;
    write(sandbox, "theirs.json", text);
    const there = await sandbox.run(["config", "convert", "theirs.json", "--to", "servers"]);
    expect(there.stdout).toBe(text.replace("mcpServers", "servers"));
    expect(there.stderr).toBe("");
    await sandbox.run(["config", "convert", "theirs.json", "--to", "servers", "-o", "out.json"]);
    const back = await sandbox.run(["config", "convert", "out.json", "--to", "mcpServers"]);
    expect(back.stdout).toBe(text);
  });

  it("writes the file it reads in place, a byte order mark and all", async () => {
    const sandbox = new CliSandbox();
    write(
      sandbox,
      "a.json",
      '\uFEFF{ "mcpServers": { "a": { "command": "x", "disabled": true } } }',
    );
    const words = ["config", "convert", "a.json", "--to", "servers", "-o", "a.json"];
    expect((await sandbox.run(words)).stdout).toBe("✓ wrote 1 server to a.json\n");
    expect(sandbox.read("a.json")).toBe(
      '\uFEFF{ "servers": { "a": { "command": "x", "enabled": false } } }',
    );
  });

  it.each(sourceFixtures.map((fixture) => [fixture.source, fixture] as const))(
    "ENV-12: a file of %s becomes one that this host reads, without its secrets",
    async (_source, fixture) => {
      const sandbox = new CliSandbox();
      const file = write(
        sandbox,
        path.join("other", fixture.file),
        fixture.text.replaceAll("CWD", sandbox.cwd),
      );
      for (const to of ["servers", "mcpServers"]) {
        const words = ["config", "convert", file, "--to", to, "-o", "out.json"];
        const converted = await sandbox.run(words);
        // Its broken entry is named, and the others are there.
        expect(converted.exitCode, converted.stderr).toBe(2);
        const text = sandbox.read("out.json");
        expect(text + converted.stdout + converted.stderr).not.toContain(canary);
        const { stdout } = await sandbox.run(["list", "--json", "--config", "out.json"]);
        const { servers } = JSON.parse(stdout) as { servers: { name: string }[] };
        expect(servers.map(({ name }) => name).toSorted()).toEqual(
          Object.keys(fixture.entries).toSorted(),
        );
      }
    },
  );

  it("CLI-13: says what is missing, and what cannot be converted", async () => {
    const sandbox = new CliSandbox();
    write(sandbox, "both.json", '{ "servers": { "a": { "command": "x" } }, "mcpServers": {} }');
    write(
      sandbox,
      "two.json",
      '{ "servers": { "a": {"command":"x"} }, "mcpServers": { "b": {"command":"x"} } }',
    );
    const run = (...words: string[]) => sandbox.run(["config", "convert", ...words]);
    expect((await run()).stderr).toContain("✗ which file is to be converted?");
    expect((await run("both.json")).stderr).toContain("✗ --to is missing: servers or mcpServers");
    expect((await run("both.json", "--to", "list")).stderr).toContain(
      '✗ "list" is none of servers, mcpServers',
    );
    expect((await run("none.json", "--to", "servers")).stderr).toContain(
      "✗ there is no file none.json",
    );
    expect((await run("two.json", "--to", "servers")).stderr).toContain(
      'has both "mcpServers" and "servers"',
    );
    const both = await run("both.json", "--to", "mcpServers");
    expect(JSON.parse(both.stdout)).toEqual({ mcpServers: { a: { command: "x" } } });
  });
});
