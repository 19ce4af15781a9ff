import { readFileSync } from "node:fs";
import path from "node:path";

import { describe, expect, it } from "vitest";

import { createTestServer } from "../../src/testing/index.ts";
import { serveHttp } from "../../src/testing/serve/serve-http.ts";
import { ProtectedPlace } from "./protected-place.ts";
import { keys, ReplAtTerminal } from "./repl-terminal.ts";
import { CliSandbox, demoEntry, hasTerminal } from "./run-cli.ts";

const echo = ["call", "app.echo", "message=hello"];

describe("plugboard login", () => {
  it("AUT-03 AUT-16: shows whose page it is and what it asks for, waits, and says who is signed in", async () => {
    const place = await ProtectedPlace.open({}, { scopes: ["mcp"] });
    const { sandbox, auth } = place;
    const cli = sandbox.start(["login", "app"]);
    const page = await place.finish(cli);
    expect(page).toContain("<h1>Signed in</h1>");
    const { stdout, stderr, exitCode } = await cli.ended;
    expect(stdout).toMatch(
      /^✓ signed in to app (?:as \S+ · )?127\.0\.0\.1:\d+ · mcp · until \d{4}-\d\d-\d\d \d\d:\d\d:\d\d, then renewed by itself · 3 tools\n$/,
    );
    const lines = stderr.split("\n");
    const first = lines.indexOf(`Sign in to app at ${auth.issuer}`);
    expect(lines.slice(first, first + 6)).toEqual([
      `Sign in to app at ${auth.issuer}`,
      "  asks for    mcp",
      expect.stringMatching(/^ {2}returns to {2}http:\/\/127\.0\.0\.1:\d+\/callback$/),
      "Open this address in a browser:",
      expect.stringContaining("/authorize?"),
      "Waiting for your browser … paste the address here if it does not come back",
    ]);
    expect(exitCode).toBe(0);
    expect(await sandbox.run(echo)).toMatchObject({ stdout: "hello\n", exitCode: 0 });
  });

  it("AUT-16: takes the address that is pasted, where the browser cannot come back", async () => {
    const place = await ProtectedPlace.open();
    const cli = place.sandbox.startLine("plugboard login app --no-browser");
    const address = await place.walk(cli);
    cli.type(`${address}\n`);
    expect(await cli.ended).toMatchObject({
      stdout: expect.stringMatching(/^✓ signed in to app /) as unknown,
      exitCode: 0,
    });
    expect(await place.sandbox.run(echo)).toMatchObject({ stdout: "hello\n" });
  });

  it("asks nothing where somebody is signed in, and again with --force and --scope", async () => {
    const place = await ProtectedPlace.open({ scopes: ["mcp", "files"] });
    const { sandbox, auth } = place;
    await place.login();
    const again = await sandbox.run(["login", "app"]);
    expect(again.stdout).toMatch(/^✓ already signed in to app /);
    expect(again.exitCode).toBe(0);
    expect(auth.counts).toMatchObject({ authorize: 1 });
    await place.login("--force");
    expect(auth.counts).toMatchObject({ authorize: 2 });
    await place.login("--scope", "files", "--scope", "mcp");
    const { stdout } = await sandbox.run(["login", "app", "--json"]);
    expect(JSON.parse(stdout)).toMatchObject({
      signedIn: true,
      isNew: false,
      scopes: ["files", "mcp"],
      tools: 3,
    });
  });

  it("AUT-07: --rotate gets a new token, and nobody is asked", async () => {
    const place = await ProtectedPlace.open();
    await place.login();
    const result = await place.sandbox.run(["login", "app", "--rotate"]);
    expect(result.stdout).toMatch(/^✓ signed in to app /);
    expect(place.auth.counts).toMatchObject({ authorize: 1, token: { refresh_token: 1 } });
  });

  it("takes a token from stdin, never as a word, and shows it nowhere", async () => {
    const place = await ProtectedPlace.open();
    const { sandbox } = place;
    const typed = await sandbox.run(["login", "app", "--token", "canary-1234567"]);
    expect(typed.exitCode).toBe(2);
    expect(typed.stderr).toContain("✗ --token takes no token");
    expect(typed.stderr).not.toContain("canary");
    const empty = await sandbox.run(["login", "app", "--token", "-"]);
    expect(empty).toMatchObject({ exitCode: 2, stdout: "" });
    const refused = await sandbox.run(["login", "app", "--token", "-"], {
      input: "canary-1234567\n",
    });
    expect(refused.stdout).toMatch(/^✓ signed in to app with your token\n$/);
    expect(refused.exitCode).toBe(3);
    expect(refused.stderr).toContain("plugboard login app --token -");
    expect(`${refused.stdout}${refused.stderr}`).not.toContain("canary");
    // One that the server accepts, as somebody has it from elsewhere.
    const other = await ProtectedPlace.open();
    await other.login();
    const elsewhere = new CliSandbox().configureUser({ app: { url: other.server.url } });
    const input = `Bearer ${other.token}\n`;
    const accepted = await elsewhere.run(["login", "app", "--token", "-"], { input });
    expect(accepted).toMatchObject({
      stdout: "✓ signed in to app with your token · 3 tools\n",
      exitCode: 0,
    });
    expect(accepted.stderr).not.toContain(other.token);
  });

  it("a server that wants no sign-in is told as such", async () => {
    const server = await serveHttp(createTestServer());
    const sandbox = new CliSandbox().configureUser({ open: { url: server.url }, demo: demoEntry });
    expect(await sandbox.run(["login", "open"])).toMatchObject({
      stdout: "✓ nothing to do for open: it lets everybody in, and wants no sign-in.\n",
      exitCode: 0,
    });
    expect(await sandbox.run(["login", "demo"])).toMatchObject({
      stdout: "✓ nothing to do for demo: it runs on this machine, and wants no sign-in.\n",
      exitCode: 0,
    });
    const json = await sandbox.run(["login", "open", "--json"]);
    expect(JSON.parse(json.stdout)).toEqual({ signedIn: false, needed: false, name: "open" });
    await server.close();
  });

  it("with --json the page is a line on stderr, and the sign-in one object", async () => {
    const place = await ProtectedPlace.open();
    const cli = place.sandbox.start(["login", "app", "--json"]);
    await cli.writes("stderr", "\n");
    const { log } = JSON.parse(cli.stderr) as { readonly log: { readonly url: string } };
    expect(log).toMatchObject({ serverName: "app", scopes: [], isAwaited: true });
    await fetch(await place.browser.walk(log.url));
    const { stdout, exitCode } = await cli.ended;
    expect(JSON.parse(stdout)).toMatchObject({ signedIn: true, isNew: true, tools: 3 });
    expect(exitCode).toBe(0);
  });

  it("a sign-in by address is there for every entry of it", async () => {
    const place = await ProtectedPlace.open();
    const { sandbox, server } = place;
    const cli = sandbox.start(["login", server.url]);
    await place.finish(cli);
    expect(await cli.ended).toMatchObject({ exitCode: 0 });
    expect(await sandbox.run(echo)).toMatchObject({ stdout: "hello\n", exitCode: 0 });
  });

  it("CLI-13: Ctrl-C ends it with 130, and nobody listens any more", async () => {
    const place = await ProtectedPlace.open();
    const cli = place.sandbox.start(["login", "app"]);
    const address = await place.walk(cli);
    cli.signal("SIGINT");
    const { exitCode, stdout, stderr } = await cli.ended;
    expect({ exitCode, stdout }).toEqual({ exitCode: 130, stdout: "" });
    expect(stderr).toContain("✗ app: the sign-in was cancelled");
    await expect(fetch(address)).rejects.toThrow();
  });

  it("a person who does not come back in time is told what to do", async () => {
    const place = await ProtectedPlace.open();
    const result = await place.sandbox.run(["login", "app", "--timeout", "1s"]);
    expect(result.exitCode).toBe(7);
    expect(result.stderr).toContain("✗ app: the browser did not come back within 1 s");
  });
});

describe("who is signed in", () => {
  it("AUT-06 AUT-07: is told by list and get, with what was not granted; and the command where nobody is", async () => {
    const place = await ProtectedPlace.open({ scopes: ["mcp", "files"], grantedScopes: ["mcp"] });
    const { sandbox } = place;
    expect((await sandbox.run(["list"])).stdout).toMatch(/^app +○ idle +http +– +user$/m);
    await sandbox.run(["test", "app"]);
    expect((await sandbox.run(["list"])).stdout).toMatch(
      /^app +◐ sign-in needed +http +– +user +plugboard login app$/m,
    );
    expect((await sandbox.run(["get", "app"])).stdout).toMatch(/^ {2}note +plugboard login app$/m);
    await place.login("--scope", "files", "--scope", "mcp");
    expect((await sandbox.run(["list"])).stdout).toMatch(
      /^app +○ idle +http +3 +user +signed in (?:as|at) \S+, not granted: files$/m,
    );
    const { stdout } = await sandbox.run(["get", "app"]);
    expect(stdout).toMatch(
      /^ {2}signed in +.*127\.0\.0\.1:\d+ · mcp · until .* renewed by itself$/m,
    );
    expect(stdout).toMatch(/^ {2}scopes +not granted: files$/m);
    for (const command of [["list"], ["get", "app"]]) {
      const json = await sandbox.run([...command, "--json"]);
      expect(JSON.parse(json.stdout)).toMatchObject({
        servers: [{ name: "app", signIn: { scopes: ["mcp"], missingScopes: ["files"] } }],
      });
      expect(json.stdout).not.toContain(place.token);
    }
  });

  it("a sign-in for the same address ends the wait of every entry", async () => {
    const place = await ProtectedPlace.open();
    const { sandbox, server } = place;
    await sandbox.run(["test", "app"]);
    const cli = sandbox.start(["login", server.url]);
    await place.finish(cli);
    await cli.ended;
    expect((await sandbox.run(["list"])).stdout).toMatch(/^app +○ idle .* signed in /m);
  });
});

describe("plugboard logout", () => {
  it("AUT-08: forgets the sign-in and gives the tokens back", async () => {
    const place = await ProtectedPlace.open();
    const { sandbox, auth } = place;
    expect(await sandbox.run(["logout", "app"])).toMatchObject({
      stdout: "Nobody is signed in to app.\n",
      exitCode: 0,
    });
    await place.login();
    expect(await sandbox.run(["logout", "app"])).toMatchObject({
      stdout: "✓ signed out of app.\n",
      stderr: "",
      exitCode: 0,
    });
    expect(auth.counts.revoke).toBeGreaterThan(0);
    expect(await sandbox.run(echo)).toMatchObject({ exitCode: 3 });
  });

  it("tells when the issuer is away, and forgets them all the same", async () => {
    const place = await ProtectedPlace.open();
    await place.login();
    await place.auth.close();
    const { stdout, stderr, exitCode } = await place.sandbox.run(["logout", "app"]);
    expect(stdout).toBe("✓ signed out of app.\n");
    expect(stderr).toMatch(/^⚠ its tokens could not be given back: /);
    expect(exitCode).toBe(0);
  });
});

describe("beside plugboard up", () => {
  it("AUT-07: a host that runs uses a new sign-in at once, and ends with it", async () => {
    const place = await ProtectedPlace.open({}, {}, { start: "eager" });
    const { sandbox } = place;
    const host = sandbox.start(["up"]);
    await host.writes("stdout", "Ctrl-C stops them and leaves no process behind.");
    const state = async (): Promise<string> => {
      const { stdout } = await sandbox.run(["list", "--json"]);
      return (JSON.parse(stdout) as { servers: { state: string }[] }).servers[0]?.state ?? "";
    };
    expect(await state()).toBe("needs_auth");
    await place.login();
    // By itself: nobody asks for the server. Each look is a process, so this does not spin.
    await expect.poll(state, { timeout: 10_000 }).toBe("connected");
    const call = await sandbox.run([...echo, "--log-level", "info"]);
    expect(call).toMatchObject({ stdout: "hello\n", exitCode: 0 });
    expect(call.stderr).toContain("the host that runs here is used");
    await sandbox.run(["logout", "app"]);
    // A call that runs while the host disconnects would end with the connection instead.
    await expect.poll(state, { timeout: 10_000 }).not.toBe("connected");
    expect(await sandbox.run(echo)).toMatchObject({ exitCode: 3 });
    host.signal("SIGINT");
    expect((await host.ended).exitCode).toBe(0);
  });
});

describe.skipIf(!hasTerminal)("at a terminal", () => {
  it("AUT-16: the page opens in the browser, and its address is one word", async () => {
    const place = await ProtectedPlace.open();
    const { program, file } = place.recordingBrowser();
    const repl = new ReplAtTerminal(place.sandbox, {
      words: ["login", "app"],
      env: { BROWSER: program },
      columns: 1_000,
    });
    await repl.terminal.shows((screen) => screen.includes("address:"));
    await place.sandbox.holds("opened", "authorize");
    const [count, url = ""] = readFileSync(file, "utf8").split("\n");
    expect(count).toBe("1");
    expect(repl.terminal.screen).toContain("Opening this address in your browser:");
    await fetch(await place.browser.walk(url));
    expect(await repl.end()).toBe(0);
    expect(repl.terminal.screen).toMatch(/✓ signed in to app /);
  });

  it("what is pasted must be the address at which the browser ends", async () => {
    const place = await ProtectedPlace.open();
    const cli = place.sandbox.startInTerminal(["login", "app", "--no-browser"]);
    const address = await place.walk(cli, "stdout");
    await cli.writes("stdout", "address: ");
    cli.type("https://example.com/\n");
    await cli.writes("stdout", "⚠ that is not it: the address begins with http://127.0.0.1:");
    cli.type(`${address}\n`);
    const { stdout, exitCode } = await cli.ended;
    expect(stdout).toContain("✓ signed in to app ");
    expect(exitCode).toBe(0);
  });

  it("a token is typed unseen", async () => {
    const place = await ProtectedPlace.open();
    const cli = place.sandbox.startInTerminal(["login", "app", "--token", "-"]);
    await cli.writes("stdout", "the token (not shown): ");
    cli.type("canary-1234567\r");
    const { stdout, exitCode } = await cli.ended;
    expect(stdout).not.toContain("canary");
    expect(exitCode).toBe(3);
  });

  it("Ctrl-C at the waiting command leaves nothing behind", async () => {
    const place = await ProtectedPlace.open();
    const cli = place.sandbox.startInTerminal(["login", "app"]);
    const address = await place.walk(cli, "stdout");
    await cli.writes("stdout", "address: ");
    cli.type("\u0003");
    expect(await cli.ended).toMatchObject({ exitCode: 130 });
    await expect(fetch(address)).rejects.toThrow();
  });

  it("a command that needs a sign-in offers it once, and goes on", async () => {
    const place = await ProtectedPlace.open();
    const { sandbox } = place;
    const cli = sandbox.startInTerminal(echo);
    await cli.writes("stdout", "Sign in now?");
    cli.type("y\n");
    await place.finish(cli, "stdout");
    const { stdout, exitCode } = await cli.ended;
    expect(stdout).toContain("✓ signed in to app ");
    expect(stdout).toMatch(/hello\r\n$/);
    expect(exitCode).toBe(0);
    await sandbox.run(["logout", "app"]);
    const no = sandbox.startInTerminal(["tools", "app"]);
    await no.writes("stdout", "Sign in now?");
    no.type("\n");
    const refused = await no.ended;
    expect(refused.stdout).toContain("✗ app: sign-in needed");
    expect(refused.stdout).toContain("plugboard login app");
    expect(refused.exitCode).toBe(3);
  });

  it("the REPL signs in and out by the same commands, and Ctrl-C gives up", async () => {
    const place = await ProtectedPlace.open();
    const words = ["repl", "--level", "yolo"];
    const repl = new ReplAtTerminal(place.sandbox, { words, columns: 1_000 });
    await repl.line("/mcp login app --no-browser", "address:");
    repl.terminal.type(keys.interrupt);
    await repl.terminal.shows((screen) => screen.includes("✗ app: the sign-in was cancelled"));
    await repl.line("/login app --no-browser", "address:");
    const found = [...repl.terminal.screen.matchAll(/^ {2}(http\S+\/authorize\?\S+)/gm)].at(-1);
    await fetch(await place.browser.walk(found?.[1] ?? ""));
    await repl.terminal.shows((screen) => screen.includes("✓ signed in to app "));
    await repl.line("app.echo message=hello", /^hello/m);
    await repl.line("/mcp logout app", "✓ signed out of app.");
    await repl.leave();
  });
});

it("AUT-08: no token lies in the files of the person", async () => {
  const place = await ProtectedPlace.open();
  await place.login();
  const { token } = place;
  expect(token.length).toBeGreaterThan(10);
  const folder = path.join(place.sandbox.home, ".plugboard");
  const store = readFileSync(path.join(folder, "plugboard.db"), "latin1");
  expect(store).not.toContain(token);
});
