import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import path from "node:path";
import { fileURLToPath } from "node:url";

import { describe, expect, it } from "vitest";

import { CliSandbox, demoEntry, hasTerminal } from "./run-cli.ts";

const leaking = fileURLToPath(new URL("../fixtures/servers/leaking-server.mjs", import.meta.url));
const telling = ["--", process.execPath, leaking];

/** A value that nothing tells for a secret but the name it stands under, or the option that asked for it. */
const canary = (index: number): string => `heron${index}fieldfare`;
const anyCanary = /heron\d+fieldfare/;

/** All files below the home, as one text. */
function homeOf({ home }: CliSandbox): string {
  return readdirSync(home, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => readFileSync(path.join(entry.parentPath, entry.name), "latin1"))
    .join("\n");
}

/** What the server was started with. */
async function environmentOf(sandbox: CliSandbox, name: string): Promise<Record<string, string>> {
  const { stdout } = await sandbox.run(["call", `${name}.given`]);
  return (JSON.parse(stdout) as { readonly env: Record<string, string> }).env;
}

describe("plugboard secret", () => {
  it("ENV-14: keeps what stdin holds under a name that entries refer to, and shows it nowhere", async () => {
    const sandbox = new CliSandbox();
    sandbox.configureUser({
      s: {
        command: process.execPath,
        args: [leaking],
        env: { API_TOKEN: "${secret:github_token}" },
      },
    });
    expect(await sandbox.run(["secret", "list"])).toMatchObject({ stdout: "No secret is kept.\n" });
    const unset = await sandbox.run(["test", "s"]);
    expect(unset).toMatchObject({ exitCode: 2 });
    expect(unset.stderr).toContain("${secret:github_token} is not stored (");
    const [, command = ""] = /try: store it: (.*), then: plugboard test s/.exec(unset.stderr) ?? [];
    expect(command).toBe("plugboard secret set github_token");

    const input = `${canary(1)}\nsecond line\n`;
    expect(await sandbox.run(command.split(" ").slice(1), { input })).toMatchObject({
      stdout: '✓ "github_token" is kept. Entries name it as ${secret:github_token}.\n',
      exitCode: 0,
    });
    expect(await sandbox.run(["secret", "list"])).toMatchObject({ stdout: "github_token\n" });
    expect(await environmentOf(sandbox, "s")).toMatchObject({
      API_TOKEN: `${canary(1)}\nsecond line`,
    });
    expect(homeOf(sandbox)).not.toMatch(anyCanary);

    const again = await sandbox.run(["secret", "set", "github_token"], { input: canary(2) });
    expect(again.stdout).toContain("is replaced.");
    expect(await sandbox.run(["secret", "remove", "github_token"])).toMatchObject({ exitCode: 0 });
    const gone = await sandbox.run(["secret", "remove", "github_token"]);
    expect(gone).toMatchObject({ exitCode: 2 });
    expect(gone.stderr).toContain('✗ no secret "github_token" is kept.');
  });

  it.each([
    [["set"], "✗ name the secret."],
    [["set", "a", "the-value"], "✗ too many arguments"],
    [["set", "a b"], "✗ this is no name for a secret."],
    [["set", "entry/x"], "✗ this is no name for a secret."],
    [["list", "a"], "✗ list takes no name: no secret is shown."],
    [["move"], "✗ name the holder."],
    [["move", "pocket"], '✗ "pocket" is none of environment, passphrase, keychain, file.'],
    [["rotate", "a"], "✗ rotate takes no name: all secrets get the new key."],
    [["show", "a"], '✗ "show" is none of set, list, remove, forget, move, rotate.'],
  ])("CLI-13: secret %j is refused", async (words, message) => {
    const sandbox = new CliSandbox();
    const { stderr, exitCode } = await sandbox.run(["secret", ...words], { input: "value\n" });
    expect(stderr).toContain(message);
    expect(exitCode).toBe(2);
  });

  it("STO-09: the key moves to a passphrase and is made anew, and every secret is still there", async () => {
    const sandbox = new CliSandbox();
    sandbox.configureUser({
      s: { command: process.execPath, args: [leaking], env: { API_TOKEN: "${secret:token}" } },
    });
    await sandbox.run(["secret", "set", "token"], { input: canary(1) });
    const keys = (): readonly string[] => readdirSync(path.join(sandbox.home, ".plugboard/keys"));
    expect(keys()).toHaveLength(1);

    const without = await sandbox.run(["secret", "move", "passphrase"]);
    expect(without).toMatchObject({ exitCode: 1 });
    expect(without.stderr).toContain("PLUGBOARD_PASSPHRASE");
    expect(await environmentOf(sandbox, "s")).toMatchObject({ API_TOKEN: canary(1) });

    const env = { PLUGBOARD_PASSPHRASE: "five herons stand still here" };
    const moved = await sandbox.run(["secret", "move", "passphrase"], { env });
    expect(moved).toMatchObject({ exitCode: 0 });
    expect(moved.stdout).toMatch(/^✓ The key is held by: passphrase\. /);
    expect(keys()).toEqual([]);
    expect(await sandbox.run(["secret", "rotate"], { env })).toMatchObject({
      stdout: "✓ All secrets are sealed under a new key.\n",
      exitCode: 0,
    });
    expect(await sandbox.run(["secret", "move", "file"], { env })).toMatchObject({ exitCode: 0 });
    expect(await environmentOf(sandbox, "s")).toMatchObject({ API_TOKEN: canary(1) });
  });

  it("CLI-13: an empty secret is none", async () => {
    const sandbox = new CliSandbox();
    const { stderr, exitCode } = await sandbox.run(["secret", "set", "a"], { input: "\n" });
    expect(stderr).toContain("✗ no secret was given for a.");
    expect(exitCode).toBe(2);
  });
});

describe("--secret-env and --secret-header", () => {
  it("ENV-14 STO-09: take a line of stdin each, and keep it sealed whatever it looks like", async () => {
    const sandbox = new CliSandbox();
    const input = `${canary(1)}$\{HOME}\r\nx1\n`;
    const words = [
      "add",
      "s",
      "--secret-env",
      "FIRST",
      "--secret-env",
      "SECOND",
      "-e",
      "MODE=fast",
    ];
    const added = await sandbox.run([...words, ...telling], { input });
    expect(added).toMatchObject({ exitCode: 0 });
    expect(await environmentOf(sandbox, "s")).toMatchObject({
      FIRST: `${canary(1)}$\{HOME}`,
      SECOND: "x1",
      MODE: "fast",
    });
    const shown = await sandbox.run(["get", "s"]);
    expect(shown.stdout).toMatch(/SECOND=\$\{secret:entry\/s\/env\.SECOND@[\w-]+\}/);

    const edited = await sandbox.run(["edit", "s", "--secret-env", "SECOND"], { input: canary(2) });
    expect(edited).toMatchObject({ exitCode: 0 });
    expect(await environmentOf(sandbox, "s")).toMatchObject({
      FIRST: `${canary(1)}$\{HOME}`,
      SECOND: canary(2),
      MODE: "fast",
    });
    expect(homeOf(sandbox)).not.toMatch(anyCanary);
  });

  it("ENV-14: a header may have a word in front of the secret", async () => {
    const sandbox = new CliSandbox();
    const words = ["add", "s", "http://127.0.0.1:9/mcp", "--no-test"];
    const header = ["--secret-header", "Authorization: Bearer"];
    const dry = await sandbox.run([...words, ...header, "--dry-run"], { input: canary(1) });
    expect(dry.stdout).toContain('"Authorization": "[redacted]"');
    expect(await sandbox.run([...words, ...header], { input: canary(1) })).toMatchObject({
      exitCode: 0,
    });
    expect(homeOf(sandbox)).not.toMatch(anyCanary);
  });

  it.each([
    [["--secret-env", "A=1", ...telling], "✗ --secret-env: a name is missing."],
    [["--secret-header", "A", ...telling], "✗ --secret-header is for an address."],
    [["http://127.0.0.1:9/mcp", "--secret-env", "A"], "✗ --secret-env is for a command."],
    [
      ["--scope", "project", "--secret-env", "A", ...telling],
      "✗ --secret-env: no file gets a secret.",
    ],
    [["--secret-env", "A", "--secret-env", "B", ...telling], "✗ no secret was given for B."],
    [["--secret-env", "A", ...telling], "✗ stdin has more lines than there are secrets to read."],
  ])("CLI-13: add %j is refused, and nothing is kept", async (words, message) => {
    const sandbox = new CliSandbox();
    const input = message.includes("more lines") ? "one\ntwo\n" : "one\n";
    const { stderr, exitCode } = await sandbox.run(["add", "s", ...words], { input });
    expect(stderr).toContain(message);
    expect(exitCode).toBe(2);
    expect((await sandbox.run(["get", "s"])).exitCode).toBe(2);
  });

  it("an entry of a file gets none, and the hint says what to write there", async () => {
    const sandbox = new CliSandbox().configureUser({ demo: demoEntry });
    const { stderr, exitCode } = await sandbox.run(["edit", "demo", "--secret-env", "KEY"], {
      input: canary(1),
    });
    expect(stderr).toContain("✗ --secret-env: no file gets a secret.");
    expect(stderr).toContain("plugboard secret set NAME, and give: -e 'KEY=${secret:NAME}'");
    expect(exitCode).toBe(2);
    expect(homeOf(sandbox)).not.toMatch(anyCanary);
  });

  it("a secret that is typed as a word is refused, with the option that asks for it", async () => {
    const sandbox = new CliSandbox();
    const { stderr } = await sandbox.run(["add", "s", "-e", "API_KEY=canary-1234567", ...telling]);
    expect(stderr).toContain("try: give it where nobody sees it: --secret-env API_KEY\n");
  });
});

describe.skipIf(!hasTerminal)("secrets at a terminal", () => {
  it("ENV-14: are asked for one after the other, and the screen does not show them", async () => {
    const sandbox = new CliSandbox();
    const words = ["add", "s", "--no-test", "--secret-env", "FIRST", "--secret-env", "SECOND"];
    const cli = sandbox.startInTerminal([...words, ...telling]);
    await cli.writes("stdout", "FIRST (not shown): ");
    cli.type(`${canary(1)}\r`);
    await cli.writes("stdout", "SECOND (not shown): ");
    cli.type(`${canary(2)}\r`);
    const { stdout, exitCode } = await cli.ended;
    expect(exitCode).toBe(0);
    expect(stdout).not.toMatch(anyCanary);
    expect(await environmentOf(sandbox, "s")).toMatchObject({
      FIRST: canary(1),
      SECOND: canary(2),
    });

    const set = sandbox.startInTerminal(["secret", "set", "named"]);
    await set.writes("stdout", "named (not shown): ");
    set.type(`${canary(3)}\r`);
    const end = await set.ended;
    expect(end).toMatchObject({ exitCode: 0 });
    expect(end.stdout).not.toMatch(anyCanary);
    expect(homeOf(sandbox)).not.toMatch(anyCanary);
  });

  it("who types nothing keeps nothing", async () => {
    const sandbox = new CliSandbox();
    const cli = sandbox.startInTerminal(["add", "s", "--secret-env", "KEY", ...telling]);
    await cli.writes("stdout", "KEY (not shown): ");
    cli.type("\r");
    expect(await cli.ended).toMatchObject({ exitCode: 2 });
    expect((await sandbox.run(["get", "s"])).exitCode).toBe(2);
  });
});

describe("ten secrets", () => {
  it("I6, STO-09: lie nowhere below the home, and in no output, after all that can be done with them", async () => {
    const sandbox = new CliSandbox();
    const [url, command] = ["http://127.0.0.1:9/mcp", process.execPath];
    const servers = {
      one: { command, args: [leaking, "--token", canary(1)], env: { API_TOKEN: canary(2) } },
      two: {
        url: `${url}?api_key=${canary(3)}`,
        headers: { Authorization: `Bearer ${canary(4)}` },
      },
      three: { url, auth: { type: "oauth", clientId: "c", clientSecret: canary(5) } },
    };
    writeFileSync(path.join(sandbox.cwd, "other.json"), JSON.stringify({ mcpServers: servers }));
    const runs: { stdout: string; stderr: string }[] = [];
    const run = async (words: readonly string[], input = ""): Promise<void> => {
      for (const json of [[], ["--json"]])
        runs.push(await sandbox.run([...words, ...json], { input }));
    };
    await run(["import", "other.json", "--dry-run"]);
    await run(["import", "other.json"]);
    const entry = { command, args: [leaking], env: { API_TOKEN: canary(6), KEY: canary(7) } };
    await run(["add-json", "four", "-"], JSON.stringify(entry));
    await run(["add", "five", "--secret-env", "API_TOKEN", ...telling], canary(8));
    await run(["edit", "five", "--secret-env", "API_TOKEN"], canary(9));
    await run(["secret", "set", "named"], canary(10));
    await run(["edit", "five", "-e", "NAMED_TOKEN=${secret:named}"]);
    for (const name of ["one", "four", "five"]) {
      await run(["get", name]);
      await run(["test", name]);
      await run(["call", `${name}.fail`]);
      await run(["logs", name]);
      await run(["approve", name]);
      await run(["doctor", name]);
    }
    for (const words of [["list"], ["config", "check"], ["audit"], ["secret", "list"], ["import"]])
      await run(words);
    for (const { stdout, stderr } of runs) expect(stdout + stderr).not.toMatch(anyCanary);
    // They all work.
    expect(await environmentOf(sandbox, "one")).toMatchObject({ API_TOKEN: canary(2) });
    expect(await environmentOf(sandbox, "four")).toMatchObject({
      API_TOKEN: canary(6),
      KEY: canary(7),
    });
    expect(await environmentOf(sandbox, "five")).toMatchObject({
      API_TOKEN: canary(9),
      NAMED_TOKEN: canary(10),
    });
    expect(homeOf(sandbox)).not.toMatch(anyCanary);
    for (const name of ["one", "two", "three", "four", "five"]) await run(["remove", name]);
    expect((await sandbox.run(["secret", "list"])).stdout).toBe("named\n");
  }, 120_000);
});
