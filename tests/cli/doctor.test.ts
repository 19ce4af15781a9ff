import { chmodSync, mkdirSync, writeFileSync } from "node:fs";
import path from "node:path";

import { describe, expect, it } from "vitest";

import { abandonedUrl } from "../fixtures/network/abandoned-url.ts";
import { CliSandbox, demoEntry, normalize } from "./run-cli.ts";

interface DoctorObject {
  readonly ok: boolean;
  readonly reports: readonly {
    readonly server?: string;
    readonly verdict: string;
    readonly findings: readonly { readonly check: string; readonly verdict: string }[];
  }[];
}

describe("plugboard doctor", () => {
  it("DOC-01: on a fresh machine everything is well, and nothing is written", async () => {
    const sandbox = new CliSandbox();
    const { stdout, stderr, exitCode } = await sandbox.run(["doctor"]);
    expect({ stderr, exitCode }).toEqual({ stderr: "", exitCode: 0 });
    // Reports come as they are ready, in no fixed order.
    expect(normalize(stdout).trimEnd().split("\n").toSorted()).toEqual([
      "✓ config     no mistake in any entry",
      "✓ demo       stdio, MCP <revision>, plugboard-demo 1.0.0, <time>, 8 tools",
      "✓ files      there are none",
      "✓ leftovers  none",
      `✓ runtime    Node ${process.versions.node}, which has to be >=20.19`,
      "✓ secrets    none are kept; their key would be in the keychain, or a file without one",
      "✓ store      ~/.plugboard/plugboard.db is not there yet; it is made when it is needed",
    ]);
  });

  it("DOC-01: a line and a way out for each problem, and the exit code of the first", async () => {
    const sandbox = new CliSandbox()
      .configureUser({
        good: demoEntry,
        typo: { command: "npxx" },
        api: { url: await abandonedUrl() },
        off: { ...demoEntry, enabled: false },
      })
      .configureProject({ theirs: { command: "touch", args: ["started"] } });
    const { stdout, exitCode } = await sandbox.run(["doctor"]);
    const lines = normalize(stdout).split("\n");
    const rows = lines.flatMap((line, index) =>
      /^[⚠✗]/u.test(line) ? [`${line} | ${lines[index + 1]?.trim()}`] : [],
    );
    expect(rows.toSorted()).toEqual([
      "⚠ off        enabled: ~/.plugboard/mcp.json:16 switches it off | try: plugboard enable off",
      "⚠ theirs     approved: nobody has approved it yet; nothing was started | try: look at what it would start, and approve it: plugboard approve theirs",
      expect.stringMatching(
        /^✗ api {8}reachable: connection refused at 127\.0\.0\.1:<port> \(nothing is listening\) \| try: start it, then: plugboard test api$/,
      ),
      expect.stringMatching(
        /^✗ typo {7}command: no program "npxx" in the \d+ folders of PATH \| try: install it, correct "command", or give its full path$/,
      ),
    ]);
    expect(lines.some((line) => line.startsWith("✓ good "))).toBe(true);
    expect(exitCode).toBe(4);
    expect(() => sandbox.read("started")).toThrow("ENOENT");
  });

  it("DOC-01: <server> shows every check of it", async () => {
    const sandbox = new CliSandbox().configureUser({
      good: { ...demoEntry, env: { A: "${HOME}" } },
    });
    const { stdout, stderr, exitCode } = await sandbox.run(["doctor", "good"]);
    expect({ stderr, exitCode }).toEqual({ stderr: "", exitCode: 0 });
    expect(stdout.match(/^\S \w+/gm)).toEqual([
      "✓ enabled",
      "✓ approved",
      "✓ variables",
      "✓ command",
      "✓ node",
      "✓ answers",
      "✓ tools",
      "✓ offered",
    ]);
    // What a variable holds is not shown.
    expect(stdout).not.toContain(sandbox.home);
  });

  it("CLI-14: --json is one object with everything", async () => {
    const sandbox = new CliSandbox().configureUser({ typo: { command: "npxx" } });
    const { stdout, stderr, exitCode } = await sandbox.run(["doctor", "--json"]);
    expect({ stderr, exitCode }).toEqual({ stderr: "", exitCode: 4 });
    const { ok, reports } = JSON.parse(stdout) as DoctorObject;
    expect(ok).toBe(false);
    expect(reports.find(({ server }) => server === "typo")?.findings).toContainEqual({
      check: "command",
      title: "its command is found",
      verdict: "problem",
      evidence: expect.stringContaining('"npxx"'),
      fix: 'install it, correct "command", or give its full path',
      code: "command_not_found",
    });
  });

  it("tells what is wrong with an entry once, with its server", async () => {
    const sandbox = new CliSandbox().configureUser({ odd: { ...demoEntry, colour: "red" } });
    const { stdout } = await sandbox.run(["doctor"]);
    expect(stdout).toContain("✓ config     no mistake beside those told elsewhere here\n");
    expect(stdout.match(/unknown key "colour"/g)).toHaveLength(1);
  });

  it("CLI-13: an unknown server is a usage error, and so is one whose entry is wrong", async () => {
    const sandbox = new CliSandbox().configureUser({ good: demoEntry, bad: { args: ["x"] } });
    const [unknown, wrong] = await Promise.all([
      sandbox.run(["doctor", "god"]),
      sandbox.run(["doctor", "bad"]),
    ]);
    expect(unknown).toMatchObject({ stdout: "", exitCode: 2 });
    expect(unknown.stderr).toContain("Did you mean: good?");
    expect(wrong).toMatchObject({ stdout: "", exitCode: 2 });
    expect(wrong.stderr).toContain("mcp.json:");
  });

  it("DOC-01: the user's file that others can write is a problem with its command", async () => {
    const sandbox = new CliSandbox().configureUser({ good: demoEntry });
    const file = path.join(sandbox.home, ".plugboard", "mcp.json");
    chmodSync(file, 0o666);
    const { stdout, exitCode } = await sandbox.run(["doctor", "--quiet"]);
    expect(stdout).toContain("✗ files      every user may write ~/.plugboard/mcp.json");
    expect(stdout).toContain("try: read it, then run: chmod o-w ~/.plugboard/mcp.json");
    expect(stdout).toContain("✓ config ");
    expect(exitCode).toBe(2);
  });

  it("DOC-01: names the release of a package that ran last, to be written down", async () => {
    const sandbox = new CliSandbox();
    const cache = path.join(sandbox.home, ".npm", "_npx", "1", "node_modules", "it");
    mkdirSync(cache, { recursive: true });
    writeFileSync(
      path.join(cache, "package.json"),
      JSON.stringify({ name: "it", version: "1.2.3", engines: { node: ">=99" } }),
    );
    // A stand-in for npx: the demo server, whatever package it is asked for.
    const npx = path.join(sandbox.home, "npx");
    const { command, args } = demoEntry;
    writeFileSync(npx, `#!/bin/sh\nexec "${command}" ${args.map((arg) => `"${arg}"`).join(" ")}\n`);
    chmodSync(npx, 0o755);
    sandbox.configureUser({ pkg: { command: npx, args: ["-y", "it"] } });
    const { stdout, exitCode } = await sandbox.run(["doctor", "pkg"]);
    expect(stdout).toContain(
      "⚠ package    it: the release that ran last is 1.2.3, the next may be another\n" +
        "             try: write it@1.2.3: another one runs only when you say so\n",
    );
    expect(stdout).toContain(
      `⚠ node       Node ${process.versions.node}, and its package asks for >=99\n`,
    );
    expect(exitCode).toBe(0);
  });

  it("ends at once on Ctrl-C, and leaves nothing running", async () => {
    const silent = { command: process.execPath, args: ["-e", "setInterval(() => {}, 60_000)"] };
    const sandbox = new CliSandbox().configureUser({ silent });
    const cli = sandbox.start(["doctor"]);
    await cli.writes("stdout", "leftovers");
    cli.signal("SIGINT");
    expect(await cli.ended).toMatchObject({ exitCode: 130 });
  });
});
