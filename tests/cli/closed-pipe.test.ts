import { describe, expect, it } from "vitest";

import { CliSandbox, demoEntry } from "./run-cli.ts";

const commands: readonly (readonly string[])[] = [
  ["--help"],
  ["help", "call"],
  ["list"],
  ["list", "--check"],
  ["tools"],
  ["tools", "demo", "--schema"],
  ["tools", "demo", "--json"],
  ["call", "demo.add", "a=2", "b=3"],
  ["call", "demo.add", "a=2", "b=3", "--json"],
  ["test", "demo"],
  ["types", "demo"],
  ["up", "--once"],
];

describe("a pipe that is closed", () => {
  it.each(commands)("%s %s %s %s ends quietly when nobody reads its result", async (...words) => {
    const sandbox = new CliSandbox().configureUser({ demo: demoEntry });
    const cli = sandbox.start(["--quiet", ...words]);
    cli.closeStdout();
    expect(await cli.ended).toEqual({ stdout: "", stderr: "", exitCode: 0 });
  });

  it("| head -1 gets its line, and nothing is told about the rest", async () => {
    const sandbox = new CliSandbox().configureUser({ demo: demoEntry });
    const lines = ["plugboard tools demo --schema | head -1", "plugboard --help | head -1"];
    const [tools, help] = await Promise.all(lines.map((line) => sandbox.type(line)));
    expect(tools?.stdout).toMatch(/^demo · 8 tools · ~\d+ tokens\n$/);
    expect(tools?.stderr).not.toMatch(/EPIPE|✗| at /);
    expect(help).toMatchObject({ stderr: "", stdout: expect.stringMatching(/^Usage: /) as string });
  });

  it.each([
    ["a result", ["call", "demo.add", "a=2", "b=3"], { stdout: "5\n", exitCode: 0 }],
    ["an error", ["call", "demo.fail"], { stdout: "", exitCode: 5 }],
    ["an error for programs", ["call", "demo.fail", "--json"], { stdout: "", exitCode: 5 }],
    ["a usage error", ["lst"], { stdout: "", exitCode: 2 }],
  ])("%s is the same when nobody reads stderr", async (_name, words, result) => {
    const sandbox = new CliSandbox().configureUser({ demo: demoEntry });
    const cli = sandbox.start(words);
    cli.closeStderr();
    expect(await cli.ended).toMatchObject(result);
  });

  it("both closed is no reason to stay", async () => {
    const cli = new CliSandbox().start(["tools"]);
    cli.closeStdout();
    cli.closeStderr();
    expect(await cli.ended).toMatchObject({ exitCode: 0 });
  });
});
