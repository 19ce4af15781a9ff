import { existsSync, readFileSync, writeFileSync } from "node:fs";
import path from "node:path";

import { describe, expect, it } from "vitest";

import { CliSandbox, demoEntry, hasTerminal } from "./run-cli.ts";

const passed = "✓ test passed: 8 tools, MCP 2026-07-28.\n";

/** A user's file with a comment and a second server, and editors for it. */
class EditPlace {
  readonly sandbox = new CliSandbox();
  readonly file = path.join(this.sandbox.home, ".plugboard/mcp.json");

  constructor(entry: Readonly<Record<string, unknown>> = demoEntry) {
    this.sandbox.configureUser({ demo: entry, other: { command: "other" } });
    writeFileSync(this.file, this.text.replace("{", "{ // mine\n"));
  }

  get text(): string {
    return readFileSync(this.file, "utf8");
  }

  /** An editor: a script that finds the file to edit in $1. */
  editor(script: string): { readonly EDITOR: string } {
    const file = path.join(this.sandbox.cwd, "editor.sh");
    writeFileSync(file, script);
    return { EDITOR: `sh ${file}` };
  }

  async edit(script: string, words: readonly string[] = []) {
    return await this.sandbox.run(["edit", "demo", ...words], { env: this.editor(script) });
  }
}

/** Adds a member to the entry, with a tool that every system has. */
const adding = (member: string): string => `sed -i '1s/{/{ ${member},/' "$1"\n`;
const keptFile = /Your text is kept in (\S+demo\.json)\n/;

describe("plugboard edit in an editor", () => {
  it("CFG-41: opens the entry as JSON in a private file, and keeps what was saved with all comments", async () => {
    const place = new EditPlace();
    const script = `cp "$1" seen.json; stat -c %a "$1" > mode; ${adding('"start": "eager"')}`;
    const { stdout, stderr, exitCode } = await place.edit(script);
    expect(stdout).toMatch(
      /^✓ "demo" is changed \(~\/\.plugboard\/mcp\.json:\d+\)\.\n✓ test passed/,
    );
    expect(stderr).not.toContain("✗");
    expect(exitCode).toBe(0);
    expect(JSON.parse(place.sandbox.read("seen.json"))).toEqual(demoEntry);
    expect(place.sandbox.read("mode")).toBe("600\n");
    expect(place.text).toMatch(/\/\/ mine[^]*"start": "eager"[^]*"other"/);
  });

  it("says that nothing was changed, and leaves no file behind", async () => {
    const place = new EditPlace();
    const before = place.text;
    const same = await place.edit('echo "$1" > file; echo >> "$1"\n');
    expect(same).toEqual({ stdout: 'Nothing was changed in "demo".\n', stderr: "", exitCode: 0 });
    expect(existsSync(place.sandbox.read("file").trim())).toBe(false);
    const json = await place.edit("true\n", ["--json"]);
    expect(JSON.parse(json.stdout)).toMatchObject({ changed: false, name: "demo" });
    expect(place.text).toBe(before);
  });

  it.each([
    ["none is set", {}, "✗ which editor? Neither VISUAL nor EDITOR is set."],
    ["it is not there", { EDITOR: "no-such-editor" }, '✗ there is no editor "no-such-editor".'],
    ["it fails", { VISUAL: "false", EDITOR: "true" }, "✗ the editor failed (exit code 1)"],
  ])("changes nothing when %s", async (_what, env, message) => {
    const place = new EditPlace();
    const before = place.text;
    const { stdout, stderr, exitCode } = await place.sandbox.run(["edit", "demo"], { env });
    expect(stderr).toContain(message);
    // Not a word of the shell that would have started it.
    expect(stderr.split("\n").filter((line) => /^\S/.test(line))).toHaveLength(1);
    expect({ stdout, exitCode }).toEqual({ stdout: "", exitCode: 2 });
    expect(place.text).toBe(before);
  });

  it.each([
    ["what is no JSON", 'echo "{ 1" > "$1"\n', "✗ the entry: line 1, column "],
    ["what is no entry", 'echo "{ }" > "$1"\n', 'demo: needs "command" or "url"\n'],
    ["a text whose editor fails", `${adding('"start": "eager"')}exit 3\n`, "(exit code 3)"],
    ["a secret", adding('"env": { "API_KEY": "canary-1234567" }'), "✗ the variable API_KEY: this"],
  ])("keeps the text of %s, and changes nothing", async (_what, script, message) => {
    const place = new EditPlace();
    const before = place.text;
    const { stdout, stderr, exitCode } = await place.edit(script);
    expect(stderr).toContain(message);
    expect({ stdout, exitCode }).toEqual({ stdout: "", exitCode: 2 });
    const [, kept = ""] = keptFile.exec(stderr) ?? [];
    expect(existsSync(kept)).toBe(true);
    expect(place.text).toBe(before);
  });

  it("CFG-01: refuses what somebody else changed meanwhile; another entry of the file is no matter", async () => {
    const place = new EditPlace();
    const meanwhile = (before: string, after: string): string =>
      `sed -i 's/${before}/${after}/' "${place.file}"\n${adding('"start": "eager"')}`;
    const both = await place.edit(meanwhile('"command": "other"', '"command": "third"'), [
      "--no-test",
    ]);
    expect(both).toMatchObject({ exitCode: 0 });
    expect(place.text).toContain('"third"');
    const { stderr, exitCode } = await place.edit(
      `sed -i 's/"start": "eager"/"start": "lazy"/' "${place.file}"\n${adding('"halfOpen": true')}`,
    );
    expect(stderr).toContain('✗ demo: "demo" was changed by somebody else meanwhile');
    expect(exitCode).toBe(2);
    const [, kept = ""] = keptFile.exec(stderr) ?? [];
    expect(readFileSync(kept, "utf8")).toContain('"halfOpen": true');
    expect(place.text).toContain('"start": "lazy"');
    expect(place.text).not.toContain("halfOpen");
  });

  it("shows a secret to no editor, and keeps it", async () => {
    const place = new EditPlace({ ...demoEntry, env: { API_KEY: "canary-1234567" } });
    const { exitCode } = await place.edit(`cp "$1" seen.json; ${adding('"start": "eager"')}`);
    expect(exitCode).toBe(0);
    expect(place.sandbox.read("seen.json")).toContain('"API_KEY": "[secret: env.API_KEY]"');
    expect(place.text).toMatch(/"API_KEY": "canary-1234567"/);
  });

  it("gives an editor no stdout that is data", async () => {
    const place = new EditPlace();
    const env = place.editor(`echo noise; ${adding('"start": "eager"')}`);
    // Not `run`, which expects nothing but an object of ours on stderr.
    const cli = place.sandbox.start(["edit", "demo", "--json", "--no-test"], { env });
    const { stdout, stderr } = await cli.ended;
    expect(JSON.parse(stdout)).toMatchObject({ changed: true, tested: false });
    expect(stderr).toBe("noise\n");
  });

  it.skipIf(!hasTerminal)("offers to edit again what is wrong", async () => {
    const place = new EditPlace();
    const script = `
      if [ -e tried ]; then printf '%s' "$(cat good.json)" > "$1"; else echo '{ 1' > "$1"; touch tried; fi
    `;
    const { EDITOR } = place.editor(script);
    const good = JSON.stringify({ ...demoEntry, start: "eager" });
    writeFileSync(path.join(place.sandbox.cwd, "good.json"), good);
    const words = ["env", `EDITOR=${EDITOR}`, "plugboard", "edit", "demo"];
    const cli = place.sandbox.startCommandInTerminal(words);
    await cli.writes("stdout", "Edit it again? [y/N] ");
    cli.type("y\n");
    const { stdout, exitCode } = await cli.ended;
    expect(stdout).toContain("✓ test passed: 8 tools");
    expect(exitCode).toBe(0);
    expect(place.text).toContain('"start": "eager"');
    writeFileSync(path.join(place.sandbox.cwd, "good.json"), "{ 2");
    const declined = place.sandbox.startCommandInTerminal(words);
    await declined.writes("stdout", "Edit it again? [y/N] ");
    declined.type("\n");
    const end = await declined.ended;
    expect(end.stdout.match(/✗ the entry/g)).toHaveLength(1);
    expect(end.stdout).toContain("Your text is kept in ");
    expect(end.exitCode).toBe(2);
  });

  it.each([
    ["SIGTERM", 143],
    ["SIGINT", 130],
  ] as const)("%s ends the editor and changes nothing", async (signal, code) => {
    const place = new EditPlace();
    const before = place.text;
    const env = place.editor("echo open > opened; exec sleep 60\n");
    const cli = place.sandbox.start(["edit", "demo"], { env });
    await place.sandbox.holds("opened", "open");
    cli.signal(signal);
    expect(await cli.ended).toMatchObject({ stdout: "", exitCode: code });
    expect(place.text).toBe(before);
  });
});

describe("plugboard edit by options", () => {
  it("CFG-41: adds or replaces what is typed, and leaves all else", async () => {
    const place = new EditPlace({ ...demoEntry, env: { A: "1", B: "2" }, call_timeout: 5 });
    const words = ["edit", "demo", "-e", "B=3", "-e", "TOKEN", "--timeout", "20s"];
    const { stdout, exitCode } = await place.sandbox.run(words, { env: { TOKEN: "x" } });
    expect(stdout).toContain(passed);
    expect(exitCode).toBe(0);
    const { mcpServers } = JSON.parse(place.text.replace("// mine", "")) as {
      mcpServers: Record<string, unknown>;
    };
    expect(mcpServers).toEqual({
      demo: { ...demoEntry, env: { A: "1", B: "3", TOKEN: "${TOKEN}" }, timeout_ms: 20_000 },
      other: { command: "other" },
    });
    expect(place.text).toContain("// mine");
  });

  it("replaces the command of a server of the store, and tells when it does not work", async () => {
    const sandbox = new CliSandbox();
    await sandbox.run(["add", "mine", "--", demoEntry.command, ...demoEntry.args]);
    const broken = await sandbox.run(["edit", "mine", "--", "node", "-e", "process.exit(3)"]);
    expect(broken.stdout).toBe('✓ "mine" is changed (the settings store).\n');
    expect(broken.stderr).toMatch(/✗ mine: the server stopped during start \(exit code 3 /);
    expect(broken.exitCode).toBe(4);
    const mended = await sandbox.run(["edit", "mine", "--", demoEntry.command, ...demoEntry.args]);
    expect(mended).toMatchObject({ exitCode: 0 });
    expect((await sandbox.run(["call", "mine.add", "a=1", "b=2"])).stdout).toBe("3\n");
  });

  it("keeps an address with one more header, in place of one of the same name", async () => {
    const sandbox = new CliSandbox();
    const url = "http://127.0.0.1:9/mcp";
    await sandbox.run(["add", "web", url, "-H", "x-team: core", "--no-test"]);
    await sandbox.run(["edit", "web", "-H", "X-Team: docs", "--transport", "sse", "--no-test"]);
    const { stdout } = await sandbox.run(["get", "web", "--json"]);
    expect(JSON.parse(stdout)).toMatchObject({
      servers: [{ entry: { url, transport: "sse", headers: { "X-Team": "[redacted]" } } }],
    });
    expect(stdout).not.toContain("x-team");
  });

  it("PRM-21: a project's server that would start differently waits for approval again", async () => {
    const sandbox = new CliSandbox().configureProject({ notes: demoEntry });
    const question = await sandbox.run(["approve", "notes", "--json"]);
    const { launchId } = (JSON.parse(question.stdout) as { question: { launchId: string } })
      .question;
    await sandbox.run(["approve", "notes", "--identity", launchId]);
    const { stdout, stderr, exitCode } = await sandbox.run(["edit", "notes", "-e", "MODE=x"]);
    expect(stdout).toBe('✓ "notes" is changed (.plugboard/mcp.json:3).\n');
    expect(stderr).toContain(
      "⏸ not tried: changed in .plugboard/mcp.json:3 → plugboard approve notes\n",
    );
    expect(exitCode).toBe(0);
    expect((await sandbox.run(["call", "notes.add", "a=1", "b=2"])).exitCode).toBe(6);
  });

  it.each([
    [["demo", "-e", "API_KEY=canary-1234567"], "✗ the variable API_KEY: this looks like a secret"],
    [["demo", "-H", "A: b"], '✗ "demo" is started by a command, and has no "headers"'],
    [["demo", "http://127.0.0.1:9/mcp"], '✗ "demo" is started by a command, and has no "url"'],
    [["demo", "--timeout", "soon"], '✗ "soon" is no duration.'],
    [["dmo", "-e", "A=1"], '✗ no server "dmo". Did you mean: demo?'],
  ])("CLI-13: %j is refused, and nothing is changed", async (words, message) => {
    const place = new EditPlace();
    const before = place.text;
    const { stdout, stderr, exitCode } = await place.sandbox.run(["edit", ...words]);
    expect(stderr).toContain(message);
    expect(stderr).not.toContain("canary");
    expect({ stdout, exitCode }).toEqual({ stdout: "", exitCode: 2 });
    expect(place.text).toBe(before);
  });

  it("CON-14: a host that runs starts the server anew", async () => {
    const place = new EditPlace();
    const cli = place.sandbox.start(["up"]);
    await cli.writes("stdout", "Ctrl-C stops them");
    await place.sandbox.run(["edit", "demo", "-e", "A=1", "--no-test"]);
    await cli.writes("stdout", "● connected  demo\n");
    cli.signal("SIGINT");
    expect(await cli.ended).toMatchObject({ exitCode: 0 });
  });
});

describe("plugboard edit of a sign-in", () => {
  /** An entry that is kept in the store, so that it may hold secrets. */
  async function addAddress(): Promise<CliSandbox> {
    const sandbox = new CliSandbox();
    const words = ["add", "app", "http://127.0.0.1:9/mcp", "--no-test", "--client-id", "mine"];
    expect(await sandbox.run(words)).toMatchObject({ exitCode: 0 });
    return sandbox;
  }

  const authOf = async (sandbox: CliSandbox): Promise<unknown> => {
    const { stdout } = await sandbox.run(["get", "app", "--json"]);
    const { servers } = JSON.parse(stdout) as {
      readonly servers: readonly [{ readonly entry: { readonly auth: unknown } }];
    };
    return servers[0].entry.auth;
  };

  it("AUT-03 AUT-08: adds to the settings of the same kind, and asks for the secret of the client", async () => {
    const sandbox = await addAddress();
    const words = ["edit", "app", "--no-test", "--oauth-scope", "files", "--client-secret"];
    const edited = await sandbox.run(words, { input: "canary-secret-1\n" });
    expect(edited).toMatchObject({ exitCode: 0 });
    const auth = await authOf(sandbox);
    expect(auth).toMatchObject({ type: "oauth", clientId: "mine", scopes: ["files"] });
    expect(auth).toHaveProperty("clientSecret");
    expect(JSON.stringify(auth)).not.toContain("canary");
  });

  it("AUT-02: another kind takes the place of all of it", async () => {
    const sandbox = await addAddress();
    const words = ["edit", "app", "--no-test", "--bearer"];
    expect(await sandbox.run(words, { input: "canary-token-1\n" })).toMatchObject({ exitCode: 0 });
    const auth = await authOf(sandbox);
    expect(auth).toMatchObject({ type: "bearer" });
    expect(auth).not.toHaveProperty("clientId");
  });

  it("CLI-13: is for an address, and a secret of a client needs the client", async () => {
    const place = new EditPlace();
    const misfit = await place.sandbox.run(["edit", "demo", "--oauth"]);
    expect(misfit.stderr).toContain('✗ "demo" is started by a command, and has no "auth"');
    const sandbox = new CliSandbox();
    await sandbox.run(["add", "app", "http://127.0.0.1:9/mcp", "--no-test"]);
    const words = ["edit", "app", "--no-test", "--client-secret"];
    const alone = await sandbox.run(words, { input: "canary-secret-1\n" });
    expect(alone.stderr).toContain('"clientSecret" belongs to');
    expect([misfit.exitCode, alone.exitCode]).toEqual([2, 2]);
  });
});
