import { chmodSync, existsSync, readFileSync, statSync, writeFileSync } from "node:fs";
import path from "node:path";

import { describe, expect, it } from "vitest";

import { createHost } from "../../src/index.ts";
import { createMemoryServer, createRecordedServer } from "../../src/testing/index.ts";
import { CliSandbox, demoEntry, normalize } from "./run-cli.ts";

const time = /^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d {2}/gm;

/** A place with four calls on record: of the command line, of an agent, a refused and a failed one. */
async function recorded(): Promise<CliSandbox> {
  const sandbox = new CliSandbox().configureUser({ demo: demoEntry });
  await sandbox.run(["call", "demo.add", "a=2", "b=3"]);
  await sandbox.run(["call", "demo.fail"]);
  await using host = await hostOf(sandbox);
  await host.session({ agent: "guest" }).call("demo.echo", { message: "secret-argument" });
  return sandbox;
}

const hostOf = (sandbox: CliSandbox) =>
  createHost({ home: sandbox.home, cwd: sandbox.cwd, watch: false, logger: false });

interface Row {
  readonly seq: number;
  readonly agent?: string;
  readonly tool?: string;
  readonly code?: string;
}

async function rowsOf(sandbox: CliSandbox, ...words: readonly string[]): Promise<readonly Row[]> {
  const { stdout, stderr, exitCode } = await sandbox.run(["audit", "--json", ...words]);
  expect({ stderr, exitCode }).toEqual({ stderr: "", exitCode: 0 });
  return (JSON.parse(stdout) as { entries: Row[] }).entries;
}

describe("plugboard audit", () => {
  it("PRM-19: shows who called what, how it ended, how long it took and what decided", async () => {
    const sandbox = await recorded();
    const { stdout, stderr, exitCode } = await sandbox.run(["audit", "--type", "call"]);
    expect({ stderr, exitCode }).toEqual({ stderr: "", exitCode: 0 });
    expect(normalize(stdout.replaceAll(time, "")).replaceAll(/ +/g, " ").split("\n")).toEqual([
      "TIME AGENT WHAT TOOL OUTCOME TOOK DECIDED BY",
      expect.stringMatching(/^cli call demo\.add ok <time> \S/),
      expect.stringMatching(/^cli call demo\.fail tool_error <time> \S/),
      expect.stringMatching(/^guest call demo\.echo denied <time> \S/),
      "",
    ]);
    expect(stdout).not.toContain("secret-argument");
  });

  it("CLI-14: finds entries by all that they tell", async () => {
    const sandbox = await recorded();
    const toolsOf = async (...words: readonly string[]) =>
      (await rowsOf(sandbox, "--type", "call", ...words)).map(({ tool }) => tool);
    const all = ["add", "fail", "echo"];
    const found = await Promise.all(
      [
        [],
        ["--agent", "guest"],
        ["--server", "demo", "--tool", "add"],
        ["--server", "other"],
        ["--outcome", "ok"],
        ["--outcome", "failed"],
        ["--outcome", "denied"],
        ["--since", "1h"],
        ["--since", "2100-01-01"],
        ["--until", "2020-01-01"],
        ["-n", "2"],
        ["-n", "0"],
      ].map((words) => toolsOf(...words)),
    );
    expect(found).toEqual([
      all,
      ["echo"],
      ["add"],
      [],
      ["add"],
      ["fail", "echo"],
      ["echo"],
      all,
      [],
      [],
      ["fail", "echo"],
      [],
    ]);
  });

  it("says so when nothing fits, and which name was probably meant", async () => {
    const sandbox = await recorded();
    expect(await sandbox.run(["audit", "--server", "dmo"])).toEqual({
      stdout: "",
      stderr:
        'Nothing is on record that fits. No server "dmo" is configured. Did you mean: demo?\n',
      exitCode: 0,
    });
    const empty = await new CliSandbox().run(["audit"]);
    expect(empty).toEqual({ stdout: "", stderr: "Nothing is on record that fits.\n", exitCode: 0 });
  });

  it.each([
    [["--csv"], "--csv goes with --export"],
    [["--export", "x", "-f"], "--export and --follow exclude each other"],
    [["--export", "x", "-n", "5"], "--export writes everything that fits: leave --lines out"],
    [["--since", "1h", "--until", "2h"], "--since is later than --until"],
    [["-n", "1001"], '"1001" is no number of lines'],
    [["--type", "cal"], '"cal" is none of call, content'],
    [["--since", "soon"], '"soon" is no time'],
  ])("CLI-13: %j is a usage error", async (words, message) => {
    const { stdout, stderr, exitCode } = await new CliSandbox().run(["audit", ...words]);
    expect({ stdout, exitCode }).toEqual({ stdout: "", exitCode: 2 });
    expect(stderr).toContain(`✗ ${message}`);
  });

  it("exports to a file of the user's own, or to standard output", async () => {
    const sandbox = await recorded();
    const all = await rowsOf(sandbox);
    const exported = await sandbox.run(["audit", "--export", "trail.ndjson"]);
    expect(exported).toEqual({
      stdout: "",
      stderr: `✓ trail.ndjson: ${all.length} entries\n`,
      exitCode: 0,
    });
    const lines = sandbox.read("trail.ndjson");
    expect(
      lines
        .trimEnd()
        .split("\n")
        .map((line) => JSON.parse(line) as Row),
    ).toEqual(all);
    expect(statSync(path.join(sandbox.cwd, "trail.ndjson")).mode & 0o777).toBe(0o600);
    expect((await sandbox.run(["audit", "--export", "-"])).stdout).toBe(lines);
    const csv = await sandbox.run(["audit", "--export", "-", "--csv", "--tool", "echo"]);
    expect(csv.stdout.split("\r\n")).toEqual([
      expect.stringMatching(/^seq,at,type,/),
      expect.stringMatching(/^\d+,20\d\d-.*Z,call,guest,demo,echo,denied,/),
      "",
    ]);
    chmodSync(path.join(sandbox.cwd, "trail.ndjson"), 0o640);
    await sandbox.run(["audit", "--export", "trail.ndjson", "--outcome", "ok"]);
    expect(sandbox.read("trail.ndjson").trimEnd().split("\n")).toHaveLength(1);
    expect(statSync(path.join(sandbox.cwd, "trail.ndjson")).mode & 0o777).toBe(0o640);
  });

  it("-f follows what other programs record, and ends at Ctrl-C", async () => {
    const sandbox = await recorded();
    const cli = sandbox.start(["audit", "-f", "--json", "-n", "1", "--type", "call"]);
    await cli.writes("stdout", '"echo"');
    await sandbox.run(["call", "demo.add", "a=4", "b=5"]);
    await cli.writes("stdout", '"add"');
    cli.signal("SIGINT");
    const { stdout, stderr, exitCode } = await cli.ended;
    expect({ stderr, exitCode }).toEqual({ stderr: "", exitCode: 130 });
    const rows = stdout
      .trimEnd()
      .split("\n")
      .map((line) => JSON.parse(line) as Row);
    expect(rows.map(({ agent, tool, code }) => [agent, tool, code])).toEqual([
      ["guest", "echo", "denied"],
      ["cli", "add", "ok"],
    ]);
  });

  it("a long trail is exported whole, and a reader that has enough ends it quietly", async () => {
    const sandbox = new CliSandbox();
    const calls = 20_000;
    await recordCalls(sandbox, calls);
    const { stdout } = await sandbox.run(["audit", "--export", "-"]);
    expect(stdout.trimEnd().split("\n")).toHaveLength(calls);
    const cli = sandbox.start(["audit", "--export", "-"]);
    await cli.writes("stdout", "\n");
    cli.closeStdout();
    expect(await cli.ended).toMatchObject({ stderr: "", exitCode: 0 });
  });

  it("CLI-13: without a store there is no trail, and the reason is told once", async () => {
    const sandbox = new CliSandbox();
    const file = path.join(sandbox.home, "open.db");
    writeFileSync(file, "");
    chmodSync(file, 0o644);
    const { stdout, stderr, exitCode } = await sandbox.run(["audit"], {
      env: { PLUGBOARD_DB: file },
    });
    expect({ stdout, exitCode }).toEqual({ stdout: "", exitCode: 1 });
    expect(stderr).toMatch(/^✗ the store \S+ can be used by other users[^\n]+\n$/);
    expect(readFileSync(file, "utf8")).toBe("");
    expect(existsSync(path.join(sandbox.home, ".plugboard", "logs"))).toBe(false);
  });
});

/** So many calls, recorded by a program. */
async function recordCalls(sandbox: CliSandbox, calls: number): Promise<void> {
  const factory = createRecordedServer({
    tools: [{ name: "any", inputSchema: { type: "object" } }],
    answers: () => ({ content: [] }),
  });
  await using host = await createHost({
    home: sandbox.home,
    cwd: sandbox.cwd,
    watch: false,
    logger: false,
    servers: { fake: () => createMemoryServer(factory).transport },
  });
  const session = host.session({ level: "yolo" });
  for (let done = 0; done < calls; done += 1_000)
    await Promise.all(Array.from({ length: 1_000 }, () => session.call("fake.any", {})));
}
