import { describe, expect, it } from "vitest";

import { CliSandbox, demoEntry } from "./run-cli.ts";

describe("plugboard why", () => {
  it("PRM-19: says rule by rule what would become of a call, and starts nothing", async () => {
    const sandbox = new CliSandbox().configureUser({ demo: demoEntry });
    expect(await sandbox.run(["why", "main", "demo.add"])).toMatchObject({
      stdout: [
        "main (trusted) → demo.add: no such tool is known",
        "  ✓ enabled",
        "  ✓ approval",
        "  ✓ filter",
        "  ✓ visibility",
        "  ✓ level",
        "  ✓ capability",
        "  ✓ pin",
        "  ? tool        not in the list as it was last seen; plugboard tools demo",
        "",
      ].join("\n"),
      exitCode: 5,
    });
    await sandbox.run(["tools", "demo"]);
    const asked = await sandbox.run(["why", "main", "demo.add"]);
    expect(asked).toMatchObject({ exitCode: 0 });
    expect(asked.stdout).toContain("main (trusted) → demo.add: asks first\n");
    expect(asked.stdout).toContain("  ? consent     a person is asked at the call\n");
    await sandbox.run(["consent", "allow", "demo.add", "--agent", "main"]);
    const granted = await sandbox.run(["why", "main", "demo.add"]);
    expect(granted.stdout).toContain("main (trusted) → demo.add: allowed\n");
    expect(granted.stdout).toContain("  ✓ consent     grant\n");
    const other = await sandbox.run(["--json", "why", "other", "demo.add"]);
    expect(JSON.parse(other.stdout)).toMatchObject({
      agent: "other",
      level: "trusted",
      server: "demo",
      tool: "add",
      verdict: "ask",
      consent: "ask",
    });
  });

  it("PRM-19: a no has its reason, and what can be done about it", async () => {
    const sandbox = new CliSandbox().configureProject({ notes: demoEntry });
    const { stdout, exitCode } = await sandbox.run([
      "why",
      "main",
      "notes.add",
      "--level",
      "sandboxed",
    ]);
    expect(exitCode).toBe(6);
    expect(stdout).toContain("main (sandboxed) → notes.add: denied\n");
    expect(stdout).toContain(
      '  ✗ approval    server "notes" comes from a project file and has not been approved; read its entry, then: plugboard approve notes\n',
    );
    expect(stdout).toContain("  ✗ level       agents of level sandboxed may not use MCP servers");
  });

  it("unknown servers and levels are told, with what was probably meant", async () => {
    const sandbox = new CliSandbox().configureUser({ demo: demoEntry });
    expect(await sandbox.run(["why", "main", "dmo.add"])).toMatchObject({
      stderr: expect.stringContaining("demo"),
      exitCode: 2,
    });
    expect(await sandbox.run(["why", "main", "demo.add", "--level", "trust"])).toMatchObject({
      stderr: expect.stringContaining("trusted"),
      exitCode: 2,
    });
  });
});
