import { readFileSync } from "node:fs";
import path from "node:path";

import { describe, expect, it } from "vitest";

import { keptScripts } from "./kept-code.ts";
import { CliSandbox } from "./run-cli.ts";

const { version } = JSON.parse(
  readFileSync(path.resolve(import.meta.dirname, "../../package.json"), "utf8"),
) as { version: string };
const sandbox = new CliSandbox();

describe("plugboard", () => {
  it.each([[["--version"]], [["-V"]], [["--quiet", "--version"]]])(
    "%j prints the version",
    async (words) => {
      expect(await sandbox.runAsProcess(words)).toEqual({
        stdout: `${version}\n`,
        stderr: "",
        exitCode: 0,
      });
    },
  );

  it("--help and help list the commands, and nothing that does not exist", async () => {
    const [flag, command] = await Promise.all([sandbox.run(["--help"]), sandbox.run(["help"])]);
    expect(flag).toEqual(command);
    expect(flag).toMatchObject({ stderr: "", exitCode: 0 });
    const names = [...flag.stdout.matchAll(/^ {2}([a-z][a-z-]*) (?:\[|<|  )/gm)].map(
      ([, name]) => name,
    );
    expect(names).toEqual([
      "up",
      "repl",
      "add",
      "add-json",
      "import",
      "get",
      "edit",
      "remove",
      "enable",
      "disable",
      "connect",
      "disconnect",
      "reconnect",
      "login",
      "logout",
      "call",
      "list",
      "tools",
      "resources",
      "prompts",
      "types",
      "consent",
      "secret",
      "why",
      "logs",
      "audit",
      "test",
      "approve",
      "config",
      "doctor",
      "completion",
      "test-server",
      "help",
    ]);
    expect(Math.max(...flag.stdout.split("\n").map((line) => line.length))).toBeLessThanOrEqual(
      100,
    );
  });

  it("help <command> and <command> --help show the options of one command", async () => {
    const [one, other] = await Promise.all([
      sandbox.run(["help", "call"]),
      sandbox.run(["call", "--help"]),
    ]);
    expect(one).toEqual(other);
    expect(one.stdout).toContain("Usage: plugboard call [options] <server.tool> [arguments...]");
    expect(one.stdout).toContain("--json");
  });

  it("help and version load neither the host nor the SDK", async () => {
    const fresh = new CliSandbox({ isCodeLent: false }).configureUser({});
    const { home } = fresh;
    const env = { NODE_DEBUG: "esm,module" };
    const { stderr } = await fresh.runAsProcess(["--help"], { env });
    expect(stderr).toContain("load-scripts.js");
    expect(stderr).not.toContain("@modelcontextprotocol");
    // What was loaded is kept in its compiled form.
    const scripts = keptScripts(home, "other");
    expect(scripts).toContain("./main.cjs");
    expect(scripts.filter((name) => /host|core|schema|store|call/.test(name))).toEqual([]);
  });

  it.each([
    [
      ["lst"],
      '✗ no command "lst". Did you mean: list, get, test?   try: plugboard --help lists the commands\n',
    ],
    [
      ["help", "cal"],
      '✗ no command "cal". Did you mean: call?   try: plugboard --help lists the commands\n',
    ],
    [["call"], "✗ call needs <server.tool>.   try: plugboard call --help\n"],
    [
      ["list", "--chek"],
      "✗ unknown option '--chek'. Did you mean: --check?   try: plugboard list --help\n",
    ],
    [
      ["list", "all", "of", "them"],
      "✗ too many arguments for 'list'. Expected 0 arguments but got 3.   try: plugboard list --help\n",
    ],
    [["consent", "grant"], '✗ "grant" is none of list, allow, revoke.\n'],
    [["consent", "alow"], '✗ "alow" is none of list, allow, revoke. Did you mean: allow?\n'],
    [["test-server", "pigeon"], '✗ "pigeon" is none of stdio, http, sse, rest.\n'],
    [["list", "--log-level", "loud"], '✗ "loud" is none of debug, info, warn, error, silent.\n'],
    [
      ["consent", "allow"],
      "✗ name what is to be allowed.   try: plugboard consent allow <server>.<tool>, or a whole <server>\n",
    ],
    [["consent", "allow", "demo", "--agent", ""], "✗ --agent: a name is missing.\n"],
    [
      ["call", "demo"],
      '✗ "demo" is a server: name one of its tools, too.   try: plugboard tools demo lists them\n',
    ],
    [
      ["test", "demo", "--timeout", "soon"],
      '✗ "soon" is no duration.   try: write it as 500ms, 60s or 2m\n',
    ],
    [
      ["test-server", "http", "--port", "x"],
      '✗ "x" is no port.   try: give a number from 0 to 65535; 0 lets the system choose\n',
    ],
  ])("CLI-13: %j is a usage error", async (words, stderr) => {
    expect(await sandbox.run(words)).toEqual({ stdout: "", stderr, exitCode: 2 });
  });

  it("CLI-13: no command at all shows help as an error", async () => {
    const { stdout, stderr, exitCode } = await sandbox.runAsProcess([]);
    expect({ stdout, exitCode }).toEqual({ stdout: "", exitCode: 2 });
    expect(stderr).toContain("Usage: plugboard");
  });

  it("CLI-14: usage errors are JSON when JSON was asked for", async () => {
    const { stdout, stderr, exitCode } = await sandbox.runAsProcess(["--json", "lst"]);
    expect({ stdout, exitCode }).toEqual({ stdout: "", exitCode: 2 });
    expect(JSON.parse(stderr)).toMatchObject({
      error: { code: "invalid_arguments", message: 'no command "lst"' },
    });
  });
});
