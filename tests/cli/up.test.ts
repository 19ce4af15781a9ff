import { writeFileSync } from "node:fs";
import path from "node:path";

import { describe, expect, it } from "vitest";

import { CliSandbox, demoEntry, normalize } from "./run-cli.ts";

const tour = [
  "Plugboard starts servers whose tools agents call. None is configured here: two of its own show how.",
  "✓ demo       8 tools, a local program <time>",
  "✓ demo-http  3 tools, over HTTP, 127.0.0.1:<port> <time>",
  "An agent calls some of their tools:",
  '→ demo.add {"a":2,"b":3}                                    5  (only reads, so nobody is asked)',
  '→ demo.slow {"steps":3}                                     ███ 3/3 <time>',
  '→ demo.delete_note {"id":"n1"}                              not called: it may destroy something, and nobody is here to allow it',
];
const next = [
  "Next: add a server of your own, or call these",
  "  plugboard add files -- npx -y @modelcontextprotocol/server-filesystem .",
  "  plugboard tools demo",
  "  plugboard call demo.add a=2 b=3",
  "",
];
/** Servers are told in the order in which they answer. */
const inListOrder = (lines: readonly string[]): readonly string[] =>
  lines.toSorted((a, b) => tour.indexOf(a) - tour.indexOf(b));
const ready = "Ctrl-C stops them and leaves no process behind.";

describe("plugboard up", () => {
  it("--once shows the demo servers at work, stops everything and succeeds", async () => {
    const { stdout, stderr, exitCode } = await new CliSandbox().run(["up", "--once"]);
    const lines = normalize(stdout).split("\n");
    const told = lines.splice(1, 2);
    expect(inListOrder(told)).toEqual(tour.slice(1, 3));
    expect(lines).toEqual([
      ...tour.toSpliced(1, 2),
      "2 of 2 servers connected, 11 tools.",
      ...next,
    ]);
    expect({ stderr, exitCode }).toEqual({ stderr: "", exitCode: 0 });
  });

  it("CLI-14: --json tells the same as one object", async () => {
    const { stdout, stderr, exitCode } = await new CliSandbox().run(["up", "--once", "--json"]);
    expect({ stderr, exitCode }).toEqual({ stderr: "", exitCode: 0 });
    expect(JSON.parse(stdout)).toMatchObject({
      servers: [
        { name: "demo", state: "connected", tools: 8 },
        { name: "demo-http", state: "connected", tools: 3 },
      ],
      calls: [
        { tool: "add", ok: true, text: "5" },
        { tool: "slow", ok: true },
        { tool: "delete_note", ok: false, code: "consent_denied" },
      ],
    });
  });

  it.each([
    ["SIGINT", 0],
    ["SIGTERM", 143],
  ] as const)("stays until %s, then stops everything with exit code %d", async (signal, code) => {
    const cli = new CliSandbox().start(["up"]);
    await cli.writes("stdout", ready);
    cli.signal(signal);
    const { stdout, stderr, exitCode } = await cli.ended;
    expect(inListOrder(normalize(stdout).split("\n").slice(0, tour.length))).toEqual(tour);
    expect(stdout).toMatch(
      /\nStopped\. No server is running any more, and no process is left\.\n$/,
    );
    expect({ stderr, exitCode }).toEqual({ stderr: "", exitCode: code });
  });

  it.skipIf(process.platform !== "linux")(
    "I6: its memory, where tokens are in clear text, is left out of core dumps",
    async () => {
      const cli = new CliSandbox().start(["up"]);
      await cli.writes("stdout", ready);
      expect(cli.coreDumpFilter()).toBe("00000000");
      cli.signal("SIGINT");
      expect(await cli.ended).toMatchObject({ exitCode: 0 });
    },
  );

  it("connects what is configured; one that fails does not keep the others away", async () => {
    const sandbox = new CliSandbox()
      .configureUser({ works: demoEntry, gone: { command: "no-such-command" } })
      .configureProject({ notes: demoEntry });
    const { stdout, stderr, exitCode } = await sandbox.run(["up", "--once"]);
    expect(normalize(stdout).split("\n")).toEqual([
      "⏸ notes  not approved, new in .plugboard/mcp.json:3 → plugboard approve notes",
      "✓ works  stdio, 8 tools, MCP <revision> <time>",
      "1 of 3 servers connected, 8 tools.",
      "",
    ]);
    expect(stderr).toMatch(/^✗ gone: command not found: "no-such-command" {3}/);
    expect(exitCode).toBe(4);
  });

  it("CON-06: tells when a server goes away and when it is back", async () => {
    const script = `
      const { spawn } = require("node:child_process");
      const child = spawn(process.argv[1], process.argv.slice(2), { stdio: "inherit" });
      process.on("SIGUSR2", () => child.kill("SIGKILL"));
      child.on("exit", () => process.exit(9));
      require("node:fs").writeFileSync("pid", String(process.pid));
    `;
    const sandbox = new CliSandbox();
    const { command, args } = demoEntry;
    sandbox.configureUser({
      frail: { command: "node", args: ["-e", script, command, ...args], cwd: sandbox.cwd },
    });
    const cli = sandbox.start(["up"]);
    await cli.writes("stdout", ready);
    process.kill(Number(sandbox.read("pid")), "SIGUSR2");
    await cli.writes("stdout", "◐ reconnecting  frail: the server stopped (exit code 9");
    await cli.writes("stdout", "● connected  frail");
    cli.signal("SIGINT");
    expect(await cli.ended).toMatchObject({ exitCode: 0 });
  });

  it("CFG-42: tells a mistake that somebody makes in a file while it runs, and its servers stay", async () => {
    const sandbox = new CliSandbox().configureUser({ demo: demoEntry });
    const cli = sandbox.start(["up"]);
    await cli.writes("stdout", ready);
    writeFileSync(path.join(sandbox.home, ".plugboard/mcp.json"), '{ "mcpServers": { "demo" } }\n');
    await cli.writes(
      "stderr",
      '⚠ ~/.plugboard/mcp.json:1:26 — expected ":" (file ignored; its last good version stays in use)\n',
    );
    sandbox.configureUser({ demo: demoEntry, second: demoEntry });
    await cli.writes("stdout", "● connected  second\n");
    cli.signal("SIGINT");
    const { stdout, exitCode } = await cli.ended;
    expect(stdout).not.toContain("removed");
    expect(exitCode).toBe(0);
  });

  it("CON-12: tells what becomes of a reconnect, and not that the server ended for it", async () => {
    const sandbox = new CliSandbox();
    sandbox.configureUser({ bad: { command: "node", args: ["-e", "process.exit(3)"] } });
    const cli = sandbox.start(["up"]);
    await cli.writes("stdout", ready);
    await sandbox.run(["reconnect", "bad", "--no-test"]);
    await cli.writes("stdout", "◐ reconnecting  bad: the server stopped during start (exit code 3");
    cli.signal("SIGINT");
    const { stdout } = await cli.ended;
    expect(stdout).not.toContain("○ idle");
  });

  it("ends when nobody reads what it says any more", async () => {
    const cli = new CliSandbox().start(["up"]);
    cli.closeStdout();
    expect(await cli.ended).toMatchObject({ stderr: "", exitCode: 0 });
  });
});
