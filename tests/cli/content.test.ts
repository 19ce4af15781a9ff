import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import path from "node:path";

import { describe, expect, it, onTestFinished } from "vitest";

import { createTestServer } from "../../src/testing/index.ts";
import { serveHttp } from "../../src/testing/serve/serve-http.ts";
import { realServer } from "../fixtures/servers/real-servers.ts";
import { CliSandbox, demoEntry, hasTerminal } from "./run-cli.ts";

const everything = realServer("server-everything");
const contentEntry = {
  command: process.execPath,
  args: [path.resolve(import.meta.dirname, "../fixtures/servers/content-server.mjs")],
};
const typed = ["--", contentEntry.command, ...contentEntry.args];

describe("plugboard resources", () => {
  it("lists resources and templates of all servers; one that fails holds up no other", async () => {
    const sandbox = new CliSandbox().configureUser({
      demo: demoEntry,
      everything,
      gone: { command: "no-such-command" },
    });
    const { stdout, stderr, exitCode } = await sandbox.run(["resources"]);
    expect(stdout).toMatch(/^demo · 3 resources\n {2}file:\/\/\/readme\.txt +text\/plain +What /);
    expect(stdout).toMatch(/\neverything · 7 resources, 2 templates\n/);
    expect(stdout).toContain("  demo://resource/dynamic/text/{resourceId} ");
    expect(stderr).toContain('✗ gone: command not found: "no-such-command"');
    expect(exitCode).toBe(4);
    const json = await sandbox.run(["resources", "everything", "--json"]);
    const [server] = (JSON.parse(json.stdout) as { servers: Record<string, object[]>[] }).servers;
    expect(server).toMatchObject({
      name: "everything",
      templates: [{ uriTemplate: "demo://resource/dynamic/text/{resourceId}" }, {}],
    });
    expect(server?.["resources"]).toHaveLength(7);
  });

  it("reads one as it is, and one of a template", async () => {
    const sandbox = new CliSandbox().configureUser({ demo: demoEntry, everything });
    expect(await sandbox.run(["resources", "demo", "file:///readme.txt"])).toMatchObject({
      stdout: "This server shows what a host can do with tools, resources and prompts.\n",
      exitCode: 0,
    });
    const template = "demo://resource/dynamic/text/{resourceId}";
    const { stdout } = await sandbox.run(["resources", "everything", template, "resourceId=7"]);
    expect(stdout).toMatch(/^Resource 7: This is a plaintext resource created at /);
    const missing = await sandbox.run(["resources", "everything", template]);
    expect(missing.stderr).toContain(
      `✗ the variable "resourceId" is missing.   try: plugboard resources everything '${template}' resourceId=<value>\n`,
    );
    const unknown = await sandbox.run(["resources", "everything", template, "resorceId=7"]);
    expect(unknown.stderr).toContain('has no variable "resorceId". Did you mean: resourceId?\n');
    expect([missing.exitCode, unknown.exitCode]).toEqual([2, 2]);
  });

  it("saves bytes with -o, and hands them to a pipe as they are", async () => {
    const sandbox = new CliSandbox().configureUser({ everything });
    const words = ["resources", "everything", "demo://resource/dynamic/blob/3"];
    const { stderr, stdout } = await sandbox.run([...words, "-o", "blob.bin"]);
    expect(sandbox.read("blob.bin")).toMatch(/^Resource 3: This is a base64 blob created at /);
    expect(stderr).toMatch(/✓ blob\.bin: text\/plain, \d+ B\n$/);
    expect(stdout).toBe("");
    const piped = await sandbox.type(`plugboard resources pack://bytes ${typed.join(" ")} > piped`);
    expect(piped).toMatchObject({ stdout: "", exitCode: 0 });
    const bytes = [0x89, 0x50, 0x4e, 0x47, 0x00, 0xff];
    expect([...readFileSync(path.join(sandbox.cwd, "piped"))]).toEqual(bytes);
  });

  it.skipIf(!hasTerminal)(
    "prints no bytes to a terminal, and no control character of text",
    async () => {
      const sandbox = new CliSandbox().configureUser({ pack: contentEntry });
      const bytes = sandbox.startInTerminal(["resources", "pack", "pack://bytes"]);
      const refused = await bytes.ended;
      expect(refused.stdout).toContain(
        "✗ this is not text (image/png, 6 B).   try: save it: -o <file>",
      );
      expect(refused.exitCode).toBe(2);
      const { stdout } = await sandbox.startInTerminal(["resources", "pack", "pack://two"]).ended;
      expect(stdout).toContain("first");
      expect(stdout).toContain("second");
      expect(stdout).not.toContain("\u001B[2J");
    },
  );

  it("CLI-16: several contents are printed in turn, or saved in a folder that they cannot leave", async () => {
    const sandbox = new CliSandbox().configureUser({ pack: contentEntry });
    const two = await sandbox.run(["resources", "pack", "pack://two"]);
    expect(two.stdout).toBe("first\nsecond\u001B[2J\n");
    expect(two.stderr).toContain("2 contents: pack://two/a.txt, pack://two/../../b.txt\n");
    mkdirSync(path.join(sandbox.cwd, "out"));
    writeFileSync(path.join(sandbox.cwd, "out/a.txt"), "mine");
    await sandbox.run(["resources", "pack", "pack://two", "-o", "out"]);
    expect(sandbox.read("out/a.txt")).toBe("mine");
    expect(sandbox.read("out/a-2.txt")).toBe("first");
    expect(sandbox.read("out/b.txt")).toBe("second\u001B[2J");
    const file = await sandbox.run(["resources", "pack", "pack://two", "-o", "one.txt"]);
    expect(file.stderr).toMatch(/✗ there are 2 contents, and ".*one\.txt" is no folder\./);
    expect(existsSync(path.join(sandbox.cwd, "one.txt"))).toBe(false);
    const mixed = await sandbox.run(["resources", "pack", "pack://mixed"]);
    expect(mixed).toMatchObject({ stdout: "", exitCode: 2 });
    expect(mixed.stderr).toContain("try: save it: -o <folder>/\n");
    const json = await sandbox.run(["resources", "pack", "pack://mixed", "--json"]);
    expect(JSON.parse(json.stdout)).toMatchObject({
      contents: [{ text: "words" }, { blob: "iVBORwD/" }],
    });
  });

  it("CLI-16: text of servers in a list is made safe; odd addresses can be read as they stand", async () => {
    const sandbox = new CliSandbox().configureUser({ pack: contentEntry });
    const { stdout } = await sandbox.run(["resources", "pack"]);
    expect(stdout).not.toContain("\u001B");
    expect(stdout.trim().split("\n")).toHaveLength(7);
    expect((await sandbox.run(["resources", "pack", "pack://{braces}"])).stdout).toBe(
      "as it stands\n",
    );
    expect(await sandbox.run(["resources", "pack", "pack://none"])).toMatchObject({
      stdout: "",
      exitCode: 0,
    });
    const wrong = await sandbox.run(["resources", "pack", "pack://wrong"]);
    expect(wrong.stderr).toContain("✗ pack: the server sent bytes that are not base64");
    expect(wrong.exitCode).not.toBe(0);
  });

  it("CLI-13: what is not there is told with what may be meant", async () => {
    const sandbox = new CliSandbox().configureUser({ demo: demoEntry });
    const { stderr, exitCode } = await sandbox.run(["resources", "demo", "file:///readme.tx"]);
    expect(stderr).toContain(
      "Resource not found: file:///readme.tx   try: did you mean: file:///readme.txt\n",
    );
    expect(exitCode).toBe(5);
    const server = await sandbox.run(["resources", "dmo", "file:///readme.txt"]);
    expect(server.stderr).toContain('✗ no server "dmo". Did you mean: demo?');
    expect(server.exitCode).toBe(2);
  });

  it("takes a server that is not configured, by its command or its address", async () => {
    const sandbox = new CliSandbox();
    expect((await sandbox.run(["resources", ...typed])).stdout).toMatch(
      /^content-server · 6 resources\n/,
    );
    const template = await sandbox.run(["resources", "x://{day}", ...typed]);
    expect(template.stderr).toContain("try: plugboard resources 'x://{day}' day=<value> -- ");
    const server = await serveHttp(createTestServer(), { port: 0 });
    onTestFinished(() => server.close());
    const { stdout, exitCode } = await sandbox.run(["resources", server.url]);
    expect(stdout).toMatch(/ · 0 resources\n$/);
    expect(exitCode).toBe(0);
  });
});

describe("plugboard prompts", () => {
  it("lists prompts with their arguments, and fills one in", async () => {
    const sandbox = new CliSandbox().configureUser({ demo: demoEntry, everything });
    const { stdout } = await sandbox.run(["prompts"]);
    expect(stdout).toMatch(/^demo · 2 prompts\n {2}greeting\(name\) +Greets a person\n/);
    expect(stdout).toContain("  args-prompt(city, state?) ");
    const filled = await sandbox.run(["prompts", "everything", "args-prompt", "city=Rome"]);
    expect(filled).toMatchObject({ exitCode: 0 });
    expect(filled.stdout).toContain("Rome");
    writeFileSync(path.join(sandbox.cwd, "name"), "Ada");
    expect((await sandbox.run(["prompts", "demo", "greeting", "name=@name"])).stdout).toBe(
      "Say hello to Ada in one warm sentence.\n",
    );
  });

  it.each([
    [["greting"], '✗ demo has no prompt "greting". Did you mean: greeting?'],
    [
      ["greeting"],
      '✗ greeting: "name" is required.   try: plugboard prompts demo greeting name=<text>',
    ],
    [["greeting", "nme=x"], '✗ greeting has no argument "nme". Did you mean: name?'],
    [["greeting", "Ada"], '✗ "Ada" is no argument.'],
  ])("CLI-13: %j is refused before the server is asked", async (words, message) => {
    const sandbox = new CliSandbox().configureUser({ demo: demoEntry });
    const { stdout, stderr, exitCode } = await sandbox.run(["prompts", "demo", ...words]);
    expect(stderr).toContain(message);
    expect({ stdout, exitCode }).toEqual({ stdout: "", exitCode: 2 });
  });

  it("tells who says what in several messages, and saves what is no text", async () => {
    const sandbox = new CliSandbox();
    const name = "draw\u001B[2J";
    const shown = await sandbox.run(["prompts", name, "what=a cat", ...typed]);
    expect(shown.stdout).toBe(
      "[user]\ndraw a cat\u001B[2J\n\n[assistant]\n[image: image/png, 6 B]\n",
    );
    expect(shown.stderr).toContain("⚠ not all of it is text: -o <folder>/ saves each message\n");
    const saved = await sandbox.run(["prompts", name, "-o", "out/", "--json", ...typed]);
    expect(JSON.parse(saved.stdout)).toMatchObject({
      files: [expect.stringMatching(/-1-user\.txt$/), expect.stringMatching(/-2-assistant\.png$/)],
    });
    const list = await sandbox.run(["prompts", ...typed]);
    expect(list.stdout).not.toContain("\u001B");
  });

  it("typing it allows nothing for good", async () => {
    const sandbox = new CliSandbox().configureUser({ demo: demoEntry });
    await sandbox.run(["prompts", "demo", "greeting", "name=Ada"]);
    const grants = await sandbox.run(["consent", "list", "--json"]);
    expect(JSON.parse(grants.stdout)).toEqual({ grants: [] });
  });
});
