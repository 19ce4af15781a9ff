import { mkdirSync, readdirSync, readFileSync } from "node:fs";
import path from "node:path";

import { describe, expect, it } from "vitest";

import { CliSandbox, demoEntry, recordedEntry, type RunningCli } from "./run-cli.ts";

const ready = "Ctrl-C stops them and leaves no process behind.";
const used = "the host that runs here is used";
const info = ["--log-level", "info"] as const;

async function up(sandbox: CliSandbox, env: Record<string, string> = {}): Promise<RunningCli> {
  const cli = sandbox.start(["up"], { env });
  await cli.writes("stdout", ready);
  return cli;
}

async function stop(cli: RunningCli): Promise<void> {
  cli.signal("SIGINT");
  expect((await cli.ended).exitCode).toBe(0);
}

/** The messages that reached the demo server of `recordedEntry`, by method. */
function methodsIn(file: string): readonly string[] {
  return readFileSync(file, "utf8")
    .split("\n")
    .filter((line) => line !== "")
    .map((line) => (JSON.parse(line) as { readonly method?: string }).method ?? "");
}

describe("commands beside plugboard up", () => {
  it("use its servers instead of starting their own", async () => {
    const sandbox = new CliSandbox();
    const file = path.join(sandbox.cwd, "messages");
    sandbox.configureUser({ demo: recordedEntry(file) });
    const host = await up(sandbox);
    const call = await sandbox.run(["call", "demo.add", "a=2", "b=3", ...info]);
    expect(call).toMatchObject({ stdout: "5\n", exitCode: 0 });
    expect(call.stderr).toContain(used);
    const list = await sandbox.run(["list"]);
    expect(list.stdout).toMatch(/demo {2}● connected/);
    const tools = await sandbox.run(["tools", "demo", "--json"]);
    expect(tools.stdout).toContain('"delete_note"');
    const read = await sandbox.run(["resources", "demo", "file:///readme.txt"]);
    expect(read.exitCode).toBe(0);
    // The command would have truncated the file by starting the server again.
    expect(methodsIn(file).filter((method) => method === "tools/call")).toHaveLength(1);
    await stop(host);
    expect(readdirSync(path.join(sandbox.home, ".plugboard", "run"))).toEqual([]);
  });

  it("typing a call is consent for it there, too; an unknown tool or argument is told as alone", async () => {
    const sandbox = new CliSandbox().configureUser({ demo: demoEntry });
    const host = await up(sandbox);
    const deleted = await sandbox.run(["call", "demo.delete_note", "id=n1"]);
    expect(deleted).toMatchObject({ exitCode: 0 });
    const unknown = await sandbox.run(["call", "demo.ad", "a=2"]);
    expect(unknown.stderr).toContain('demo has no tool "ad". Closest: add');
    expect(unknown.exitCode).toBe(5);
    const missing = await sandbox.run(["call", "demo.add", "a=2"]);
    expect(missing.stderr).toContain('"b" is required');
    expect(missing.exitCode).toBe(2);
    const server = await sandbox.run(["call", "dmo.add"]);
    expect(server.stderr).toContain('no server "dmo". Did you mean: demo?');
    await stop(host);
  });

  it("see a server that was added a moment ago", async () => {
    const sandbox = new CliSandbox().configureUser({ demo: demoEntry });
    const host = await up(sandbox);
    const { command, args } = demoEntry;
    await sandbox.run(["add", "second", "--no-test", "--", command, ...args]);
    const call = await sandbox.run(["call", "second.add", "a=2", "b=3", ...info]);
    expect(call).toMatchObject({ stdout: "5\n", exitCode: 0 });
    expect(call.stderr).toContain(used);
    await stop(host);
  });

  it("work alone in another folder, with other files and with other values of variables", async () => {
    const sandbox = new CliSandbox();
    sandbox.configureUser({ demo: { ...demoEntry, env: { KEY: "${API_KEY}" } } });
    const host = await up(sandbox, { API_KEY: "one" });
    const call = async (words: readonly string[], key: string): Promise<string> => {
      const env = { API_KEY: key };
      const result = await sandbox.run([...words, "call", "demo.add", "a=2", "b=3", ...info], {
        env,
      });
      expect(result).toMatchObject({ stdout: "5\n", exitCode: 0 });
      return result.stderr;
    };
    expect(await call([], "one")).toContain(used);
    const different = await call([], "two");
    expect(different).toContain("variables that its entries name differ");
    expect(different).toContain("so this command works alone");
    mkdirSync(path.join(sandbox.cwd, "below"));
    expect(await call(["--cwd", "below"], "one")).toContain("works alone");
    const file = path.join(sandbox.home, ".plugboard", "mcp.json");
    expect(await call(["--config", file], "one")).toContain("works alone");
    await stop(host);
    expect(await call([], "one")).toContain("no host runs here, so this command works alone");
  });

  it("work alone beside what a killed host left, which the next one replaces", async () => {
    const sandbox = new CliSandbox().configureUser({ demo: demoEntry });
    const killed = await up(sandbox);
    killed.signal("SIGKILL");
    // Its watchdog ends the server a moment later.
    await killed.ended.catch(() => undefined);
    expect(readdirSync(path.join(sandbox.home, ".plugboard", "run"))).toHaveLength(2);
    const call = ["call", "demo.add", "a=2", "b=3", ...info];
    const alone = await sandbox.run(call);
    expect(alone).toMatchObject({ stdout: "5\n", exitCode: 0 });
    expect(alone.stderr).toContain("works alone");
    const next = await up(sandbox);
    expect((await sandbox.run(call)).stderr).toContain(used);
    await stop(next);
  });

  it("decision 11: a host that dies in the middle of a call ends it, and it is not made again", async () => {
    const sandbox = new CliSandbox();
    const file = path.join(sandbox.cwd, "messages");
    sandbox.configureUser({ demo: recordedEntry(file) });
    const host = await up(sandbox);
    const call = sandbox.start(["call", "demo.slow", "steps=100", "delayMs=60000", "--json"]);
    await sandbox.holds("messages", "tools/call");
    host.signal("SIGKILL");
    await host.ended.catch(() => undefined);
    const { stderr, exitCode, stdout } = await call.ended;
    expect(stdout).toBe("");
    expect(JSON.parse(stderr)).toMatchObject({ error: { code: "connection_lost" } });
    expect(exitCode).toBe(4);
    expect(methodsIn(file).filter((method) => method === "tools/call")).toHaveLength(1);
  });

  it("Ctrl-C at an attached call cancels it at the server, and the host goes on", async () => {
    const sandbox = new CliSandbox();
    const file = path.join(sandbox.cwd, "messages");
    sandbox.configureUser({ demo: recordedEntry(file) });
    const host = await up(sandbox);
    const call = sandbox.start(["call", "demo.slow", "steps=100", "delayMs=60000"]);
    await sandbox.holds("messages", "tools/call");
    call.signal("SIGINT");
    expect((await call.ended).exitCode).toBe(130);
    await sandbox.holds("messages", "notifications/cancelled");
    const again = await sandbox.run(["call", "demo.add", "a=2", "b=3", ...info]);
    expect(again).toMatchObject({ stdout: "5\n", exitCode: 0 });
    await stop(host);
  });

  it.each(["SIGINT", "SIGTERM", "SIGHUP"] as const)(
    "%s ends the host in the middle of an attached call: both end, and no process is left",
    async (signal) => {
      const sandbox = new CliSandbox();
      sandbox.configureUser({ demo: recordedEntry(path.join(sandbox.cwd, "messages")) });
      const host = await up(sandbox);
      const call = sandbox.start(["call", "demo.slow", "steps=100", "delayMs=60000", "--json"]);
      await sandbox.holds("messages", "tools/call");
      host.signal(signal);
      // Whatever a command has started is looked for at its end.
      await host.ended;
      const { stdout, stderr, exitCode } = await call.ended;
      expect({ stdout, exitCode }).toEqual({ stdout: "", exitCode: 4 });
      expect(JSON.parse(stderr)).toMatchObject({ error: { code: "connection_lost" } });
      expect(readdirSync(path.join(sandbox.home, ".plugboard", "run"))).toEqual([]);
    },
  );

  it("work alone beside a host that was stopped by Ctrl-Z, and use it again when it goes on", async () => {
    const sandbox = new CliSandbox().configureUser({ demo: demoEntry });
    const host = await up(sandbox);
    const call = ["call", "demo.add", "a=2", "b=3", ...info];
    host.signal("SIGSTOP");
    const alone = await sandbox.run(call);
    expect(alone).toMatchObject({ stdout: "5\n", exitCode: 0 });
    expect(alone.stderr).toContain("the host that runs here does not answer");
    host.signal("SIGCONT");
    expect((await sandbox.run(call)).stderr).toContain(used);
    await stop(host);
  });

  it("a second plugboard up for the same folder says that commands use the first one", async () => {
    const sandbox = new CliSandbox().configureUser({ demo: demoEntry });
    const first = await up(sandbox);
    const second = await up(sandbox);
    second.signal("SIGINT");
    const { stderr } = await second.ended;
    expect(stderr).toMatch(
      /commands and programs do not share this host: process \d+ runs a host for this folder already/,
    );
    expect((await sandbox.run(["list", ...info])).stderr).toContain(used);
    await stop(first);
  });
});
