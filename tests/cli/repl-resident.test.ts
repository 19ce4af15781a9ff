import { spawn } from "node:child_process";
import { once } from "node:events";
import path from "node:path";
import { text } from "node:stream/consumers";

import { describe, expect, it } from "vitest";

import { ReplAtTerminal } from "./repl-terminal.ts";
import { CliSandbox, demoEntry, recordedEntry, type RunningCli } from "./run-cli.ts";

const ready = "Ctrl-C stops them and leaves no process behind.";
const program = path.resolve(import.meta.dirname, "../fixtures/programs/asking-program.mjs");

async function up(sandbox: CliSandbox): Promise<RunningCli> {
  const cli = sandbox.start(["up"]);
  await cli.writes("stdout", ready);
  return cli;
}

async function stop(cli: RunningCli): Promise<void> {
  cli.signal("SIGINT");
  expect((await cli.ended).exitCode).toBe(0);
}

describe("REPLs at one host", () => {
  it("a question of one is answered in the other, and closes where it was asked", async () => {
    const sandbox = new CliSandbox().configureUser({ demo: demoEntry });
    const host = await up(sandbox);
    const one = new ReplAtTerminal(sandbox);
    const two = new ReplAtTerminal(sandbox, { words: ["repl", "--agent", "other"] });
    await one.prompt();
    await two.prompt();
    await one.line("demo.echo message=hello", "[1/2/3/n]");
    await two.terminal.shows((screen) => screen.includes("/answer 1"));
    await two.line("/questions");
    await two.line("/answer", "[1/2/3/4/5/N]");
    await two.answer("1");
    await one.prompt();
    one.matches("resident-asked");
    two.matches("resident-answered");
    await one.leave();
    await two.leave();
    await stop(host);
  });

  it("the answer of who was asked first settles it for the other, who is told", async () => {
    const sandbox = new CliSandbox().configureUser({ demo: demoEntry });
    const host = await up(sandbox);
    const one = new ReplAtTerminal(sandbox);
    const two = new ReplAtTerminal(sandbox, { words: ["repl", "--agent", "other"] });
    await one.prompt();
    await two.prompt();
    await one.line("demo.delete_note id=n1", "[1/n]");
    await two.terminal.shows((screen) => screen.includes("/answer 1"));
    await one.answer("n");
    await two.terminal.shows((screen) => screen.includes("question 1 is settled"));
    await two.line("/answer 1", "no question 1 waits for an answer");
    await one.terminal.shows((screen) => screen.includes("delete_note was not allowed"));
    await one.leave();
    await two.leave();
    await stop(host);
  });

  it("CLI-05 CLI-06: private is hidden from the other, shared still asks it", async () => {
    const sandbox = new CliSandbox().configureUser({ demo: demoEntry });
    const host = await up(sandbox);
    const one = new ReplAtTerminal(sandbox);
    const two = new ReplAtTerminal(sandbox, { words: ["repl", "--agent", "other"] });
    await one.line("/mcp connect demo --allow-all --private", "demo connected");
    await two.line("demo.echo message=hi", /no server|does not see|has no tool/);
    await one.line("/mcp disconnect demo", "disconnected");
    await one.line("/mcp connect demo --allow-all --shared", "demo connected");
    await one.line("demo.echo message=mine", "mine");
    await two.line("demo.echo message=yours", "[1/2/3/n]");
    await two.answer("n", "echo was not allowed");
    await one.leave();
    await two.leave();
    await stop(host);
  });

  it("a question of a program is answered in a REPL, which says who asks", async () => {
    const sandbox = new CliSandbox().configureUser({ demo: demoEntry });
    const host = await up(sandbox);
    const repl = new ReplAtTerminal(sandbox);
    await repl.prompt();
    const child = spawn(process.execPath, [program, demoEntry.command, ...demoEntry.args], {
      cwd: sandbox.cwd,
      env: sandbox.environment,
      stdio: ["ignore", "pipe", "inherit"],
    });
    const printed = text(child.stdout);
    await repl.terminal.shows((screen) =>
      /"worker" wants to call own\.delete_note.*asking-program\.mjs \(process \d+\)/.test(
        screen.replaceAll("\n", ""),
      ),
    );
    await repl.line("/answer 1", "[1/N]");
    await repl.answer("1");
    if (child.exitCode === null) await once(child, "close");
    expect(await printed).toBe("Deleted note n1.\n");
    await repl.leave();
    await stop(host);
  });

  it("goes on alone when the host dies, in the middle of a call, too", async () => {
    const sandbox = new CliSandbox();
    sandbox.configureUser({ demo: recordedEntry(path.join(sandbox.cwd, "messages")) });
    const host = await up(sandbox);
    const repl = new ReplAtTerminal(sandbox, { words: ["repl", "--level", "yolo"] });
    await repl.line("demo.slow steps=100 delayMs=60000", "slow");
    await sandbox.holds("messages", "tools/call");
    host.signal("SIGKILL");
    await host.ended.catch(() => undefined);
    await repl.terminal.shows((screen) => screen.includes("from here on this works alone"));
    await repl.line("demo.add a=2 b=3", "5");
    await repl.leave();
  });

  it("leaving one REPL takes nothing from the other, and no process stays", async () => {
    const sandbox = new CliSandbox().configureUser({ demo: demoEntry });
    const host = await up(sandbox);
    const one = new ReplAtTerminal(sandbox, { words: ["repl", "--level", "yolo"] });
    const two = new ReplAtTerminal(sandbox, { words: ["repl", "--level", "yolo"] });
    await one.prompt();
    await two.prompt();
    one.terminal.kill("SIGKILL");
    await one.terminal.ended;
    await two.line("demo.add a=2 b=3", "5");
    for (const signal of ["SIGTERM", "SIGHUP"] as const) {
      const third = new ReplAtTerminal(sandbox, { words: ["repl", "--level", "yolo"] });
      await third.line("demo.slow steps=100 delayMs=60000", "slow");
      third.terminal.kill(signal);
      await third.end();
    }
    await two.leave();
    await stop(host);
  });
});
