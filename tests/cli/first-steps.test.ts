import { writeFileSync } from "node:fs";
import path from "node:path";

import { describe, expect, it } from "vitest";

import { withNpx } from "./npx-stand-in.ts";
import { CliSandbox, normalize } from "./run-cli.ts";

const phases = ["starting files …", "handshake with files …", "listing the tools of files …"];

describe("a newcomer with an empty home", () => {
  it("adds, tests and calls a filesystem server in two commands", async () => {
    const sandbox = new CliSandbox();
    const env = { PATH: withNpx(sandbox) };
    writeFileSync(path.join(sandbox.cwd, "notes.md"), "# Notes\n\nBuy milk.\n");

    const added = await sandbox.type(
      "plugboard add files -- npx -y @modelcontextprotocol/server-filesystem .",
      env,
    );
    expect(normalize(added.stdout).split("\n")).toEqual([
      "✓ added (user scope; --scope project writes .plugboard/mcp.json)",
      "✓ test passed: 14 tools, MCP <revision>. Remove with: plugboard remove files",
      "",
    ]);
    expect(added.stderr.split("\n")).toEqual([
      "⚠ Only connect to trusted MCP servers. Malicious servers can execute arbitrary actions.",
      `  argument 3 "." is kept as ${sandbox.cwd}`,
      ...phases,
      "",
    ]);
    expect(added.exitCode).toBe(0);

    expect(await sandbox.type("plugboard call files.read_text_file path=notes.md", env)).toEqual({
      stdout: "# Notes\n\nBuy milk.\n",
      stderr: [...phases, "calling files.read_text_file …", ""].join("\n"),
      exitCode: 0,
    });
  });

  it("finds the demo server before anything is added, and calls it in one command", async () => {
    expect(await new CliSandbox().type("plugboard call demo.add a=2 b=3 --quiet")).toEqual({
      stdout: "5\n",
      stderr: "",
      exitCode: 0,
    });
  });
});
