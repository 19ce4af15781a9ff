import { existsSync, mkdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import path from "node:path";
import { fileURLToPath } from "node:url";

import { describe, expect, it } from "vitest";

import { keys, ReplAtTerminal, type ReplOptions } from "./repl-terminal.ts";
import { CliSandbox, demoEntry, recordedEntry } from "./run-cli.ts";

const fixture = (name: string): string =>
  fileURLToPath(new URL(`../fixtures/servers/${name}`, import.meta.url));

const bash = "/bin/bash";

function demoSandbox(entry: object = {}): CliSandbox {
  return new CliSandbox().configureUser({ demo: { ...demoEntry, ...entry } });
}

/** The server that lists what a file holds, beside the demo server. */
function listingSandbox(...tools: readonly object[]): { sandbox: CliSandbox; file: string } {
  const sandbox = new CliSandbox();
  const file = path.join(sandbox.home, "tools.json");
  writeFileSync(file, JSON.stringify(tools));
  const args = [fixture("listing-server.mjs"), file];
  const wall = { command: process.execPath, args, protocol: "2025-11-25" };
  return { sandbox: sandbox.configureUser({ wall }), file };
}

const open = (sandbox: CliSandbox, options?: ReplOptions): ReplAtTerminal =>
  new ReplAtTerminal(sandbox, options);

describe("connecting in the REPL", () => {
  it("CLI-01 CLI-02 CLI-12 STA-05: /mcp lists, connect asks for consent and then for sharing", async () => {
    const repl = open(demoSandbox());
    await repl.line("/mcp");
    await repl.line("/mcp connect demo", "[1/2/3/n]");
    await repl.answer("2", "[y/N]");
    await repl.answer("");
    await repl.line("/mcp");
    await repl.line("/mcp connect demo");
    repl.matches("connect");
    await repl.leave();
  });

  it.each([
    ["CLI-03", "--allow-all", "[y/N]"],
    ["CLI-04", "--per-tool", "[y/N]"],
    ["CLI-05", "--shared", "[1/2/3/n]"],
    ["CLI-06", "--private", "[1/2/3/n]"],
  ])("%s: %s answers its question beforehand", async (_id, flag, other) => {
    const repl = open(demoSandbox());
    await repl.line(`/mcp connect demo ${flag}`, other);
    await repl.answer(other === "[y/N]" ? "n" : "1");
    if (flag === "--per-tool") {
      await repl.line("demo.echo message=hi", "[1/2/3/n]");
      await repl.answer("1");
    } else await repl.line("demo.echo message=hi");
    await repl.line("/mcp");
    repl.matches(`connect${flag.replace("-", "")}`);
    await repl.leave();
  });

  it("CLI-11: contradictory flags are an error of usage, and nothing is started", async () => {
    const repl = open(demoSandbox());
    await repl.line("/mcp connect demo --allow-all --per-tool");
    await repl.line("/mcp connect demo --shared --private");
    repl.matches("contradictory-flags");
    await repl.leave();
  });

  it("CLI-12: level yolo asks nothing", async () => {
    const repl = open(demoSandbox(), { words: ["repl", "--level", "yolo"] });
    await repl.line("/mcp connect demo");
    await repl.line("demo.delete_note id=n1");
    repl.matches("yolo");
    await repl.leave();
  });

  it.each([
    ["Enter", keys.enter],
    ["n", `n${keys.enter}`],
    ["Ctrl-C", keys.interrupt],
    ["the end of input", keys.end],
  ])("CLI-12: %s at the second gate disconnects it again", async (_name, typed) => {
    const repl = open(demoSandbox());
    await repl.line("/mcp connect demo", "[1/2/3/n]");
    await repl.keys(typed, '"demo" is disconnected again: its tools were not allowed.');
    await repl.line("/mcp", /demo +○ idle/);
    await repl.leave();
  });

  it("CLI-12: some tools are chosen, and the others are asked about", async () => {
    const repl = open(demoSandbox());
    await repl.line("/mcp connect demo --private", "[1/2/3/n]");
    await repl.answer("3", "Without asking");
    await repl.answer("1,99", "numbers from");
    await repl.answer("1");
    await repl.line("demo.echo message=unasked");
    await repl.line("demo.slow steps=1", "[1/2/3/n]");
    await repl.answer("n");
    repl.matches("choose");
    await repl.leave();
  });

  it("CLI-12: a project's server is asked about before it starts, and no is no", async () => {
    const sandbox = new CliSandbox().configureProject({ notes: demoEntry });
    const repl = open(sandbox);
    await repl.line("/mcp connect notes --private", "[y/N]");
    await repl.keys(keys.end);
    await repl.line("/mcp connect notes --private", "[y/N]");
    await repl.answer("y", "[1/2/3/n]");
    await repl.answer("1");
    repl.matches("launch-approval");
    await repl.leave();
  });

  it("CLI-13 REG-17: each thing that cannot be done has a message of its own", async () => {
    const sandbox = new CliSandbox().configureUser({
      demo: demoEntry,
      off: { ...demoEntry, enabled: false },
    });
    const repl = open(sandbox);
    await repl.line("/mcp connect dmo");
    await repl.line("/mcp connect");
    await repl.line("/mcp disconnect demo");
    await repl.line("/mcp tools off");
    await repl.line("/mcp conect demo");
    await repl.line("/mcq");
    await repl.line("hello there");
    await repl.line("demo.ad a=1");
    await repl.line("demo.add a=1");
    await repl.line("/mcp connect demo --allow-all --private");
    await repl.line("/mcp connect demo --allow-all --private");
    await repl.line("/mcp connect demo --shared");
    await repl.line("/agent helper");
    await repl.line("/mcp tools demo");
    repl.matches("refusals");
    await repl.leave();
  });
});

describe("two agents in the REPL", () => {
  it("CLI-06: a private server is not there for another agent", async () => {
    const repl = open(demoSandbox());
    await repl.line("/mcp connect demo --allow-all --private");
    await repl.line("/agent helper");
    await repl.line("/mcp");
    await repl.line("demo.echo message=hi");
    await repl.line("/agent main");
    await repl.line("/mcp");
    repl.matches("two-agents-private");
    await repl.leave();
  });

  it("CLI-05 CLI-07 CLI-17: a shared one asks again, and only its owner ends it", async () => {
    const repl = open(demoSandbox());
    await repl.line("/mcp connect demo --allow-all --shared");
    await repl.line("/agent helper");
    await repl.line("demo.echo message=hi", "[1/2/3/n]");
    await repl.answer("2");
    await repl.line("demo.echo message=again");
    await repl.line("/mcp disconnect demo");
    await repl.line("/agent main");
    await repl.line("/mcp disconnect demo");
    await repl.line("/mcp connect demo --per-tool --private");
    await repl.line("demo.echo message=anew", "[1/2/3/n]");
    await repl.answer("n");
    repl.matches("two-agents-shared");
    await repl.leave();
  });
});

describe("calls in the REPL", () => {
  it("asks as the call needs it, shows all of long arguments, and destructive ones once", async () => {
    const repl = open(demoSandbox());
    await repl.line(
      `demo.echo message=${"long ".repeat(20).trim().replaceAll(" ", "-")}`,
      "[1/2/3/n]",
    );
    await repl.answer("1", /answer once more[^]*\[1\/2\/3\/n\]\n$/);
    await repl.answer("3");
    await repl.line("demo.slow steps=1");
    await repl.line("demo.delete_note id=n1", "[1/n]");
    await repl.answer("v", /"id":[^]*\[1\/n\]\n$/);
    await repl.answer("1");
    await repl.line("demo.delete_note id=n2", "[1/n]");
    await repl.keys(keys.interrupt);
    await repl.line("/mcp why main demo.echo");
    repl.matches("consent");
    await repl.leave();
  });

  it("shows progress, and Ctrl-C cancels: the server sees it", async () => {
    const sandbox = new CliSandbox();
    sandbox.configureUser({ demo: recordedEntry(path.join(sandbox.cwd, "wire.log")) });
    const repl = open(sandbox);
    await repl.line("/mcp connect demo --allow-all --private");
    await repl.line("demo.slow steps=50", /█.* 3\/50/);
    repl.matches("progress");
    repl.terminal.type(keys.interrupt);
    await repl.terminal.shows("was cancelled");
    await sandbox.holds("wire.log", "notifications/cancelled");
    await repl.line("demo.add a=2 b=3");
    repl.matches("cancelled-call");
    await repl.leave();
  });

  it("fills in what a server asks for, and the end of input declines it", async () => {
    const repl = open(demoSandbox());
    await repl.line("/mcp connect demo --allow-all --private");
    await repl.line("demo.ask_name", /Name: *\n$/);
    await repl.answer("Ada", "[y/N]");
    await repl.answer("y");
    await repl.line("demo.ask_name", /Name: *\n$/);
    await repl.keys(keys.end);
    repl.matches("elicitation");
    await repl.leave();
  });

  it("lets the person answer for a model, or decline", async () => {
    const args = [fixture("modelling-server.mjs")];
    const oracle = { command: process.execPath, args, protocol: "2025-11-25" };
    const repl = open(new CliSandbox().configureUser({ oracle }));
    await repl.line("/mcp connect oracle --allow-all --private");
    await repl.line("oracle.consult", "[1/2/N]");
    await repl.answer("1", /\| *\n$/);
    await repl.answer("Lima,", /Lima,\n\| *\n$/);
    await repl.answer("I think.", /think\.\n\| *\n$/);
    await repl.answer(".");
    await repl.line("oracle.consult", "[1/2/N]");
    await repl.answer("1", /\| *\n$/);
    await repl.answer("");
    await repl.line("oracle.consult", "[1/2/N]");
    await repl.answer("");
    repl.matches("sampling");
    await repl.leave();
  });

  it("ENV-12: what an entry asks for is typed unseen, and kept nowhere in clear text", async () => {
    const sandbox = new CliSandbox();
    const inputs = [{ type: "promptString", id: "key", description: "Your key", password: true }];
    const demo = { ...demoEntry, env: { KEY: "${input:key}" } };
    mkdirSync(path.join(sandbox.cwd, ".vscode"));
    const file = path.join(sandbox.cwd, ".vscode", "mcp.json");
    writeFileSync(file, JSON.stringify({ inputs, servers: { demo } }));
    // No word about where a key is held, which depends on the machine.
    const env = { PLUGBOARD_SECRET_KEY: "ab".repeat(32) };
    const repl = open(sandbox, { words: ["--config", ".vscode/mcp.json", "repl"], env });
    await repl.line("/mcp connect demo --allow-all --private", "  key:");
    await repl.keys(`typed-canary${keys.enter}`);
    await repl.line("demo.echo message=hi");
    expect(repl.terminal.screen).not.toContain("typed");
    repl.matches("hidden-input");
    await repl.leave();
    const history = readFileSync(path.join(sandbox.home, ".plugboard", "repl-history"), "utf8");
    expect(history).not.toContain("typed");
  });

  it("tells that a server died, in the call and at the prompt", async () => {
    // Wide enough for the longest line: where it would be broken depends on how long the server lived.
    const repl = open(demoSandbox({ reconnect: false }), { columns: 180 });
    await repl.line("/mcp connect demo --allow-all --private");
    await repl.line("demo.crash");
    await repl.line("/mcp");
    repl.matches("crash");
    await repl.leave();
  });

  it("B-N34: a long result is shown in part, and /last shows the whole", async () => {
    const repl = open(demoSandbox());
    await repl.line("/mcp connect demo --allow-all --private");
    const text = Array.from({ length: 60 }, (_, index) => `line-${index}`).join(String.raw`\n`);
    await repl.line(`demo.echo message=$'${text}'`, "/last");
    await repl.prompt();
    expect(repl.terminal.screen).not.toMatch(/^line-59$/m);
    repl.matches("preview");
    await repl.line("/last", /^line-59$/m);
    await repl.leave();
  });

  it("CLI-08 CLI-09 CLI-15: reaches everything else by /mcp, /server:prompt and @server:uri", async () => {
    const repl = open(demoSandbox(), { rows: 120 });
    await repl.line("/mcp tools");
    await repl.line("/mcp connect demo --allow-all --private");
    await repl.line("/mcp tools");
    await repl.line("/mcp tools demo");
    await repl.line("/mcp resources demo");
    await repl.line("/mcp prompts demo");
    await repl.line("/demo:greeting name=Ada");
    await repl.line("@demo:file:///readme.txt");
    await repl.line("/mcp status demo");
    await repl.line("/mcp retry demo");
    await repl.line("/mcp disable demo");
    await repl.line("/mcp enable demo");
    await repl.line("/mcp reload");
    await repl.line("/log on");
    await repl.line("/consent list");
    repl.matches("everything-else");
    await repl.leave();
  });
});

describe("typing in the REPL", () => {
  const paint = {
    name: "paint",
    description: "Paints a wall",
    inputSchema: {
      type: "object",
      properties: { colour: { enum: ["red", "dark red"] }, name: { type: "string" } },
    },
  };

  it("Tab completes commands, flags, servers, tools, argument keys and values", async () => {
    const { sandbox } = listingSandbox(paint);
    const repl = open(sandbox);
    await repl.line("/mcp connect wall --allow-all --private");
    await repl.prompt();
    const { terminal } = repl;
    terminal.type(`/mcp disc${keys.tab}`);
    await terminal.typing("> /mcp disconnect ");
    terminal.type(`wa${keys.tab}`);
    await terminal.typing("> /mcp disconnect wall ");
    await repl.keys(keys.interrupt);
    terminal.type(`/mcp connect wall --per${keys.tab}`);
    await terminal.typing("> /mcp connect wall --per-tool ");
    await repl.keys(keys.interrupt);
    terminal.type(`wall.p${keys.tab}`);
    await terminal.typing("> wall.paint ");
    terminal.type(`col${keys.tab}`);
    await terminal.typing("> wall.paint colour=");
    terminal.type(`d${keys.tab}`);
    await terminal.typing("> wall.paint 'colour=dark red' ");
    await repl.answer("", "ran paint");
    await repl.prompt();
    terminal.type(`/mcp d${keys.tab}`);
    await terminal.shows(/disable +disconnect +doctor/);
    await terminal.typing("> /mcp d");
    repl.matches("completion");
    await repl.keys(keys.interrupt);
    await repl.leave();
  });

  it("CLI-16: hostile names are shown as what they are, and complete to exactly themselves", async () => {
    const args = [fixture("modelling-server.mjs")];
    const oracle = { command: process.execPath, args, protocol: "2025-11-25" };
    const repl = open(new CliSandbox().configureUser({ oracle }));
    const { terminal } = repl;
    await repl.line("/mcp connect oracle --allow-all --private");
    terminal.type(`/oracle:${keys.tab}`);
    await terminal.shows("two words'");
    for (const begin of ["e", "b", "t", "i"]) {
      await terminal.typing("> /oracle:");
      terminal.type(`${begin}${keys.tab}`);
      await terminal.shows(() => terminal.typedLine.endsWith("' "));
      await repl.answer("");
      terminal.type("/oracle:");
    }
    await terminal.typing("> /oracle:");
    repl.matches("hostile-names");
    await repl.keys(keys.interrupt);
    await repl.leave();
  });

  it("keeps a history without secrets and answers, for its owner alone", async () => {
    const sandbox = demoSandbox();
    const first = open(sandbox);
    await first.line("/mcp connect demo --private", "[1/2/3/n]");
    await first.answer("1");
    await first.line("demo.echo message=remembered");
    await first.line("demo.echo message=x password=hunter2-canary");
    await first.line("/mcp add api http://127.0.0.1:1/ -H 'Authorization: Bearer canary-7654321'");
    await first.leave();
    const file = path.join(sandbox.home, ".plugboard", "repl-history");
    const kept = readFileSync(file, "utf8");
    expect(statSync(file).mode & 0o777).toBe(0o600);
    expect(kept).toContain("message=remembered");
    expect(kept).not.toMatch(/canary/);
    expect(kept.split("\n")).not.toContain('"1"');
    const second = open(sandbox);
    await second.prompt();
    second.terminal.type(keys.up.repeat(3));
    await second.terminal.typing("> demo.echo message=remembered");
    second.terminal.type(keys.interrupt);
    await second.leave();
  });

  it("pasted newlines end no line, and escape sequences in a paste do nothing", async () => {
    const repl = open(demoSandbox());
    await repl.line("/mcp connect demo --allow-all --private");
    await repl.prompt();
    repl.terminal.paste("demo.add\n a=2\n\u001B[2Jb=3");
    await repl.terminal.shows(/b=3\n$/);
    expect(repl.terminal.screen).not.toMatch(/^5$/m);
    repl.terminal.type(keys.enter);
    await repl.terminal.shows(/^5$/m);
    await repl.prompt();
    repl.matches("paste");
    await repl.leave();
  });

  it("goes on in the next line while a quote is open, or behind a backslash", async () => {
    const repl = open(demoSandbox());
    await repl.line("/mcp connect demo --allow-all --private");
    await repl.line("demo.echo \\", /… *\n$/);
    await repl.answer("message='two", /two\n… *\n$/);
    await repl.answer("lines'", /^lines$/m);
    await repl.prompt();
    repl.matches("several-lines");
    await repl.leave();
  });

  it("writes arguments in an editor", async () => {
    const sandbox = demoSandbox();
    const editor = path.join(sandbox.home, "editor.mjs");
    writeFileSync(
      editor,
      `import { readFileSync, writeFileSync } from "node:fs";
       const file = process.argv[2];
       const draft = JSON.parse(readFileSync(file, "utf8"));
       writeFileSync(file, JSON.stringify({ ...draft, a: 20, b: 3 }));`,
    );
    const repl = open(sandbox, { env: { EDITOR: `'${process.execPath}' '${editor}'` } });
    await repl.line("/mcp connect demo --allow-all --private");
    await repl.line("/edit-args demo.add", /^23$/m);
    await repl.line("/mcp call demo.add --args", /^23$/m);
    await repl.leave();
  });

  it("Ctrl-C clears the line, and offers to leave when there is none", async () => {
    const repl = open(demoSandbox());
    await repl.prompt();
    repl.terminal.type("half a line");
    await repl.terminal.typing("> half a line");
    repl.terminal.type(keys.interrupt);
    await repl.prompt();
    repl.terminal.type(keys.interrupt);
    await repl.terminal.shows(/\^C[^]*\^C/);
    await repl.prompt();
    repl.terminal.type(keys.interrupt);
    await repl.terminal.typing("Leave? [y/N] ");
    await repl.answer("n");
    repl.matches("interrupts");
    repl.terminal.type(keys.interrupt);
    await repl.terminal.shows(/Leave[^]*\^C/);
    await repl.prompt();
    repl.terminal.type(keys.interrupt);
    await repl.terminal.typing("Leave? [y/N] ");
    repl.terminal.type(`y${keys.enter}`);
    expect(await repl.end()).toBe(0);
  });

  it("tells what happens above the line that is typed, which stays as it is", async () => {
    const { sandbox, file } = listingSandbox(paint);
    const repl = open(sandbox);
    await repl.line("/mcp connect wall --allow-all --private");
    await repl.prompt();
    repl.terminal.type("wall.paint name=Ada");
    await repl.terminal.typing("> wall.paint name=Ada");
    const other = { ...paint, name: "polish" };
    writeFileSync(file, JSON.stringify([paint, other]));
    await repl.terminal.shows(/tools changed \(new: polish\)\n> wall\.paint name=Ada\n$/);
    await repl.terminal.typing("> wall.paint name=Ada");
    repl.matches("notice");
    repl.terminal.type(keys.enter);
    await repl.terminal.shows("ran paint");
    await repl.leave();
  });

  it("fits itself to the window, also to one that becomes narrower", async () => {
    const repl = open(demoSandbox());
    await repl.prompt();
    const typed = `demo.echo message=${"x".repeat(60)}`;
    repl.terminal.type(typed);
    await repl.terminal.typing(`> ${typed}`);
    repl.terminal.resize(50, 20);
    await repl.terminal.shows(/x{20,}\n$/);
    repl.terminal.type(keys.interrupt);
    await repl.prompt();
    await repl.leave();
  });

  it.skipIf(!existsSync(bash))(
    "stops at Ctrl-Z, and goes on with its line in the foreground again",
    async () => {
      const words = ["--norc", "--noprofile", "-i"];
      const repl = open(demoSandbox(), { command: bash, words, env: { PS1: "shell% " } });
      const { terminal } = repl;
      await terminal.typing("shell% ");
      terminal.type(`plugboard repl${keys.enter}`);
      await repl.prompt();
      terminal.type("/mcp to");
      await terminal.typing("> /mcp to");
      terminal.type(keys.stop);
      await terminal.shows("Stopped");
      await terminal.typing("shell% ");
      terminal.type(`fg${keys.enter}`);
      await terminal.typing("> /mcp to");
      terminal.type(keys.interrupt);
      await repl.prompt();
      terminal.type(keys.end);
      await terminal.typing("shell% ");
      terminal.type(`exit${keys.enter}`);
      expect(await repl.end()).toBe(0);
    },
  );
});

describe("the REPL without a screen to redraw", () => {
  it("works at a dumb terminal, line by line", async () => {
    const sandbox = new CliSandbox();
    sandbox.configureUser({ demo: recordedEntry(path.join(sandbox.cwd, "wire.log")) });
    const repl = open(sandbox, { kind: "dumb" });
    await repl.line("/mcp connect demo --private", "[1/2/3/n]");
    await repl.answer("2");
    await repl.line("demo.echo message=hi", "[1/2/3/n]");
    await repl.answer("3", /^hi$/m);
    await repl.line("demo.slow steps=50", "calling demo.slow");
    await sandbox.holds("wire.log", '"slow"');
    await repl.keys(keys.interrupt, "was cancelled");
    await repl.prompt();
    repl.matches("dumb");
    await repl.leave();
  });

  it("CLI-14: reads lines of a pipe, asks nothing, and ends with the last failure", async () => {
    const sandbox = demoSandbox();
    const input = [
      "# what follows is typed by nobody",
      "/mcp connect demo",
      "/mcp connect demo --per-tool --private",
      "demo.add a=2 b=3",
      "/mcp",
    ].join("\n");
    const { stdout, stderr, exitCode } = await sandbox.runAsProcess(["repl"], { input });
    expect(stdout).toMatch(/demo +● connected/);
    expect(stdout).not.toMatch(/^5$/m);
    expect(stdout).not.toContain(">");
    expect(stderr).toContain("Nobody can be asked here");
    expect(stderr).toContain("demo.add");
    expect(exitCode).toBe(6);
    const yolo = await sandbox.runAsProcess(["repl", "--level", "yolo"], {
      input: "demo.add a=2 b=3\n/mcq",
    });
    expect(yolo.stdout).toBe("5\n");
    expect(yolo.exitCode).toBe(2);
  });

  it("is what plugboard alone opens at a terminal, and nowhere else", async () => {
    const sandbox = demoSandbox();
    const repl = open(sandbox, { words: [] });
    await repl.prompt();
    repl.terminal.type(`/exit${keys.enter}`);
    expect(await repl.end()).toBe(0);
    expect(await sandbox.run([])).toMatchObject({ exitCode: 2 });
  });
});
