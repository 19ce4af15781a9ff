import { once } from "node:events";
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { createServer, type AddressInfo } from "node:net";
import path from "node:path";

import { describe, expect, it, onTestFinished } from "vitest";

import { createTestServer } from "../../src/testing/index.ts";
import { serveHttp } from "../../src/testing/serve/serve-http.ts";
import { ProtectedPlace } from "./protected-place.ts";
import { CliSandbox, demoEntry } from "./run-cli.ts";

const demoWords = [demoEntry.command, ...demoEntry.args];
const warning =
  "⚠ Only connect to trusted MCP servers. Malicious servers can execute arbitrary actions.\n";
const added = "✓ added (user scope; --scope project writes .plugboard/mcp.json)\n";

function storeOf(sandbox: CliSandbox): string {
  const file = path.join(sandbox.home, ".plugboard/plugboard.db");
  return existsSync(file) ? readFileSync(file, "latin1") : "";
}

describe("plugboard add", () => {
  it("PRM-16: keeps a command, warns, tries it, and the next command calls it", async () => {
    const sandbox = new CliSandbox();
    const { stdout, stderr, exitCode } = await sandbox.run(["add", "demo", "--", ...demoWords]);
    expect(stdout).toMatch(
      /^✓ added \(user scope; --scope project writes \.plugboard\/mcp\.json\)\n✓ test passed: \d+ tools, MCP 2026-07-28\. Remove with: plugboard remove demo\n$/,
    );
    expect(stderr).toContain(warning);
    expect(exitCode).toBe(0);
    expect(await sandbox.run(["call", "demo.add", "a=2", "b=3"])).toMatchObject({
      stdout: "5\n",
      exitCode: 0,
    });
    expect((await sandbox.run(["list"])).stdout).toMatch(/^demo .* stdio +\d+ +user$/m);
  });

  it("keeps an address with its headers and its way of speaking", async () => {
    const server = await serveHttp(createTestServer(), { port: 0 });
    onTestFinished(() => server.close());
    const sandbox = new CliSandbox();
    const options = ["--transport", "streamable-http", "-H", "X-Team: core", "--timeout", "5s"];
    const result = await sandbox.run(["add", "web", server.url, ...options, "--json"]);
    expect(result).toMatchObject({ stderr: "", exitCode: 0 });
    expect(JSON.parse(result.stdout)).toMatchObject({
      added: true,
      tested: true,
      name: "web",
      transport: "streamable-http",
      tools: 3,
    });
    const { stdout } = await sandbox.run(["get", "web", "--json"]);
    expect(JSON.parse(stdout)).toMatchObject({
      servers: [{ entry: { url: server.url, headers: { "X-Team": "[redacted]" }, timeout: 5 } }],
    });
  });

  it("keeps a server that does not work, says why and how to take it away", async () => {
    const sandbox = new CliSandbox();
    const words = ["add", "bad", "--", "node", "-e", "process.exit(3)"];
    const { stdout, stderr, exitCode } = await sandbox.run(words);
    expect(stdout).toBe(added);
    expect(stderr).toMatch(/✗ bad: the server stopped during start \(exit code 3 after .* s\)\n/);
    expect(stderr).toMatch(/ {2}It is kept all the same\. Remove with: plugboard remove bad\n$/);
    expect(exitCode).toBe(4);
    const json = await sandbox.run(words.with(1, "worse").toSpliced(2, 0, "--json"));
    expect(JSON.parse(json.stdout)).toMatchObject({ added: true, tested: false, name: "worse" });
    expect(JSON.parse(json.stderr)).toMatchObject({ error: { server: "worse" } });
    expect((await sandbox.run(["list", "--json"])).stdout).toContain('"bad"');
  });

  it("starts nothing with --no-test, and writes nothing with --dry-run", async () => {
    const sandbox = new CliSandbox();
    const marker = path.join(sandbox.cwd, "started");
    const words = ["--", "node", "-e", `require("fs").writeFileSync("${marker}", "")`];
    const shown = await sandbox.run(["add", "one", "--dry-run", "-e", "API_TOKEN", ...words]);
    expect(shown).toMatchObject({ stderr: "", exitCode: 0 });
    expect(shown.stdout).toContain('"API_TOKEN": "${API_TOKEN}"');
    expect((await sandbox.run(["get", "one"])).exitCode).toBe(2);
    const kept = await sandbox.run(["add", "one", "--no-test", "-e", "MODE=fast", ...words]);
    expect(kept).toEqual({ stdout: added, stderr: warning, exitCode: 0 });
    expect(existsSync(marker)).toBe(false);
    expect((await sandbox.run(["get", "one"])).stdout).toContain("MODE=[redacted]");
  });

  it("PRM-21: one of the project is written to its file, and waits for approval", async () => {
    const sandbox = new CliSandbox();
    const file = path.join(sandbox.cwd, ".plugboard/mcp.json");
    mkdirSync(path.dirname(file));
    writeFileSync(file, '{\n  // ours\n  "mcpServers": {}\n}\n');
    const words = ["add", "notes", "--scope", "project", "--", ...demoWords];
    const { stdout, stderr, exitCode } = await sandbox.run(words);
    expect(stdout).toBe("✓ added (project scope: .plugboard/mcp.json)\n");
    expect(stderr).toContain("⏸ not tried: new in .plugboard/mcp.json:");
    expect(stderr).toContain("→ plugboard approve notes\n");
    expect(exitCode).toBe(0);
    expect(readFileSync(file, "utf8")).toMatch(/\/\/ ours[\s\S]*"notes"/);
  });

  it.each([
    [
      "a variable",
      ["-e", "API_TOKEN=canary-1234567", "--", "node", "x.js"],
      "the variable API_TOKEN",
    ],
    [
      "a header",
      ["http://127.0.0.1:9/mcp", "-H", "Authorization: Bearer canary-1234567"],
      "the header Authorization",
    ],
    ["an address", ["http://127.0.0.1:9/mcp?api_key=canary-1234567890"], "the address"],
    [
      "a word",
      ["--", "node", "x.js", "--token=ghp_canary1234567890canary1234567890abcd"],
      "a word of the command",
    ],
  ])("no secret is kept: %s", async (_what, words, where) => {
    const sandbox = new CliSandbox();
    const { stdout, stderr, exitCode } = await sandbox.run(["add", "x", ...words]);
    expect(stdout).toBe("");
    expect(stderr).toContain(`✗ ${where}: this looks like a secret, and is not kept.`);
    expect(stderr).not.toContain("canary");
    expect(exitCode).toBe(2);
    expect(storeOf(sandbox)).not.toContain("canary");
  });

  it.each([
    [[], "which server? Give its address, or its command."],
    [["http://127.0.0.1:9/mcp", "-e", "A=1"], "--env is for a command."],
    [["-H", "A: 1", "--", "node"], "--header is for an address."],
    [["--transport", "sse", "--", "node"], "--transport is for an address."],
    [["http://127.0.0.1:9/mcp", "more"], '"more" is too much.'],
    [["ws://127.0.0.1:9/mcp"], '"ws://127.0.0.1:9/mcp" is no command, and no address of a server.'],
    [["localhost:9/mcp"], '"localhost:9/mcp" is no command, and no address of a server.'],
    [["-e", "=1", "--", "node"], "--env: a name is missing."],
    [["-H", "nothing", "http://127.0.0.1:9/mcp"], "--header: a name is missing."],
    [["--transport", "carrier-pigeon", "http://127.0.0.1:9/mcp"], '"carrier-pigeon" is none of'],
  ])("CLI-13: %j is a usage error, and nothing is kept", async (words, message) => {
    const sandbox = new CliSandbox();
    const { stdout, stderr, exitCode } = await sandbox.run(["add", "x", ...words]);
    expect(stderr).toContain(`✗ ${message}`);
    expect({ stdout, exitCode }).toEqual({ stdout: "", exitCode: 2 });
    expect((await sandbox.run(["get", "x"])).exitCode).toBe(2);
  });

  it("a name that is taken stays what it was", async () => {
    const sandbox = new CliSandbox().configureUser({ demo: demoEntry });
    const { stderr, exitCode } = await sandbox.run(["add", "demo", "--", "node", "other.js"]);
    const [, place] = /^demo .*?(~\/\S+:\d+)/s.exec(
      (await sandbox.run(["get", "demo"])).stdout,
    ) ?? [""];
    expect(stderr).toBe(
      `✗ demo: there is a server "demo" already   from ${place}   try: choose another name, or change it: plugboard edit demo\n`,
    );
    expect(exitCode).toBe(2);
    expect((await sandbox.run(["get", "demo"])).stdout).not.toContain("other.js");
  });
});

describe("plugboard add-json", () => {
  it("keeps an entry as documentation shows it, from the line or from stdin", async () => {
    const sandbox = new CliSandbox();
    const typed = await sandbox.run(["add-json", "one", JSON.stringify(demoEntry)]);
    expect(typed.stdout).toContain("✓ test passed: ");
    const piped = await sandbox.run(["add-json", "two", "-", "--no-test"], {
      input: JSON.stringify({ ...demoEntry, disabledTools: ["crash"] }),
    });
    expect(piped).toMatchObject({ stdout: added, exitCode: 0 });
    expect((await sandbox.run(["get", "two"])).stdout).toContain('disabledTools  ["crash"]');
  });

  it("refuses what is no entry; a secret in one is sealed, and no file gets it", async () => {
    const sandbox = new CliSandbox();
    const run = async (json: string) => (await sandbox.run(["add-json", "x", json])).stderr;
    expect(await run("{")).toContain("✗ the entry is not valid JSON.");
    expect(await run("[]")).toContain("✗ the entry is not a JSON object.");
    expect(await run('{"comand":"x"}')).toContain('✗ x: needs "command" or "url"');
    const auth = {
      url: "http://127.0.0.1:9/mcp",
      auth: { type: "bearer", token: "canary-123456" },
    };
    const words = ["add-json", "x", JSON.stringify(auth)];
    const project = await sandbox.run([...words, "--scope", "project"]);
    expect(project.stderr).toContain("✗ auth.token: this looks like a secret");
    const user = await sandbox.run(["add-json", "x", JSON.stringify(auth), "--no-test"]);
    expect(user).toMatchObject({ exitCode: 0 });
    expect(user.stderr).toContain('"auth.token" is a secret: it is kept sealed');
    const { stdout } = await sandbox.run(["get", "x", "--json"]);
    expect(stdout).toContain('"token":"${secret:entry/x/auth.token@');
    expect(storeOf(sandbox)).not.toContain("canary");
  });
});

describe("plugboard get, enable, disable, remove", () => {
  it("shows where an entry is written and what it replaces, and no secret", async () => {
    const sandbox = new CliSandbox().configureUser({
      demo: { ...demoEntry, env: { API_KEY: "canary-1234567" } },
    });
    const { stdout, exitCode } = await sandbox.run(["get", "demo"]);
    expect(stdout).toMatch(/^demo {2}○ idle\n {2}runs {8}.*run-stdio\.cjs demo\n {2}from {8}~\//);
    expect(stdout).toContain("API_KEY=");
    expect(stdout).not.toContain("canary");
    expect(exitCode).toBe(0);
    expect((await sandbox.run(["get", "demo", "--json"])).stdout).not.toContain("canary");
  });

  it("CON-14: remove says whether an entry of the same name is in force then, or waits for approval", async () => {
    const sandbox = new CliSandbox().configureUser({ demo: demoEntry });
    sandbox.configureProject({ demo: { command: "node", args: ["other.js"] } });
    const removed = await sandbox.run(["remove", "demo"]);
    expect(removed.stdout).toMatch(
      /^✓ "demo" is removed from ~\/\S+; the one of \.plugboard\/mcp\.json:3 waits for approval\.\n$/,
    );
    sandbox.configureUser({ demo: demoEntry });
    const { stdout } = await sandbox.run(["remove", "demo", "--json"]);
    expect(JSON.parse(stdout)).toMatchObject({ waiting: ".plugboard/mcp.json:3" });
  });

  it("CON-13, CON-14: switch the entry off and on where it is written, and delete it there", async () => {
    const sandbox = new CliSandbox().configureUser({ demo: demoEntry, other: demoEntry });
    expect((await sandbox.run(["disable", "demo"])).stdout).toMatch(/^✓ "demo" is off \(/);
    expect((await sandbox.run(["disable", "demo"])).stdout).toMatch(/^✓ "demo" was already off \(/);
    expect((await sandbox.run(["call", "demo.add", "a=1", "b=1"])).exitCode).not.toBe(0);
    expect((await sandbox.run(["enable", "demo"])).stdout).toMatch(/^✓ "demo" is on \(/);
    expect((await sandbox.run(["call", "demo.add", "a=1", "b=1"])).stdout).toBe("2\n");
    expect((await sandbox.run(["remove", "demo"])).stdout).toMatch(/^✓ "demo" is removed from ~\//);
    const gone = await sandbox.run(["remove", "demo"]);
    expect(gone).toMatchObject({ exitCode: 2 });
    expect(gone.stderr).toContain('✗ no server "demo".');
    expect((await sandbox.run(["list"])).stdout).toContain("other");
  });
});

describe("plugboard add, of a server that wants a sign-in", () => {
  it("AUT-10 AUT-12: keeps it, and says how to sign in", async () => {
    const { sandbox, server } = await ProtectedPlace.open();
    const words = ["add", "mine", server.url];
    const { stdout, stderr, exitCode } = await sandbox.run(words);
    expect(stdout).toBe(added);
    expect(stderr).toMatch(
      /◐ not tried: sign-in needed \(HTTP 401; authorization server: 127\.0\.0\.1:\d+\) → plugboard login mine\n$/,
    );
    expect(exitCode).toBe(0);
    const json = await sandbox.run(["add", "other", server.url, "--json"]);
    expect(JSON.parse(json.stdout)).toMatchObject({
      added: true,
      tested: false,
      state: "needs_auth",
      error: { code: "auth_required" },
    });
    expect(json).toMatchObject({ stderr: "", exitCode: 0 });
  });

  it("AUT-03 AUT-08: the client is typed, and its secret is asked for and sealed", async () => {
    const client = { clientId: "mine", clientSecret: "canary-secret-1" };
    const port = await freePort();
    const redirectUris = [`http://127.0.0.1:${port}/callback`];
    const place = await ProtectedPlace.open({
      registration: "none",
      clients: [{ ...client, redirectUris }],
      scopes: ["mcp", "files"],
    });
    const { sandbox, auth, server } = place;
    sandbox.configureUser({});
    const words = ["add", "app", server.url, "--oauth", "--client-id", "mine", "--client-secret"];
    const urls = ["--auth-url", `${auth.url}/authorize`, "--token-url", `${auth.url}/token`];
    const more = ["--oauth-scope", "mcp", "--oauth-scope", "files", "--callback-port", `${port}`];
    const kept = await sandbox.run([...words, ...urls, ...more], { input: "canary-secret-1\n" });
    expect(kept).toMatchObject({ stdout: added, exitCode: 0 });
    expect(storeOf(sandbox)).not.toContain("canary-secret-1");
    await place.login();
    expect(auth.requests.find(({ path: at }) => at.endsWith("/authorize"))?.query).toMatchObject({
      client_id: "mine",
      scope: "mcp files",
      redirect_uri: redirectUris[0],
    });
    expect(await sandbox.run(["call", "app.echo", "message=hi"])).toMatchObject({ stdout: "hi\n" });
  });

  it("AUT-02 AUT-08: a token is asked for and sealed", async () => {
    const place = await ProtectedPlace.open();
    await place.login();
    const { token, server } = place;
    const sandbox = new CliSandbox();
    const words = ["add", "app", server.url, "--bearer"];
    const { stdout, stderr, exitCode } = await sandbox.run(words, { input: `${token}\n` });
    expect(stdout).toContain("✓ test passed: 3 tools");
    expect(exitCode).toBe(0);
    expect(`${stderr}${storeOf(sandbox)}`).not.toContain(token);
    expect((await sandbox.run(["get", "app"])).stdout).not.toContain(token);
    expect(await sandbox.run(["call", "app.echo", "message=hi"])).toMatchObject({ stdout: "hi\n" });
  });

  it.each([
    [["--bearer", "--oauth"], "--bearer goes with no option of OAuth"],
    [["--client-secret"], "--client-secret is for --client-id"],
    [["--bearer", "--scope", "project"], "--bearer: no file gets a secret"],
  ])("%j is refused", async (options, text) => {
    const sandbox = new CliSandbox();
    const result = await sandbox.run(["add", "app", "http://127.0.0.1:9/mcp", ...options]);
    expect(result).toMatchObject({ stdout: "", exitCode: 2 });
    expect(result.stderr).toContain(`✗ ${text}`);
  });

  it("a command on this machine is not signed in to", async () => {
    const result = await new CliSandbox().run(["add", "demo", "--oauth", "--", ...demoWords]);
    expect(result).toMatchObject({ stdout: "", exitCode: 2 });
    expect(result.stderr).toContain("✗ a sign-in is for an address");
  });
});

async function freePort(): Promise<number> {
  const server = createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  server.close();
  await once(server, "close");
  return port;
}
