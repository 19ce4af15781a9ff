import { readFileSync, writeFileSync } from "node:fs";
import path from "node:path";

import { describe, expect, it } from "vitest";

import { CliSandbox, demoEntry, type RunningCli, hasTerminal } from "./run-cli.ts";

const ready = "Ctrl-C stops them and leaves no process behind.";
/** The demo server, which appends its process id to a file at every start. */
function notingEntry(sandbox: CliSandbox, file: string): { command: string; args: string[] } {
  const { command, args } = demoEntry;
  const script = 'echo $$ >> "$0"; exec "$@"';
  return { command: "sh", args: ["-c", script, path.join(sandbox.cwd, file), command, ...args] };
}

function starts(sandbox: CliSandbox, file: string): number {
  return sandbox.read(file).trim().split("\n").length;
}

async function up(sandbox: CliSandbox): Promise<RunningCli> {
  const cli = sandbox.start(["up"]);
  await cli.writes("stdout", ready);
  return cli;
}

async function stop(cli: RunningCli): Promise<string> {
  cli.signal("SIGINT");
  const { stdout, exitCode } = await cli.ended;
  expect(exitCode).toBe(0);
  return stdout.slice(stdout.indexOf(ready) + ready.length);
}

describe("plugboard connect, disconnect, reconnect", () => {
  it("CON-13 B-K5: disconnect switches off where the entry is written, connect on again, and tries it", async () => {
    const sandbox = new CliSandbox();
    const file = path.join(sandbox.home, ".plugboard/mcp.json");
    sandbox.configureUser({ demo: demoEntry });
    writeFileSync(file, readFileSync(file, "utf8").replace("{", "{ // mine\n"));
    const off = await sandbox.run(["disconnect", "demo"]);
    expect(off.stdout).toMatch(
      /^✓ "demo" is disconnected and off \(~\/\.plugboard\/mcp\.json:\d+\)\.\n$/,
    );
    expect(off.stderr).toContain("Again with: plugboard connect demo\n");
    expect(off.exitCode).toBe(0);
    expect(readFileSync(file, "utf8")).toMatch(/\/\/ mine[\s\S]*"enabled": false/);
    expect((await sandbox.run(["disconnect", "demo"])).stdout).toContain(
      '✓ "demo" was off already',
    );
    const refused = await sandbox.run(["call", "demo.add", "a=1", "b=2"]);
    expect(refused.stderr).toContain("try: plugboard connect demo\n");
    expect(refused.exitCode).toBe(2);

    const on = await sandbox.run(["connect", "demo"]);
    expect(on.stdout).toMatch(
      /^✓ "demo" is on \(.*\)\.\n✓ test passed: 8 tools, MCP 2026-07-28\.\n$/,
    );
    expect(on.stderr).toContain("others start it when it is first used.\n");
    expect(on.exitCode).toBe(0);
    expect((await sandbox.run(["call", "demo.add", "a=1", "b=2"])).stdout).toBe("3\n");
  });

  it("CON-13: a host that runs follows without a restart, and other servers keep their process", async () => {
    const sandbox = new CliSandbox();
    sandbox.configureUser({
      one: notingEntry(sandbox, "one"),
      other: notingEntry(sandbox, "other"),
    });
    const cli = await up(sandbox);
    await sandbox.run(["disconnect", "one"]);
    await cli.writes("stdout", "○ disabled  one\n");
    await sandbox.run(["connect", "one", "--no-test"]);
    await cli.writes("stdout", "● connected  one\n");
    expect(await stop(cli)).not.toContain("other");
    expect(starts(sandbox, "one")).toBe(2);
    expect(starts(sandbox, "other")).toBe(1);
  });

  it("CON-12: reconnect begins the connection anew in a host that runs, whatever its state", async () => {
    const sandbox = new CliSandbox();
    const missing = path.join(sandbox.cwd, "program");
    sandbox.configureUser({
      one: notingEntry(sandbox, "one"),
      late: { command: missing, args: demoEntry.args },
    });
    const cli = await up(sandbox);
    await sandbox.run(["reconnect", "one", "--no-test"]);
    await cli.writes("stdout", "● connected  one\n");
    expect(starts(sandbox, "one")).toBe(2);
    const script = `#!/bin/sh\nexec "${demoEntry.command}" "$@"\n`;
    writeFileSync(missing, script, { mode: 0o755 });
    const again = await sandbox.run(["reconnect", "late"]);
    expect(again).toMatchObject({
      stdout: "✓ test passed: 8 tools, MCP 2026-07-28.\n",
      exitCode: 0,
    });
    await cli.writes("stdout", "● connected  late\n");
    await stop(cli);
  });

  it("B-K5: reconnect switches a server on, too", async () => {
    const sandbox = new CliSandbox().configureUser({ demo: { ...demoEntry, enabled: false } });
    const { stdout, exitCode } = await sandbox.run(["reconnect", "demo"]);
    expect(stdout).toMatch(/^✓ "demo" is on .*\n✓ test passed: /);
    expect(exitCode).toBe(0);
  });

  it("a server that does not work stays on, and the reason decides the exit code", async () => {
    const entry = { command: "node", args: ["-e", "process.exit(3)"], enabled: false };
    const sandbox = new CliSandbox().configureUser({ bad: entry });
    const { stdout, stderr, exitCode } = await sandbox.run(["connect", "bad"]);
    expect(stdout).toMatch(/^✓ "bad" is on /);
    expect(stderr).toMatch(/✗ bad: the server stopped during start \(exit code 3 /);
    expect(exitCode).toBe(4);
    const json = await sandbox.run(["connect", "bad", "--json"]);
    expect(JSON.parse(json.stdout)).toMatchObject({ enabled: true, tested: false, name: "bad" });
    expect(JSON.parse(json.stderr)).toMatchObject({ error: { code: "start_exit" } });
  });

  it("decision 5: one of a project is not started before it is approved", async () => {
    const sandbox = new CliSandbox();
    sandbox.configureProject({ notes: { ...notingEntry(sandbox, "pids"), enabled: false } });
    const { stdout, stderr, exitCode } = await sandbox.run(["connect", "notes"]);
    expect(stdout).toBe('✓ "notes" is on (.plugboard/mcp.json:3).\n');
    expect(stderr).toContain(
      "⏸ not tried: new in .plugboard/mcp.json:3 → plugboard approve notes\n",
    );
    expect(exitCode).toBe(6);
    expect(() => sandbox.read("pids")).toThrow("ENOENT");
  });

  it.skipIf(!hasTerminal)(
    "decision 5: somebody at a terminal is asked once, and decides",
    async () => {
      const sandbox = new CliSandbox().configureProject({ notes: demoEntry });
      const no = sandbox.startInTerminal(["connect", "notes"]);
      await no.writes("stdout", "[y/N] ");
      no.type("\n");
      const declined = await no.ended;
      expect(declined.stdout.match(/\[y\/N\]/g)).toHaveLength(1);
      expect(declined.stdout).toContain("⏸ not tried: new in .plugboard/mcp.json:3");
      expect(declined.exitCode).toBe(6);
      const yes = sandbox.startInTerminal(["connect", "notes"]);
      await yes.writes("stdout", "[y/N] ");
      yes.type("y\n");
      const approved = await yes.ended;
      expect(approved.stdout).toContain("✓ test passed: 8 tools");
      expect(approved.exitCode).toBe(0);
    },
  );

  it("CLI-03 CLI-04 CLI-05 CLI-06: says for whom, and what is allowed without asking", async () => {
    const sandbox = new CliSandbox().configureUser({ demo: demoEntry });
    const all = await sandbox.run(["connect", "demo", "--allow-all"]);
    expect(all.stderr).toMatch(/every agent may call without asking: echo, .*delete_note/);
    expect(all.stderr).toContain("For good: plugboard consent allow demo\n");
    const mine = await sandbox.run(["connect", "demo", "--private", "--agent", "a", "--no-test"]);
    expect(mine.stderr).toContain('Programs that run connect it now for "a" alone;');
    const shared = await sandbox.run(["reconnect", "demo", "--shared", "--per-tool", "--no-test"]);
    expect(shared.stderr).toContain('reconnect it now for "main", who shares it;');
    const json = await sandbox.run(["connect", "demo", "--allow-all", "--json"]);
    expect(json).toMatchObject({ stderr: "", exitCode: 0 });
    expect(JSON.parse(json.stdout)).toMatchObject({
      enabled: true,
      tested: true,
      told: true,
      allowed: expect.arrayContaining(["delete_note"]) as unknown,
    });
  });

  it.each([
    [["connect", "demo", "--allow-all", "--per-tool"], "'--allow-all' cannot be used with"],
    [["connect", "demo", "--shared", "--private"], "'--shared' cannot be used with"],
    [["reconnect", "demo", "--agent", ""], "--agent: a name is missing."],
    [["connect"], "connect needs <server>"],
    [["disconnect", "dmo"], '✗ no server "dmo". Did you mean: demo?   Configured: demo'],
    [["connect", "dmo"], '✗ no server "dmo". Did you mean: demo?   Configured: demo'],
  ])("CLI-11 CLI-13: %j is refused", async (words, message) => {
    const sandbox = new CliSandbox().configureUser({ demo: demoEntry });
    const { stdout, stderr, exitCode } = await sandbox.run(words);
    expect(stderr).toContain(message);
    expect({ stdout, exitCode }).toEqual({ stdout: "", exitCode: 2 });
  });
});

describe("plugboard up", () => {
  it("REG-17: connects what is added or changed while it runs, and says what is removed", async () => {
    const sandbox = new CliSandbox().configureUser({ demo: demoEntry });
    const cli = await up(sandbox);
    await sandbox.run(["add", "second", "--no-test", "--", demoEntry.command, ...demoEntry.args]);
    await cli.writes("stdout", "● connected  second\n");
    await sandbox.run(["remove", "demo"]);
    await cli.writes("stdout", "○ removed  demo\n");
    await stop(cli);
  });
});
