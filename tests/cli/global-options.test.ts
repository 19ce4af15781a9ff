import { existsSync } from "node:fs";
import path from "node:path";

import { describe, expect, it } from "vitest";

import { CliSandbox, demoEntry } from "./run-cli.ts";

describe("--db", () => {
  it("STO-08: names the store of one run, before PLUGBOARD_DB, and hints repeat it", async () => {
    const sandbox = new CliSandbox().configureUser({ demo: demoEntry });
    const other = path.join(sandbox.home, "other.db");
    const env = { PLUGBOARD_DB: path.join(sandbox.home, "named.db") };
    const grants = async (words: readonly string[]): Promise<number> => {
      const { stdout } = await sandbox.run(["consent", "list", "--json", ...words], { env });
      return (JSON.parse(stdout) as { grants: readonly unknown[] }).grants.length;
    };
    const allow = ["consent", "allow", "demo", "--db", other];
    expect((await sandbox.run(allow, { env })).exitCode).toBe(0);
    expect(await grants(["--db", other])).toBeGreaterThan(0);
    expect(await grants([])).toBe(0);
    expect(existsSync(path.join(sandbox.home, ".plugboard/plugboard.db"))).toBe(false);
    sandbox.configureProject({ notes: demoEntry });
    const { stdout } = await sandbox.run(["list", "--db", other]);
    expect(stdout).toContain(`→ plugboard --db ${other} approve notes`);
  });

  it("STO-08: a password in it is shown to nobody", async () => {
    const sandbox = new CliSandbox().configureProject({ notes: demoEntry });
    const place = "postgres://me:canary-password@127.0.0.1:1/none";
    const { stdout, stderr } = await sandbox.run(["list", "--db", place]);
    expect(stdout).toContain("→ plugboard approve notes");
    expect(stderr).toContain("127.0.0.1:1");
    expect(stdout + stderr).not.toContain("canary");
  });
});

describe("--yes", () => {
  it("approves no launch and consents to nothing", async () => {
    const sandbox = new CliSandbox().configureProject({ notes: demoEntry });
    for (const words of [
      ["approve", "notes"],
      ["call", "notes.add", "a=1", "b=2"],
    ])
      expect((await sandbox.run(["--yes", ...words], { input: "y\n" })).exitCode).toBe(6);
    const { stdout } = await sandbox.run(["list", "--yes", "--json"]);
    expect(JSON.parse(stdout)).toMatchObject({ servers: [{ name: "notes", state: "pending" }] });
  });
});

describe("tools --ts", () => {
  it("CLI-14: shows what types writes", async () => {
    const sandbox = new CliSandbox().configureUser({ demo: demoEntry });
    const { stdout: module } = await sandbox.run(["types", "demo", "--quiet"]);
    expect(module).toContain("export ");
    for (const words of [["tools", "demo"], ["tools"], ["tools", "demo", "--remembered"]])
      expect(await sandbox.run([...words, "--ts", "--quiet"])).toEqual({
        stdout: module,
        stderr: "",
        exitCode: 0,
      });
    const { stdout } = await sandbox.run(["tools", "demo", "--ts", "--json"]);
    expect(JSON.parse(stdout)).toMatchObject({ servers: [{ name: "demo", types: module }] });
  });
});
