import { execFileSync } from "node:child_process";
import { existsSync, realpathSync, symlinkSync, unlinkSync, writeFileSync } from "node:fs";
import path from "node:path";

import { describe, expect, it } from "vitest";

import { ownCommand } from "../../src/text/own-command.ts";
import { CliSandbox, demoEntry } from "./run-cli.ts";

const node = realpathSync(process.execPath);

/** The command that the printed question offers. */
function offeredWords(stdout: string): readonly string[] {
  const [, words = ""] = /^To approve exactly this: plugboard (.*)$/m.exec(stdout) ?? [];
  return words.split(" ");
}

describe("plugboard approve", () => {
  it("CLI-14: without a terminal it shows what would start, starts nothing and approves nothing", async () => {
    const sandbox = new CliSandbox();
    const marker = path.join(sandbox.cwd, "started");
    sandbox.configureProject({
      notes: {
        command: node,
        args: ["-e", `require("fs").writeFileSync("${marker}", "")`],
        env: { API: "${GITHUB_TOKEN}", A_KEY: "canary", NODE_OPTIONS: "--require ./x.js" },
      },
    });
    const { stdout, stderr, exitCode } = await sandbox.run(["approve", "notes"], { input: "y\n" });
    expect(stdout.replace(/[0-9a-f]{64}/, "<identity>").replace(marker, "<marker>")).toBe(
      [
        '"notes" is new in .plugboard/mcp.json:3 (project). Start it?',
        `  runs      ${node} -e "require(\\"fs\\").writeFileSync(\\"<marker>\\", \\"\\")"`,
        "  folder    .",
        '  sets env  API="${GITHUB_TOKEN}"',
        "  sets env  A_KEY  (not shown: it looks like a secret)",
        '  sets env  NODE_OPTIONS="--require ./x.js"  ⚠ changes what is executed',
        "  sees env  the usual ones (PATH, HOME, …)",
        "  wants     GITHUB_TOKEN → variable API",
        "To approve exactly this: plugboard approve notes --identity <identity>",
        "",
      ].join("\n"),
    );
    expect({ stderr, exitCode }).toEqual({ stderr: "", exitCode: 6 });
    expect(existsSync(marker)).toBe(false);
    expect((await sandbox.run(["test", "notes"])).exitCode).toBe(6);
  });

  it("CLI-14: a script approves what it was shown, and nothing else", async () => {
    const sandbox = new CliSandbox().configureProject({ notes: demoEntry });
    const shown = await sandbox.run(["approve", "notes"]);
    const words = offeredWords(shown.stdout);
    sandbox.configureProject({ notes: { ...demoEntry, env: { CHANGED: "1" } } });
    expect(await sandbox.run(words)).toEqual({
      stdout: "",
      stderr: '✗ what "notes" would start is not what was shown   try: plugboard approve notes\n',
      exitCode: 6,
    });
    sandbox.configureProject({ notes: demoEntry });
    expect(await sandbox.run(words)).toEqual({
      stdout: '✓ "notes" is approved, as long as nothing of this changes.\n',
      stderr: "",
      exitCode: 0,
    });
    const call = ["call", "notes.add", "a=2", "b=3"];
    expect(await sandbox.run(call)).toMatchObject({ stdout: "5\n", exitCode: 0 });
    expect(await sandbox.run(["approve", "notes"])).toMatchObject({
      stdout: '"notes" needs no approval.\n',
      exitCode: 0,
    });
    expect(await sandbox.run(["approve", "notes", "--revoke"])).toEqual({
      stdout: '✓ "notes" is no longer approved.\n',
      stderr: "",
      exitCode: 0,
    });
    expect((await sandbox.run(call)).exitCode).toBe(6);
  });

  it("PRM-21, I2: shows what has changed since, also behind a link", async () => {
    const sandbox = new CliSandbox();
    const link = path.join(sandbox.cwd, "run");
    symlinkSync(node, link);
    const entry = { command: "./run", args: demoEntry.args };
    sandbox.configureProject({ notes: entry });
    await sandbox.run(offeredWords((await sandbox.run(["approve", "notes"])).stdout));
    unlinkSync(link);
    const other = path.join(sandbox.cwd, "other");
    writeFileSync(other, "", { mode: 0o755 });
    symlinkSync(other, link);
    sandbox.configureProject({ notes: { ...entry, env: { TOKEN: "${GITHUB_TOKEN}" } } });
    const listed = await sandbox.run(["list"]);
    expect(listed.stdout).toMatch(
      /⏸ not approved .* changed in \.plugboard\/mcp\.json:3 → plugboard approve notes$/m,
    );
    expect((await sandbox.run(["tools"])).stderr).toContain(
      "⏸ notes: not approved, changed in .plugboard/mcp.json:3 → plugboard approve notes\n",
    );
    const object = (await sandbox.run(["list", "--json"])).stdout;
    expect(JSON.parse(object)).toMatchObject({
      servers: [{ name: "notes", state: "pending", changedSinceApproval: true }],
    });
    const { stdout } = await sandbox.run(["approve", "notes"]);
    const lines = stdout.replace(/approved on [\d-]{10}/, "approved on <day>").split("\n");
    expect(lines[0]).toBe(
      '"notes" in .plugboard/mcp.json:3 (project) is not what you approved on <day>. Start it?',
    );
    expect(lines).toEqual(
      expect.arrayContaining([
        `  file      ${realpathSync(other)}`,
        "  wants     GITHUB_TOKEN → variable TOKEN",
        "  changed   env.TOKEN: (nothing) → ${GITHUB_TOKEN}",
        `  changed   file: ${node} → ${realpathSync(other)}`,
      ]),
    );
  });

  it("CFG-12, L3: beside a user's server of the same name both are listed, and it says what it replaces", async () => {
    const sandbox = new CliSandbox()
      .configureUser({ notes: demoEntry })
      .configureProject({ notes: { ...demoEntry, toolPrefix: "mail" } });
    const listed = await sandbox.run(["list"]);
    expect(listed.stdout).toMatch(/^notes +○ idle .* user/m);
    expect(listed.stdout).toMatch(
      /^notes +⏸ not approved .* project .*new in \.plugboard\/mcp\.json:3, would replace ~\/\.plugboard\/mcp\.json:3 → plugboard approve notes$/m,
    );
    const { servers } = JSON.parse((await sandbox.run(["list", "--json"])).stdout) as {
      servers: readonly object[];
    };
    expect(servers).toMatchObject([
      { name: "notes", scope: "user", state: "idle" },
      { name: "notes", scope: "project", state: "pending", waitsToReplace: expect.any(String) },
    ]);
    const called = await sandbox.run(["call", "notes.add", "a=2", "b=3"]);
    expect(called).toMatchObject({ exitCode: 0 });
    const { stdout } = await sandbox.run(["approve", "notes"]);
    expect(stdout).toContain("  with      toolPrefix: mail\n");
    expect(stdout).toMatch(/^ {2}replaces {2}.* of ~\/\.plugboard\/mcp\.json:3 \(user\)$/m);
    await sandbox.run(offeredWords(stdout));
    expect((await sandbox.run(["list"])).stdout).not.toContain("user");
    const revoked = await sandbox.run(["approve", "notes", "--revoke"]);
    expect(revoked.stdout).toContain('"notes" is no longer approved');
    expect((await sandbox.run(["list"])).stdout).toMatch(/^notes +○ idle .* user/m);
  });

  it("CLI-14: --json gives the question, and the result, as an object", async () => {
    const sandbox = new CliSandbox().configureProject({
      notes: { command: "npx", args: ["-y", "@modelcontextprotocol/server-filesytem", "."] },
    });
    const shown = await sandbox.run(["approve", "notes", "--json"]);
    expect(shown).toMatchObject({ stderr: "", exitCode: 6 });
    const { question, ...rest } = JSON.parse(shown.stdout) as {
      question: { launchId: string };
    };
    expect(rest).toEqual({ name: "notes", approved: false });
    expect(question).toMatchObject({
      serverName: "notes",
      target: { kind: "process", commandLine: "npx -y @modelcontextprotocol/server-filesytem ." },
      packages: [
        {
          spec: "@modelcontextprotocol/server-filesytem",
          isPinned: false,
          resembles: "@modelcontextprotocol/server-filesystem",
        },
      ],
    });
    const { launchId } = question;
    const approved = await sandbox.run(["approve", "notes", "--json", "--identity", launchId]);
    expect(approved).toMatchObject({ stderr: "", exitCode: 0 });
    expect(JSON.parse(approved.stdout)).toEqual({ name: "notes", approved: true });
  });

  it("CLI-13: an unknown server is named as such", async () => {
    const sandbox = new CliSandbox().configureProject({ notes: demoEntry });
    expect(await sandbox.run(["approve", "nots"])).toEqual({
      stdout: "",
      stderr: '✗ no server "nots". Did you mean: notes?   Configured: notes\n',
      exitCode: 2,
    });
  });

  it("whatever a project calls its server, a command to copy runs nothing else", async () => {
    const names = ["x; touch owned #", "it's $(id)", "-rf"] as const;
    const sandbox = new CliSandbox().configureProject(
      Object.fromEntries(names.map((name) => [name, { ...demoEntry, env: { NAME: name } }])),
    );
    const { stdout } = await sandbox.run(["list"]);
    expect(stdout).toContain("→ plugboard approve 'x; touch owned #'\n");
    expect(stdout).toContain(String.raw`→ plugboard approve 'it'\''s $(id)'` + "\n");
    expect(stdout).toContain("→ plugboard approve -- -rf\n");
    for (const name of names) {
      // Behind `--` any other word would be the command of a server that is not configured.
      const refused = await sandbox.run(name === "-rf" ? ["tools", "--", name] : ["tools", name]);
      expect(refused.stderr).toContain(ownCommand("approve", name, [], "plugboard"));
      const shown = await sandbox.run(["approve", "--", name]);
      const [, words = ""] = /^To approve exactly this: plugboard (.*)$/m.exec(shown.stdout) ?? [];
      const read = execFileSync("sh", ["-c", `printf '%s\\0' ${words}`], { encoding: "utf8" });
      expect(await sandbox.run(read.split("\0").slice(0, -1))).toMatchObject({ exitCode: 0 });
    }
  });

  it("a server of one's own needs no approval, and none can be taken back", async () => {
    const sandbox = new CliSandbox().configureUser({ own: demoEntry });
    expect(await sandbox.run(["approve", "own", "--revoke"])).toMatchObject({
      stdout: '"own" is of your own configuration (user) and needs no approval.\n',
      exitCode: 0,
    });
  });
});
