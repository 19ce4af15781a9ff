import path from "node:path";

import { describe, expect, it } from "vitest";

import { CliSandbox, demoEntry } from "./run-cli.ts";

const breaker = path.resolve(import.meta.dirname, "../fixtures/servers/rule-breaker.mjs");

describe("plugboard test --contract", () => {
  it("TST-06: a line for each rule of a server that keeps to them, configured or not", async () => {
    const sandbox = new CliSandbox().configureUser({ demo: demoEntry });
    const [named, typed] = await Promise.all([
      sandbox.run(["test", "--contract", "demo"]),
      sandbox.run(["test", "--contract", "--", "node", breaker]),
    ]);
    for (const { stdout, stderr, exitCode } of [named, typed]) {
      expect(exitCode).toBe(0);
      expect(stdout.match(/^\S [\w-]+/gm)).toEqual(
        [
          "✓ handshake",
          "✓ identity",
          "✓ version-negotiation",
          "✓ ping",
          "✓ unknown-method",
          "✓ unknown-notification",
          "✓ list",
          "✓ tool-names",
          "✓ tool-descriptions",
          "✓ input-schemas",
          expect.stringMatching(/^[✓–] output-schemas$/u),
          "✓ unknown-tool",
          "✓ invalid-arguments",
          "✓ read-only-call",
          "✓ stdout",
          "✓ stderr",
          "✓ shutdown",
        ].flat(),
      );
      expect(stderr).toMatch(/^[\w-]+: 1[67] pass, 0 fail, 0 warn, [01] skip\n$/);
    }
  });

  it("a rule that is broken is told with its text, and the exit code is 5", async () => {
    const sandbox = new CliSandbox();
    const words = ["test", "--contract", "--", "node", breaker, "unknown-method"];
    const { stdout, stderr, exitCode } = await sandbox.run(words);
    expect(stdout).toContain(
      "✗ unknown-method        a result\n" +
        "                        rule: answers a method that it does not know with error -32601\n",
    );
    expect(stderr).toContain("1 fail");
    expect(exitCode).toBe(5);
  });

  it("a server that cannot be started has the exit code of that", async () => {
    const sandbox = new CliSandbox();
    const words = ["test", "--contract", "--", "node", breaker, "handshake"];
    const { stdout, exitCode } = await sandbox.run(words);
    expect(stdout).toMatch(/^✗ handshake {13}.*exit code 1/);
    expect(exitCode).toBe(4);
  });

  it("a server of a project is not started before it is approved", async () => {
    const sandbox = new CliSandbox().configureProject({ theirs: demoEntry });
    const { stdout, stderr, exitCode } = await sandbox.run(["test", "--contract", "theirs"]);
    expect({ stdout, exitCode }).toEqual({ stdout: "", exitCode: 6 });
    expect(stderr).toContain("plugboard approve theirs");
  });

  it("CLI-14: --json is one object with every rule", async () => {
    const sandbox = new CliSandbox();
    const words = ["test", "--contract", "--json", "--", "node", breaker, "ping"];
    const { stdout, stderr, exitCode } = await sandbox.run(words);
    expect({ stderr, exitCode }).toEqual({ stderr: "", exitCode: 5 });
    const report = JSON.parse(stdout) as { rules: unknown[] };
    expect(report).toMatchObject({ server: "rule-breaker", transport: "stdio", ok: false });
    expect(report.rules).toContainEqual({
      rule: "ping",
      text: "answers a ping",
      verdict: "fail",
      evidence: "ping: error -32601: Method not found",
    });
  });

  it("Ctrl-C half-way ends it, and leaves nothing running", async () => {
    const sandbox = new CliSandbox();
    const cli = sandbox.start(["test", "--contract", "--", "node", breaker, "shutdown"]);
    await cli.writes("stdout", "handshake");
    cli.signal("SIGINT");
    expect(await cli.ended).toMatchObject({ exitCode: 130 });
  });
});
