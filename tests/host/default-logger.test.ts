import { execFile } from "node:child_process";
import path from "node:path";
import { promisify } from "node:util";

import { describe, expect, it } from "vitest";

import { demoServerEntry } from "../../src/testing/index.ts";
import { hangsAfterMs } from "../setup/hang-limit.ts";

const secret = "hunter22secret";

/** What a program prints whose server writes a secret where only messages belong. */
async function run(how: "default" | "false" | "own") {
  const { command, args } = demoServerEntry();
  const script = `echo "key ${secret}, token=abcdefgh"; exec "$0" "$@"`;
  const entry = { command: "sh", args: ["-c", script, command, ...args], env: { KEY: secret } };
  const program = path.join(import.meta.dirname, "logging-program.mjs");
  const { stdout, stderr } = await promisify(execFile)(
    process.execPath,
    [program, JSON.stringify({ demo: entry }), how],
    { timeout: hangsAfterMs },
  );
  return { heard: JSON.parse(stdout) as string[], stderr };
}

describe("a program's logger", () => {
  it("ERR-18: is stderr without one: a line for each warning and error, without secrets", async () => {
    const { stderr } = await run("default");
    const lines = stderr.trimEnd().split("\n");
    const line = expect.stringMatching(
      /^plugboard: warning: \S+: a line on stdout is no message; .*\(line: key \[redacted\], token=\[redacted\]\)$/,
    );
    const failure = expect.stringMatching(
      /^plugboard: warning: an event handler failed \(error: Error: a handler of the program failed\)$/,
    );
    // Of the direct client, of the host's connection, and of the program's own handler.
    expect(lines).toEqual([line, line, failure]);
    expect(stderr).not.toContain(secret);
  });

  it("ERR-18: is nobody with `false`", async () => {
    expect((await run("false")).stderr).toBe("");
  });

  it("ERR-18: of its own hears the same, and stderr nothing", async () => {
    const { heard, stderr } = await run("own");
    expect(stderr).toBe("");
    expect(heard).toEqual([
      expect.stringContaining("a line on stdout is no message"),
      expect.stringContaining("a line on stdout is no message"),
      "an event handler failed",
    ]);
  });
});
