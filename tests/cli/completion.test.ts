import { existsSync, writeFileSync } from "node:fs";
import path from "node:path";
import { fileURLToPath } from "node:url";

import { describe, expect, it } from "vitest";

import { completingShells, installCommand } from "../../scripts/debian-packages.mjs";
import { CliSandbox, demoEntry, type RunningCli } from "./run-cli.ts";

const program = fileURLToPath(new URL("../fixtures/servers/listing-server.mjs", import.meta.url));
const hostile = "$(touch x)";
const paint = {
  name: "paint",
  description: "Paints a wall",
  inputSchema: {
    type: "object",
    properties: {
      colour: { enum: ["red", "dark red", hostile] },
      isGlossy: { type: "boolean" },
      corners: { type: "array", items: { type: "number" } },
      name: { type: "string" },
    },
  },
};

/** A place in which the tools of two servers were listed before. */
async function listedSandbox(...tools: readonly unknown[]): Promise<CliSandbox> {
  const sandbox = new CliSandbox();
  const file = path.join(sandbox.home, "tools.json");
  writeFileSync(file, JSON.stringify(tools));
  const wall = { command: process.execPath, args: [program, file], protocol: "2025-11-25" };
  sandbox.configureUser({ demo: demoEntry, wall });
  expect(await sandbox.run(["tools", "--quiet"])).toMatchObject({ exitCode: 0 });
  // Whatever completes from now on must not start it.
  writeFileSync(file, "no list");
  return sandbox;
}

/** What is offered for the last of the words. */
async function offered(sandbox: CliSandbox, ...words: readonly string[]): Promise<string[]> {
  const { stdout, stderr, exitCode } = await sandbox.run(["__complete", "fish", ...words]);
  expect({ stderr, exitCode }).toEqual({ stderr: "", exitCode: 0 });
  return stdout.split("\n").slice(0, -1);
}

describe("plugboard __complete", () => {
  it("offers commands with their summaries, their options and the values of those", async () => {
    const sandbox = new CliSandbox();
    expect(await offered(sandbox, "te")).toEqual([
      "test\tstart one server, list its tools, stop it",
      "test-server\trun the bundled test server",
    ]);
    expect(await offered(sandbox, "help", "wh")).toEqual([expect.stringMatching(/^why\t/)]);
    const options = await offered(sandbox, "list", "--");
    expect(options.map((line) => line.split("\t", 1).join())).toEqual([
      "--check",
      "--help",
      "--version",
      "--json",
      "--quiet",
      "--no-color",
      "--config",
      "--cwd",
      "--db",
      "--yes",
      "--log-level",
    ]);
    expect(await offered(sandbox, "--log-level", "")).toHaveLength(5);
    expect(await offered(sandbox, "why", "--level", "tr")).toEqual(["trusted"]);
    expect(await offered(sandbox, "why", "--level=tr")).toEqual(["--level=trusted"]);
    expect(await offered(sandbox, "--log-level", "warn", "consent", "a")).toEqual(["allow"]);
    expect(await offered(sandbox, "test-server", "")).toEqual(["stdio", "http", "sse", "rest"]);
  });

  it("offers servers, remembered tools, arguments and their values, and starts nothing", async () => {
    const sandbox = await listedSandbox(paint);
    const names = async (...words: string[]): Promise<string[]> =>
      (await offered(sandbox, ...words)).map((line) => line.split("\t", 1).join());
    expect(await names("get", "")).toEqual(["demo", "wall"]);
    expect(await names("tools", "w")).toEqual(["wall"]);
    expect(await names("tools", "wall", "")).toEqual([]);
    expect(await offered(sandbox, "call", "wall.")).toEqual(["wall.paint\tPaints a wall"]);
    expect(await names("why", "main", "demo.a")).toEqual(["demo.add", "demo.ask_name"]);
    expect(await offered(sandbox, "call", "wall.paint", "")).toEqual([
      `colour=\t"red" | "dark red" | "${hostile}"`,
      "isGlossy=\tboolean",
      "corners:=\tnumber[]",
      "name=\tstring",
    ]);
    expect(await names("call", "wall.paint", "colour=red", "is")).toEqual(["isGlossy="]);
    expect(await names("call", "wall.paint", "colour=red", "co")).toEqual(["corners:="]);
    expect(await names("call", "wall.paint", "colour=d")).toEqual(["colour=dark red"]);
    expect(await names("call", "wall.paint", 'colour:="d')).toEqual(['colour:="dark red"']);
    expect(await names("call", "wall.paint", "--timeout", "1s", "isGlossy=")).toEqual([
      "isGlossy=true",
      "isGlossy=false",
    ]);
    expect(await names("call", "wall.paint", "name=")).toEqual([]);
    expect(await names("call", "wall.none", "")).toEqual([]);
    expect(await names("tools", "--", "no")).toEqual([]);
  });

  it("looks where --config and --cwd say, and has the demo server where nothing is configured", async () => {
    const sandbox = new CliSandbox();
    expect(await offered(sandbox, "get", "")).toEqual([expect.stringMatching(/^demo\t/)]);
    const file = path.join(sandbox.home, "other.json");
    writeFileSync(file, JSON.stringify({ mcpServers: { other: demoEntry } }));
    const [server] = await offered(
      sandbox,
      "--config",
      "other.json",
      "--cwd",
      sandbox.home,
      "get",
      "",
    );
    expect(server).toMatch(/^other\t/);
    expect(await offered(sandbox, `--config=${file}`, "get", "o")).toEqual([server]);
  });

  it("many tools are offered server by server", async () => {
    const tools = Array.from({ length: 120 }, (_, index) => ({ ...paint, name: `paint_${index}` }));
    const sandbox = await listedSandbox(...tools);
    expect((await offered(sandbox, "call", "")).map((line) => line.split("\t", 1).join())).toEqual([
      "demo.",
      "wall.",
    ]);
    expect(await offered(sandbox, "call", "wall.paint_11")).toHaveLength(11);
  });

  it("has nothing to offer, and nothing to say, whatever is wrong", async () => {
    const sandbox = new CliSandbox();
    expect(await offered(sandbox, "nothing", "")).toEqual([]);
    expect(await offered(sandbox, "--cwd", "missing", "get", "")).toEqual([]);
    writeFileSync(path.join(sandbox.cwd, ".mcp.json"), "{");
    expect(await offered(sandbox, "get", "")).toEqual([]);
    for (const words of [[], ["tcsh", ""], ["bash"]])
      expect(await sandbox.run(["__complete", ...words])).toMatchObject({
        stderr: "",
        exitCode: 0,
      });
  });

  it("names that hide what they are made of are not offered", async () => {
    const names = ["a\u001B[2Jb", "a\nb", "a\u202Eb", "fine"];
    const sandbox = await listedSandbox(...names.map((name) => ({ ...paint, name })));
    expect(await offered(sandbox, "call", "wall.")).toEqual(["wall.fine\tPaints a wall"]);
  });
});

/** What `_plugboard` of the script for bash answers for a line. */
async function replies(sandbox: CliSandbox, line: string): Promise<string[]> {
  const script = [
    "source <(plugboard completion bash)",
    'COMP_LINE="$1" COMP_POINT=${#1}',
    "_plugboard 2>/dev/null",
    'printf "%s\\n" "${COMPREPLY[@]}"',
  ];
  const quoted = [script.join("\n"), "bash", line].map(
    (word) => `'${word.replaceAll("'", String.raw`'\''`)}'`,
  );
  const { stdout, exitCode } = await sandbox.type(`bash --norc --noprofile -c ${quoted.join(" ")}`);
  expect(exitCode).toBe(0);
  return stdout.split("\n").slice(0, -1);
}

const missing = new Map(
  completingShells
    .filter((shell) => shell.find() === undefined)
    .map((shell) => [shell.name, installCommand(shell)]),
);

function inShell(name: string): { readonly isMissing: boolean; readonly note: string } {
  const install = missing.get(name);
  return {
    isMissing: install !== undefined,
    note: install === undefined ? name : `${name} (skipped: no ${name}: ${install})`,
  };
}

const bash = inShell("bash");
describe.skipIf(bash.isMissing)(`completion in ${bash.note}`, () => {
  it("replaces what follows the last break of a word, and quotes it", async () => {
    const sandbox = await listedSandbox(paint, { ...paint, name: hostile });
    expect(await replies(sandbox, "plugboard lis")).toEqual(["list"]);
    expect(await replies(sandbox, "A=1 plugboard get  w")).toEqual(["wall"]);
    for (const typed of ["wall.$", String.raw`wall.\$`])
      expect(await replies(sandbox, `plugboard call ${typed}`)).toEqual([
        String.raw`wall.\$\(touch\ x\)`,
      ]);
    expect(await replies(sandbox, "plugboard call wall.paint colour=")).toEqual([
      "red",
      String.raw`dark\ red`,
      String.raw`\$\(touch\ x\)`,
    ]);
    expect(await replies(sandbox, "plugboard call wall.paint 'colour=")).toEqual(["colour=red"]);
    expect(await replies(sandbox, 'plugboard call "wall".paint colour="r')).toEqual(["red"]);
    expect(existsSync(path.join(sandbox.cwd, "x"))).toBe(false);
  });
});

/** Types into an interactive shell, after its completion is loaded. */
async function startShell(
  sandbox: CliSandbox,
  words: readonly string[],
  load: string,
): Promise<RunningCli> {
  const shell = sandbox.startCommandInTerminal(words);
  shell.type(`${load}; echo rea''dy\n`);
  await shell.writes("stdout", "ready");
  return shell;
}

/** How each shell is started without the user's own settings, how it loads the script, and how it shows the name. */
const interactive = [
  ["bash", ["bash", "--norc", "--noprofile", "-i"], "source <(plugboard completion bash)"],
  [
    "zsh",
    ["zsh", "-f", "-i"],
    "autoload -Uz compinit; compinit -u -D; source <(plugboard completion zsh)",
  ],
  ["fish", ["fish", "--no-config", "-i"], "plugboard completion fish | source"],
] as const;

describe.each(interactive)("%s at a terminal", (name, words, load) => {
  const { isMissing, note } = inShell(name);

  it.skipIf(isMissing)(`${note}: completes a command, and its option`, async () => {
    const shell = await startShell(new CliSandbox(), words, load);
    shell.type("plugboard lis\t--che\t\n");
    await shell.writes("stdout", "● connected");
    shell.type("exit\n");
    await shell.ended;
  });

  it.skipIf(isMissing)(
    `${note}: a hostile name of a tool is typed as a name, and nothing of it runs`,
    async () => {
      const sandbox = await listedSandbox({ ...paint, name: hostile });
      writeFileSync(
        path.join(sandbox.home, "tools.json"),
        JSON.stringify([{ ...paint, name: hostile }]),
      );
      const shell = await startShell(sandbox, words, load);
      shell.type("plugboard call wa\t\n");
      await shell.writes("stdout", `ran ${hostile}`);
      shell.type("exit\n");
      await shell.ended;
      expect(existsSync(path.join(sandbox.cwd, "x"))).toBe(false);
    },
  );
});
