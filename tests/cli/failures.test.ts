import { createServer, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import path from "node:path";

import { describe, expect, it, onTestFinished } from "vitest";

import { CliSandbox, normalize } from "./run-cli.ts";

/** What one `plugboard test` of this entry says. */
async function failureOf(name: string, entry: Readonly<Record<string, unknown>>) {
  const sandbox = new CliSandbox().configureUser({ [name]: entry });
  const { stdout, stderr, exitCode } = await sandbox.run(["test", name, "--quiet"]);
  expect(stdout).toBe("");
  return { stderr: normalize(stderr), exitCode };
}

/** The address of a server that answers everything in one way, for one test. */
async function answering(answer: (response: ServerResponse) => void): Promise<string> {
  const server = createServer((_request, response) => answer(response));
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}/mcp`;
}

describe("a server that cannot be used", () => {
  it("ERR-17, CLI-13: a command that does not exist", async () => {
    const { stderr, exitCode } = await failureOf("files", { command: "npxx", args: ["-y"] });
    expect(stderr).toMatch(
      /^✗ files: command not found: "npxx" {3}from ~\/\.plugboard\/mcp\.json:3 {3}\(PATH searched: \d+ folders?\) {3}try: install it, correct `command`, or give its full path\n$/,
    );
    expect(exitCode).toBe(4);
  });

  it("ERR-17, CLI-13: is told once by who lists the tools of all", async () => {
    const sandbox = new CliSandbox().configureUser({ files: { command: "npxx" } });
    const { stderr, exitCode } = await sandbox.run(["tools"]);
    expect(stderr.match(/npxx/g)).toHaveLength(1);
    expect([stderr.includes("⚠"), exitCode]).toEqual([false, 4]);
  });

  it("ERR-17, CLI-13: a command that exits at once with a message", async () => {
    const script = "console.error('Error: ENOENT: no such folder ./x'); process.exit(3)";
    const { stderr, exitCode } = await failureOf("files", {
      command: "node",
      args: ["-e", script],
    });
    expect(stderr).toBe(
      [
        "✗ files: the server stopped during start (exit code 3 after <time>)",
        `  command  node -e ${script}   from ~/.plugboard/mcp.json:3`,
        "  stderr   Error: ENOENT: no such folder ./x",
        "  try      fix what it says, then: plugboard test files   full log: plugboard logs files",
        "",
      ].join("\n"),
    );
    expect(exitCode).toBe(4);
  });

  it("ERR-17, CLI-13: a server that throws at its start is told by its error, not by the frames", async () => {
    const script = 'throw new Error("DATABASE_URL must be set")';
    const { stderr, exitCode } = await failureOf("db", { command: "node", args: ["-e", script] });
    expect(stderr.split("\n").toSpliced(1, 1)).toEqual([
      "✗ db: the server stopped during start (exit code 1 after <time>)",
      "  stderr   Error: DATABASE_URL must be set",
      '  try      set DATABASE_URL in "env" of the entry, then: plugboard test db   full log: plugboard logs db',
      "",
    ]);
    expect(exitCode).toBe(4);
  });

  it("ERR-17, CLI-13: a server that ends right after the handshake is no success", async () => {
    const { stderr, exitCode } = await failureOf("mysql", {
      command: "node",
      args: [path.resolve(import.meta.dirname, "../fixtures/servers/dying-server.mjs"), "at-list"],
    });
    expect(stderr).toContain("✗ mysql: the server stopped during start (exit code 1 after <time>)");
    expect(exitCode).toBe(4);
  });

  it("ERR-17, CLI-13: a server without tools that ends after the handshake is no success", async () => {
    const program = path.resolve(import.meta.dirname, "../fixtures/servers/dying-server.mjs");
    const { stderr, exitCode } = await failureOf("mute", {
      command: "node",
      args: [program, "without-tools", "Error: no licence", "3"],
    });
    expect(stderr).toContain("(exit code 3 after <time>)");
    expect(stderr).toContain("  stderr   Error: no licence\n");
    expect(exitCode).toBe(4);
  });

  it("ERR-17, CLI-13: a program that prints how it is used is no server", async () => {
    const script = "console.log('usage: tool <command>'); process.exit(1)";
    const { stderr, exitCode } = await failureOf("tool", { command: "node", args: ["-e", script] });
    const lines = stderr.split("\n").filter((line) => !/^(?:warn|  command) /.test(line));
    expect(lines).toEqual([
      "✗ tool: the server stopped during start (exit code 1 after <time>): it printed how it is used: " +
        "it is no MCP server, or not with these arguments",
      "  stdout   usage: tool <command>",
      "  try      correct `command` and `args`, then: plugboard test tool",
      "",
    ]);
    expect(exitCode).toBe(4);
  });

  it("ERR-17, CLI-13: a database that is down is the cause of the silence, not the time", async () => {
    const script =
      "console.error('connect ECONNREFUSED 127.0.0.1:5432'); setInterval(() => {}, 1000)";
    const { stderr, exitCode } = await failureOf("db", {
      command: "node",
      args: ["-e", script],
      connectTimeout: 3,
    });
    expect(stderr).toContain("it could not connect to 127.0.0.1:<port>: connection refused");
    expect(stderr).toContain(
      "try      start what listens at 127.0.0.1:<port>, or correct its address",
    );
    expect(stderr).not.toContain("--timeout");
    expect(exitCode).toBe(7);
  });

  it("ERR-17, CLI-13: a package that does not exist", async () => {
    const registry = createServer((_request, response) => response.writeHead(404).end("{}"));
    await new Promise<void>((resolve) => registry.listen(0, "127.0.0.1", resolve));
    const { port } = registry.address() as AddressInfo;
    const { stderr, exitCode } = await failureOf("files", {
      command: "npx",
      args: ["-y", "no-such-package-xyz"],
      env: { npm_config_registry: `http://127.0.0.1:${port}/`, npm_config_fetch_retries: "0" },
    });
    registry.closeAllConnections();
    registry.close();
    expect(stderr).toContain('npm did not find a package "no-such-package-xyz" (404)');
    expect(stderr).toContain(
      "try      correct the name of the package in `args`, then: plugboard test files",
    );
    expect(exitCode).toBe(4);
  });

  it("ERR-17, CLI-13: a command that never answers", async () => {
    const { stderr, exitCode } = await failureOf("slow", {
      command: "node",
      args: ["-e", "setInterval(() => {}, 1000)"],
      connectTimeout: 2,
    });
    expect(stderr).toBe(
      "✗ slow: no answer to initialize within <time> (process is running, nothing on stdout)   " +
        "try: plugboard test slow --timeout 4s\n",
    );
    expect(exitCode).toBe(7);
  });

  it("ERR-17, CLI-13: a port where nobody listens", async () => {
    const server = createServer().listen(0, "127.0.0.1");
    await new Promise((resolve) => server.once("listening", resolve));
    const { port } = server.address() as AddressInfo;
    await new Promise((resolve) => server.close(resolve));
    const result = await failureOf("api", {
      url: `http://127.0.0.1:${port}/mcp`,
      transport: "streamable-http",
    });
    expect(result).toEqual({
      stderr:
        "✗ api: connection refused at 127.0.0.1:<port> (nothing is listening)   " +
        "try: start it, then: plugboard test api\n",
      exitCode: 4,
    });
  });

  it.each([
    [
      "without auth",
      {},
      [
        "✗ github: sign-in needed (HTTP 401)",
        "try: it does not say how; if you have a token for it: plugboard login github --token -",
      ],
    ],
    [
      "with a token that it refuses",
      { auth: { type: "bearer", token: "canary-token-1" } },
      [
        "✗ github: the token of the entry was refused (HTTP 401)",
        'try: put one that is valid into its entry: "auth": { "type": "bearer", "token": "${GITHUB_TOKEN}" }, then: plugboard test github',
      ],
    ],
    [
      "with OAuth, and does not say where",
      { auth: "oauth" },
      [
        "✗ github: sign-in needed (HTTP 401)",
        "try: it does not say how; if you have a token for it: plugboard login github --token -",
      ],
    ],
  ])("ERR-17, CLI-13: a server that wants a sign-in, %s", async (_, auth, lines) => {
    const url = await answering((response) => response.writeHead(401).end("nope"));
    const result = await failureOf("github", { url, transport: "streamable-http", ...auth });
    expect(result).toEqual({ stderr: `${lines.join("   ")}\n`, exitCode: 3 });
  });

  it("ERR-17, CLI-13: a server that asks to wait", async () => {
    const url = await answering((response) =>
      response.writeHead(429, { "retry-after": "30" }).end("slow down"),
    );
    const { stderr, exitCode } = await failureOf("api", { url });
    expect(stderr).toBe(
      [
        "✗ api: 127.0.0.1:<port> answered HTTP 429 (Retry-After: <time>): slow down",
        "try: wait <time>: there were too many requests, then: plugboard test api",
      ].join("   ") + "\n",
    );
    expect(exitCode).toBe(4);
  });

  it("ERR-17, CLI-13: an address that is no MCP server is told a line for each attempt", async () => {
    const url = await answering((response) =>
      response.writeHead(404, { "content-type": "text/html" }).end("<title>No such page</title>"),
    );
    const { stderr, exitCode } = await failureOf("web", { url });
    expect(stderr.split("\n")).toEqual([
      "✗ web: the address speaks no known kind of MCP:",
      expect.stringMatching(/^ {4}streamable-http: .* HTTP 404: No such page$/),
      expect.stringMatching(/^ {4}sse: .* HTTP 404: No such page$/),
      expect.stringMatching(/^ {4}rest: .* HTTP 404: No such page$/),
      expect.stringMatching(/^ {2}try {6}check the path of "url"/),
      "",
    ]);
    expect(exitCode).toBe(4);
  });

  it("ERR-17, CLI-13: a misspelt key is named beside the one that is missing", async () => {
    const sandbox = new CliSandbox().configureUser({ notes: { comand: "node" } });
    const { stderr, exitCode } = await sandbox.run(["test", "notes"]);
    expect(stderr.split("\n")).toEqual([
      '⚠ ~/.plugboard/mcp.json:4:7 — notes: unknown key "comand". Did you mean "command"?',
      '✗ ~/.plugboard/mcp.json:3:5 — notes: needs "command" or "url"',
      "",
    ]);
    expect(exitCode).toBe(2);
  });

  it("ERR-17, CLI-13: a variable that is not set", async () => {
    const result = await failureOf("github", {
      command: "node",
      env: { TOKEN: "${NO_SUCH_VARIABLE}" },
    });
    expect(result).toEqual({
      stderr:
        "✗ github: ${NO_SUCH_VARIABLE} is not set (~/.plugboard/mcp.json:3)   " +
        "try: export it, then: plugboard test github\n",
      exitCode: 2,
    });
  });

  it("CLI-13: a server that is switched off", async () => {
    const result = await failureOf("off", { command: "node", enabled: false });
    expect(result).toEqual({
      stderr:
        '✗ server "off" is disabled   from ~/.plugboard/mcp.json:3   ' +
        "try: plugboard connect off\n",
      exitCode: 2,
    });
  });

  it("ERR-17: a crash in the middle of a call is told with its last words", async () => {
    const { stdout, stderr, exitCode } = await new CliSandbox().run([
      "call",
      "demo.crash",
      "--quiet",
    ]);
    const lines = normalize(stderr).split("\n");
    expect(lines[0]).toBe("✗ demo: the server stopped (exit code 1 after <time>)");
    expect(lines[2]).toBe("  stderr   demo: crash was called, exiting with code 1");
    expect({ stdout, exitCode }).toEqual({ stdout: "", exitCode: 4 });
  });

  it("CLI-14: --json tells it as one object on stderr", async () => {
    const sandbox = new CliSandbox().configureUser({ gone: { command: "no-such-command" } });
    const { stdout, stderr, exitCode } = await sandbox.run(["test", "gone", "--json"]);
    expect({ stdout, exitCode }).toEqual({ stdout: "", exitCode: 4 });
    expect(JSON.parse(stderr)).toMatchObject({
      error: {
        code: "command_not_found",
        message: 'command not found: "no-such-command"',
        server: "gone",
        hint: expect.any(String),
        details: { transport: "stdio", layer: "user" },
      },
    });
  });

  it("the stack is for --log-level debug alone", async () => {
    const sandbox = new CliSandbox().configureUser({ gone: { command: "no-such-command" } });
    const [plain, debug] = await Promise.all([
      sandbox.run(["test", "gone"]),
      sandbox.run(["test", "gone", "--log-level", "debug"]),
    ]);
    expect(plain.stderr).not.toMatch(/^\s+at /m);
    expect(debug.stderr).toMatch(/^\s+at /m);
  });
});
