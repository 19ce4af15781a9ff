import { execFile } from "node:child_process";
import { mkdirSync, writeFileSync } from "node:fs";
import { homedir } from "node:os";
import path from "node:path";
import { promisify } from "node:util";

import { beforeAll, describe, expect, it } from "vitest";

const root = path.resolve(import.meta.dirname, "../..");
const server = path.join(
  import.meta.dirname,
  "node_modules/@modelcontextprotocol/server-sequential-thinking/dist/index.js",
);

/** The built command, as a user would run it. */
async function plugboard(...args: readonly string[]): Promise<string> {
  const program = path.join(root, "bin", "plugboard.js");
  const { stdout } = await promisify(execFile)(process.execPath, [program, ...args], {
    cwd: homedir(),
  });
  return stdout;
}

describe("the sequential-thinking server from npm, through the command line", () => {
  beforeAll(() => {
    // The user's own file is approved by its origin; the home folder is a throw-away one.
    const folder = path.join(homedir(), ".plugboard");
    mkdirSync(folder);
    const thinking = { command: process.execPath, args: [server] };
    writeFileSync(path.join(folder, "mcp.json"), JSON.stringify({ servers: { thinking } }));
  });

  it("lists its tool", async () => {
    await expect(plugboard("tools", "thinking")).resolves.toContain("sequentialthinking");
  });

  it("answers a call", async () => {
    const stdout = await plugboard(
      "call",
      "thinking.sequentialthinking",
      "thought=one step",
      "nextThoughtNeeded:=false",
      "thoughtNumber:=1",
      "totalThoughts:=1",
    );
    expect(JSON.parse(stdout)).toMatchObject({ thoughtNumber: 1, totalThoughts: 1 });
  });
});
