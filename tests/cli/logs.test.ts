import { readFileSync, rmSync } from "node:fs";
import path from "node:path";

import { describe, expect, it } from "vitest";

import { CliSandbox, demoEntry, normalize } from "./run-cli.ts";

const time = /^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d {2}/gm;
/** A log without what differs from run to run. */
const plain = (text: string): string =>
  normalize(text.replaceAll(time, "")).replaceAll(/starting: .*?, from/g, "starting: …, from");

const failing = (script: string) => ({ command: "node", args: ["-e", script] });
const licence = failing("console.error('Error: no licence\\u001B[2J'); process.exit(3)");

const home = (sandbox: CliSandbox, file: string): string =>
  path.join(sandbox.home, ".plugboard", file);

describe("plugboard logs", () => {
  it("STD-20: shows a server that ended, and how it fared", async () => {
    const sandbox = new CliSandbox().configureUser({ demo: demoEntry });
    await sandbox.run(["call", "demo.add", "a=2", "b=3"]);
    const { stdout, stderr, exitCode } = await sandbox.run(["logs", "demo"]);
    expect({ stderr, exitCode }).toEqual({ stderr: "", exitCode: 0 });
    const lines = plain(stdout).split("\n");
    expect(lines[0]).toMatch(/^host {5}starting: …, from .*\/mcp\.json:3$/);
    expect(lines[1]).toMatch(/^host {5}ready: stdio, MCP <revision>, /);
    expect(lines.slice(-2)).toEqual(["host     stopped (exit code 0)", ""]);
  });

  it("ERR-17: is named by a failed start, as typed, and has all of it", async () => {
    const sandbox = new CliSandbox().configureUser({ files: licence });
    const failed = await sandbox.run(["test", "files"]);
    expect(failed.stderr).toContain(
      "  try      fix what it says, then: plugboard test files   full log: plugboard logs files\n",
    );
    const { stdout } = await sandbox.type("plugboard logs files");
    expect(plain(stdout).split("\n").slice(1)).toEqual([
      "stderr   Error: no licence",
      "host     start_exit: the server stopped during start (exit code 3 after <time>): Error: no licence",
      "",
    ]);
    const { stderr } = await sandbox.run(["test", "files", "--json"]);
    expect(JSON.parse(stderr)).toMatchObject({
      error: { details: { logFile: home(sandbox, "logs/files.log") } },
    });
  });

  it("are not kept of a server that is typed, and no failure names them", async () => {
    const sandbox = new CliSandbox();
    const { stderr } = await sandbox.run(["test", "--", "node", "-e", licence.args[1] ?? ""]);
    expect(stderr).toContain("Error: no licence");
    expect(stderr).not.toContain("plugboard logs");
    expect((await sandbox.run(["logs", "server"])).exitCode).toBe(2);
  });

  it("CLI-14: prints one object, the last lines and what is new enough", async () => {
    const sandbox = new CliSandbox().configureUser({ files: licence });
    for (let time = 0; time < 2; time += 1) await sandbox.run(["test", "files"]);
    const entriesOf = async (...words: readonly string[]): Promise<readonly unknown[]> => {
      const { stdout } = await sandbox.run(["logs", "files", "--json", ...words]);
      const { server, entries } = JSON.parse(stdout) as { server: string; entries: unknown[] };
      expect(server).toBe("files");
      return entries;
    };
    const all = await entriesOf();
    expect(all).toHaveLength(6);
    expect(all[1]).toMatchObject({ source: "stderr", text: "Error: no licence" });
    expect(await entriesOf("-n", "2")).toEqual(all.slice(4));
    expect(await entriesOf("-n", "0")).toEqual([]);
    expect(await entriesOf("--since", "1h")).toEqual(all);
    expect(await entriesOf("--since", "2100-01-01")).toEqual([]);
    const cut = await sandbox.run(["logs", "files", "-n", "2"]);
    expect(cut.stderr).toBe("Older lines: plugboard logs files -n all\n");
    const old = await sandbox.run(["logs", "files", "--since", "2100-01-01"]);
    expect(old.stderr).toMatch(/^Nothing that new is kept of files; the last line is of /);
  });

  it("says so when nothing is kept yet, and what to do", async () => {
    const sandbox = new CliSandbox().configureUser({ demo: demoEntry });
    expect(await sandbox.run(["logs", "demo"])).toEqual({
      stdout: "",
      stderr:
        "Nothing is kept of demo yet: that begins with its next start → plugboard test demo\n",
      exitCode: 0,
    });
  });

  it("CLI-13: suggests servers that only have logs, and shows those", async () => {
    const sandbox = new CliSandbox().configureUser({ github: licence });
    await sandbox.run(["test", "github"]);
    rmSync(home(sandbox, "mcp.json"));
    sandbox.configureUser({ demo: demoEntry });
    expect(await sandbox.run(["logs", "gihub"])).toEqual({
      stdout: "",
      stderr: '✗ no server "gihub", and no log of one. Did you mean: github?   Configured: demo\n',
      exitCode: 2,
    });
    expect((await sandbox.run(["logs", "github"])).stdout).toContain("no licence");
    const unknown = await sandbox.run(["logs", "demi"]);
    expect(unknown.stderr).toContain("Did you mean: demo?");
  });

  it("-f follows what other commands add, and ends at Ctrl-C", async () => {
    const sandbox = new CliSandbox().configureUser({ files: licence });
    const cli = sandbox.start(["logs", "files", "-f", "--json"]);
    const text = sandbox.start(["logs", "files", "-f"]);
    await sandbox.run(["test", "files"]);
    await cli.writes("stdout", '"level":"error"');
    await text.writes("stdout", "start_exit");
    for (const running of [cli, text]) running.signal("SIGINT");
    const { stdout, stderr, exitCode } = await cli.ended;
    expect({ stderr, exitCode }).toEqual({ stderr: "", exitCode: 130 });
    const entries = stdout
      .trimEnd()
      .split("\n")
      .map((line) => JSON.parse(line) as object);
    expect(entries[1]).toMatchObject({ source: "stderr", text: "Error: no licence" });
    expect((await text.ended).exitCode).toBe(130);
  });

  it("-f ends quietly when its reader has enough", async () => {
    const sandbox = new CliSandbox().configureUser({ files: licence });
    await sandbox.run(["test", "files"]);
    const cli = sandbox.start(["logs", "files", "-f"]);
    await cli.writes("stdout", "start_exit");
    cli.closeStdout();
    await sandbox.run(["test", "files"]);
    expect(await cli.ended).toMatchObject({ stderr: "", exitCode: 0 });
  });

  it("ENV-12: the file holds no secret of the entry", async () => {
    const sandbox = new CliSandbox().configureUser({
      leaky: {
        ...failing("console.error(process.env.API_TOKEN); process.exit(1)"),
        env: { API_TOKEN: "${MY_TOKEN}" },
      },
    });
    await sandbox.run(["test", "leaky"], { env: { MY_TOKEN: "canary-token-1234" } });
    const text = readFileSync(home(sandbox, "logs/leaky.log"), "utf8");
    expect(text).toContain("[redacted]");
    expect(text).not.toContain("canary");
  });
});
