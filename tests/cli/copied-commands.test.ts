import { mkdirSync, writeFileSync } from "node:fs";
import path from "node:path";

import { describe, expect, it } from "vitest";

import { createProgram } from "../../src/cli/program.ts";
import { ownCommandNames } from "../../src/text/own-command.ts";
import { CliSandbox, demoEntry } from "./run-cli.ts";

/** A file that only `--config` finds, in a folder that only `--cwd` finds, with one server that fails. */
function farSandbox(): { sandbox: CliSandbox; options: readonly string[]; typed: string } {
  const sandbox = new CliSandbox();
  const folder = path.join(sandbox.cwd, "far away");
  mkdirSync(folder);
  const servers = { demo: demoEntry, gone: { command: "node", args: ["-e", "process.exit(3)"] } };
  writeFileSync(path.join(folder, "servers.json"), JSON.stringify({ mcpServers: servers }));
  const options = ["--config", "servers.json", "--cwd", "far away"];
  return { sandbox, options, typed: "--config servers.json --cwd 'far away'" };
}

describe("commands to copy", () => {
  it("ERR-17: repeat --config and --cwd", async () => {
    const { sandbox, options, typed } = farSandbox();
    const failed = await sandbox.run(["test", "gone", ...options]);
    expect(failed.stderr).toContain(`then: plugboard ${typed} test gone\n`);
    const { stderr } = await sandbox.run(["test", "gone", "--json", ...options]);
    expect(JSON.parse(stderr)).toMatchObject({
      error: { hint: expect.stringContaining(`plugboard ${typed} test gone`) },
    });
    const misspelt = await sandbox.run(["call", "demo.add", "a=2", ...options]);
    expect(misspelt.stderr).toContain(`plugboard ${typed} call demo.add a=2 b=<number>`);
    const listed = await sandbox.run(["list", "--check", ...options]);
    expect(listed.stdout).toContain(`→ plugboard ${typed} test gone`);
    const unknown = await sandbox.run(["lst", ...options]);
    expect(unknown.stderr).toContain(`plugboard ${typed} --help`);
  });

  it("ERR-17: do what they say when they are typed as they stand", async () => {
    const { sandbox, options } = farSandbox();
    const { stderr } = await sandbox.run(["call", "demo.add", "a=2", ...options]);
    const command = /usage: (plugboard .*)$/m.exec(stderr)?.[1] ?? "";
    const typed = await sandbox.type(command.replace("<number>", "3"));
    expect(typed).toMatchObject({ stdout: "5\n", exitCode: 0 });
  });

  it("ERR-17: begin with npx where the shell does not find plugboard", async () => {
    const sandbox = new CliSandbox().configureProject({ notes: demoEntry });
    const env = { PATH: path.dirname(process.execPath) };
    const listed = await sandbox.run(["list"], { env });
    expect(listed.stdout).toContain("→ npx plugboard approve notes\n");
    const { stderr } = await sandbox.run(["call", "notes.add"], { env });
    expect(stderr).toContain("try: npx plugboard approve notes\n");
    const empty = await new CliSandbox().run(["up", "--once"], { env });
    expect(empty.stdout).toContain("\n  npx plugboard tools demo\n");
  });

  it("are known by the names that the program has", () => {
    const names = createProgram("0", async () => {}).commands.map((command) => command.name());
    expect(names.toSorted()).toEqual([...ownCommandNames].toSorted());
  });
});
