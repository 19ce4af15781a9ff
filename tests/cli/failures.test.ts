import { createServer } from "node:http";
import type { AddressInfo } from "node:net";

import { describe, expect, it } from "vitest";

import { CliSandbox, normalize } from "./run-cli.ts";

/** What one `plugboard test` of this entry says. */
async function failureOf(name: string, entry: Readonly<Record<string, unknown>>) {
  const sandbox = new CliSandbox().configureUser({ [name]: entry });
  const { stdout, stderr, exitCode } = await sandbox.run(["test", name, "--quiet"]);
  expect(stdout).toBe("");
  return { stderr: normalize(stderr), exitCode };
}

describe("a server that cannot be used", () => {
  it("ERR-17, CLI-13: a command that does not exist", async () => {
    const { stderr, exitCode } = await failureOf("files", { command: "npxx", args: ["-y"] });
    expect(stderr).toMatch(
      /^✗ files: command not found: "npxx" {3}from ~\/\.plugboard\/mcp\.json:3 {3}\(PATH searched: \d+ folders?\) {3}try: install it, correct `command`, or give its full path\n$/,
    );
    expect(exitCode).toBe(4);
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
        "  try      fix what it says, then: plugboard test files",
        "",
      ].join("\n"),
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

  it("ERR-17, CLI-13: a server that wants a sign-in", async () => {
    const server = createServer((_request, response) => response.writeHead(401).end("nope"));
    server.listen(0, "127.0.0.1");
    await new Promise((resolve) => server.once("listening", resolve));
    const { port } = server.address() as AddressInfo;
    const result = await failureOf("github", {
      url: `http://127.0.0.1:${port}/mcp`,
      transport: "streamable-http",
    });
    server.closeAllConnections();
    server.close();
    expect(result).toEqual({
      stderr:
        "✗ github: sign-in needed (HTTP 401)   " +
        'try: put a token into its entry ("auth"), then: plugboard test github\n',
      exitCode: 3,
    });
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
        'try: set "enabled": true in its entry\n',
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
