import { existsSync, readFileSync, writeFileSync } from "node:fs";
import path from "node:path";

import { describe, expect, it } from "vitest";

import { CliSandbox, connectingLines, demoEntry, recordedEntry } from "./run-cli.ts";

const phases = (tool: string): string => `${connectingLines("demo")}calling demo.${tool} …\n`;

describe("plugboard call", () => {
  it("CLI-14: prints the result alone, and says on stderr what it waits for", async () => {
    expect(await new CliSandbox().run(["call", "demo.add", "a=2", "b=3"])).toEqual({
      stdout: "5\n",
      stderr: phases("add"),
      exitCode: 0,
    });
  });

  it("CLI-14: --json prints one object and nothing else", async () => {
    const { stdout, stderr, exitCode } = await new CliSandbox().run([
      "call",
      "demo.add",
      "a=2",
      "b:=3",
      "--json",
    ]);
    expect({ stderr, exitCode }).toEqual({ stderr: "", exitCode: 0 });
    expect(stdout.trimEnd().split("\n")).toHaveLength(1);
    const { meta, ...printed } = JSON.parse(stdout) as Readonly<Record<string, unknown>>;
    // An old server has none, and a slow one may be taken for an old one.
    expect(meta).not.toBeUndefined();
    expect(printed).toEqual({
      ok: true,
      server: "demo",
      tool: "add",
      text: "5",
      content: [{ type: "text", text: "5" }],
      structured: null,
      durationMs: expect.any(Number),
      callId: expect.any(String),
      truncated: false,
    });
  });

  it("CLI-14: --quiet says nothing on stderr", async () => {
    const result = await new CliSandbox().run(["--quiet", "call", "demo.add", "a=2", "b=3"]);
    expect(result).toEqual({ stdout: "5\n", stderr: "", exitCode: 0 });
  });

  it("CLI-14: arguments come from files, from --args and from stdin", async () => {
    const sandbox = new CliSandbox();
    writeFileSync(path.join(sandbox.cwd, "note.txt"), "from a file\n");
    const results = await Promise.all([
      sandbox.run(["call", "demo.echo", "message=@note.txt"]),
      sandbox.run(["call", "demo.add", "--args", '{"a":40,"b":1}', "b=2"]),
      sandbox.run(["call", "demo.echo", "--args", "-"], { input: '{"message":"piped"}' }),
    ]);
    expect(results.map(({ stdout }) => stdout)).toEqual(["from a file\n", "42\n", "piped\n"]);
  });

  it("typing a destructive call is consent for it", async () => {
    const result = await new CliSandbox().run(["call", "demo.delete_note", "id=n1"]);
    expect(result).toMatchObject({ stdout: "Deleted note n1.\n", exitCode: 0 });
  });

  it("CLI-13: a tool that does not exist runs nothing and suggests", async () => {
    expect(await new CliSandbox().run(["call", "demo.ad", "a=2", "b=3"])).toEqual({
      stdout: "",
      stderr: `${connectingLines("demo")}✗ demo has no tool "ad". Closest: add.  Nothing was run.\n`,
      exitCode: 5,
    });
  });

  it("CLI-13: a server that does not exist starts nothing and suggests", async () => {
    expect(await new CliSandbox().run(["call", "dmeo.add"])).toEqual({
      stdout: "",
      stderr: '✗ no server "dmeo". Did you mean: demo?   Configured: demo\n',
      exitCode: 2,
    });
  });

  it("CLI-13: a missing argument is told with the line to type", async () => {
    expect(await new CliSandbox().run(["call", "demo.add", "a=2"])).toEqual({
      stdout: "",
      stderr: `${phases("add")}✗ add: "b" is required (number).   got: {"a":2}   usage: plugboard call demo.add a=2 b=<number>\n`,
      exitCode: 2,
    });
  });

  it("CLI-13: a wrong argument is not offered again in the line to type", async () => {
    expect(await new CliSandbox().run(["call", "demo.add", "a=two", "b=3"])).toEqual({
      stdout: "",
      stderr: `${phases("add")}✗ add: "a" must be a number.   got: {"a":"two","b":3}   usage: plugboard call demo.add b=3 a=<number>\n`,
      exitCode: 2,
    });
  });

  it("CLI-13: a tool's own error is exit code 5, with what it sent for programs", async () => {
    const sandbox = new CliSandbox();
    const [text, json] = await Promise.all([
      sandbox.run(["call", "demo.fail"]),
      sandbox.run(["call", "demo.fail", "--json"]),
    ]);
    expect(text).toEqual({
      stdout: "",
      stderr: `${phases("fail")}✗ demo.fail: This tool always fails.\n`,
      exitCode: 5,
    });
    expect(json).toMatchObject({ stdout: "", exitCode: 5 });
    expect(JSON.parse(json.stderr)).toEqual({
      error: {
        code: "tool_error",
        message: "This tool always fails.",
        server: "demo",
        details: {
          toolName: "fail",
          content: [{ type: "text", text: "This tool always fails." }],
        },
      },
    });
  });

  it("NAM-15: the longest known server name decides where the tool begins", async () => {
    const sandbox = new CliSandbox().configureUser({
      my: { command: "never-started" },
      "my.server": demoEntry,
    });
    const result = await sandbox.run(["call", "my.server.add", "a=1", "b=1"]);
    expect(result).toMatchObject({ stdout: "2\n", exitCode: 0 });
  });

  it("starts the server that is named, and no other", async () => {
    const sandbox = new CliSandbox();
    const marker = path.join(sandbox.cwd, "started");
    sandbox.configureUser({
      named: demoEntry,
      other: { command: "touch", args: [marker] },
    });
    const result = await sandbox.run(["call", "named.add", "a=1", "b=1"]);
    expect(result).toMatchObject({ stdout: "2\n", exitCode: 0 });
    expect(existsSync(marker)).toBe(false);
  });

  it("CLI-13: a server of a project is not started before somebody approved it", async () => {
    const sandbox = new CliSandbox();
    const marker = path.join(sandbox.cwd, "started");
    sandbox.configureProject({ notes: { command: "touch", args: [marker] } });
    const result = await sandbox.run(["call", "notes.list"], { input: "y\n" });
    expect(result).toEqual({
      stdout: "",
      stderr:
        '✗ server "notes" comes from a project file and has not been approved   from .plugboard/mcp.json:3   ' +
        "try: plugboard approve notes\n",
      exitCode: 6,
    });
    expect(existsSync(marker)).toBe(false);
  });

  it("naming a file approves what it holds", async () => {
    const sandbox = new CliSandbox().configureProject({ own: demoEntry });
    const result = await sandbox.run([
      "call",
      "own.add",
      "a=1",
      "b=2",
      "--config",
      ".plugboard/mcp.json",
    ]);
    expect(result).toMatchObject({ stdout: "3\n", exitCode: 0 });
  });

  it("CLI-13: an entry that cannot be used is told with its place, not as unknown", async () => {
    const sandbox = new CliSandbox().configureUser({ bad: { args: [] } });
    expect(await sandbox.run(["call", "bad.tool"])).toEqual({
      stdout: "",
      stderr: '✗ ~/.plugboard/mcp.json:3:5 — bad: needs "command" or "url"\n',
      exitCode: 2,
    });
  });

  it("a large result arrives whole, however slowly it is read", async () => {
    const sandbox = new CliSandbox();
    const text = "0123456789abcdef".repeat(256 * 1_024);
    writeFileSync(path.join(sandbox.cwd, "big.txt"), text);
    const { stdout, exitCode } = await sandbox.run(["call", "demo.echo", "message=@big.txt"]);
    expect(exitCode).toBe(0);
    expect(stdout === `${text}\n`).toBe(true);
  });

  it("a reader that has gone ends it quietly", async () => {
    const sandbox = new CliSandbox();
    writeFileSync(path.join(sandbox.cwd, "big.txt"), "x".repeat(1_024 * 1_024));
    const cli = sandbox.start(["call", "demo.echo", "message=@big.txt"]);
    cli.closeStdout();
    expect(await cli.ended).toMatchObject({ stderr: phases("echo"), exitCode: 0 });
  });

  it("--cwd works as if typed there", async () => {
    const elsewhere = new CliSandbox();
    writeFileSync(path.join(elsewhere.cwd, "note.txt"), "there");
    const sandbox = new CliSandbox();
    const words = ["--cwd", elsewhere.cwd, "call", "demo.echo", "message=@note.txt"];
    expect(await sandbox.run(words)).toMatchObject({ stdout: "there\n", exitCode: 0 });
    const missing = await sandbox.run(["--cwd", "/no/such/folder", "list"]);
    expect(missing).toMatchObject({ stdout: "", exitCode: 2 });
  });

  it("PRO-22: a call that takes too long is cancelled on the wire and exits with 7", async () => {
    const sandbox = new CliSandbox();
    const log = path.join(sandbox.cwd, "wire.log");
    sandbox.configureUser({ slow: recordedEntry(log) });
    const words = ["call", "slow.slow", "steps=1", "delayMs=60000", "--timeout", "300ms"];
    const result = await sandbox.run(words);
    expect(result).toMatchObject({ stdout: "", exitCode: 7 });
    expect(result.stderr).toContain(
      "✗ slow: no answer to tools/call within 300 ms   try: --timeout 600ms\n",
    );
    expect(readFileSync(log, "utf8")).toContain("notifications/cancelled");
  });
});
