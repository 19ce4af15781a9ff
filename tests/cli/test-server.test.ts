import { describe, expect, it } from "vitest";

import { CliSandbox } from "./run-cli.ts";

describe("plugboard test-server", () => {
  it("CLI-10, TST-01: stdio speaks MCP on stdout alone and ends with its input", async () => {
    const sandbox = new CliSandbox();
    const initialize = {
      jsonrpc: "2.0",
      id: 1,
      method: "initialize",
      params: {
        protocolVersion: "2025-06-18",
        capabilities: {},
        clientInfo: { name: "test", version: "0" },
      },
    };
    const { stdout, stderr, exitCode } = await sandbox.runAsProcess(["test-server", "stdio"], {
      input: `${JSON.stringify(initialize)}\n`,
    });
    expect({ stderr, exitCode }).toEqual({ stderr: "", exitCode: 0 });
    expect(
      stdout
        .trimEnd()
        .split("\n")
        .map((line) => JSON.parse(line) as unknown),
    ).toMatchObject([{ id: 1, result: { serverInfo: { name: "plugboard-test" } } }]);
  });

  it("CLI-10, TST-02, TST-04: http prints its address and serves until Ctrl-C", async () => {
    const sandbox = new CliSandbox();
    const server = sandbox.start(["test-server", "http", "--port", "0"]);
    await server.writes("stdout", "/mcp\n");
    const url = server.stdout.trimEnd();
    expect(url).toMatch(/^http:\/\/127\.0\.0\.1:\d+\/mcp$/);
    sandbox.configureUser({ remote: { url, transport: "streamable-http" } });
    const [sum, tools] = await Promise.all([
      sandbox.run(["call", "remote.add", "a=2", "b=3"]),
      sandbox.run(["tools", "remote"]),
    ]);
    expect(sum).toMatchObject({ stdout: "5\n", exitCode: 0 });
    expect(tools.stdout.match(/^ {2}\w+/gm)).toEqual(["  echo", "  get_time", "  add"]);
    server.signal("SIGINT");
    expect(await server.ended).toMatchObject({ exitCode: 0 });
  });

  it.each([
    ["sse", /^http:\/\/127\.0\.0\.1:\d+\/sse$/],
    ["rest", /^http:\/\/127\.0\.0\.1:\d+$/],
  ])(
    "CLI-10, TST-04: %s prints its address, which an entry of that kind reaches",
    async (kind, address) => {
      const sandbox = new CliSandbox();
      const server = sandbox.start(["test-server", kind, "--port", "0"]);
      await server.writes("stdout", "\n");
      const url = server.stdout.trimEnd();
      expect(url).toMatch(address);
      sandbox.configureUser({ remote: { url, transport: kind } });
      const [sum, tools] = await Promise.all([
        sandbox.run(["call", "remote.add", "a=2", "b=3"]),
        sandbox.run(["tools", "remote"]),
      ]);
      expect(sum).toMatchObject({ stdout: "5\n", exitCode: 0 });
      expect(tools.stdout.match(/^ {2}\w+/gm)).toEqual(["  echo", "  get_time", "  add"]);
      server.signal("SIGINT");
      expect(await server.ended).toMatchObject({ exitCode: 0 });
    },
  );

  it("CLI-13: a port in use is told, with a way out", async () => {
    const sandbox = new CliSandbox();
    const server = sandbox.start(["test-server", "http", "--port", "0"]);
    await server.writes("stdout", "/mcp\n");
    const { port } = new URL(server.stdout.trimEnd());
    const second = await sandbox.run(["test-server", "http", "--port", port]);
    expect(second).toMatchObject({ stdout: "", exitCode: 2 });
    expect(second.stderr).toContain(port);
    server.signal("SIGTERM");
    expect(await server.ended).toMatchObject({ exitCode: 143 });
  });

  it("CLI-10 AUT-16: a protected one is signed in to in two commands, and asks for more when a tool needs it", async () => {
    const sandbox = new CliSandbox();
    const server = sandbox.start(["test-server", "http", "--protected", "--port", "0"]);
    await server.writes("stderr", /login secured\n/);
    const url = server.stdout.trimEnd();
    expect(server.stderr).toContain(`  plugboard add secured ${url} && plugboard login secured\n`);
    expect(await sandbox.run(["add", "secured", url])).toMatchObject({ exitCode: 0 });
    const signIn = async (...options: readonly string[]): Promise<string> => {
      const login = sandbox.start(["login", "secured", ...options]);
      await login.writes("stderr", "Waiting for your browser");
      const [, page = ""] = /^ {2}(http\S+\/authorize\?\S+)/m.exec(login.stderr) ?? [];
      // What the button of the page sends.
      const body = new URLSearchParams({ decision: "approve" });
      expect((await fetch(page, { method: "POST", body })).status).toBe(200);
      const { stdout, exitCode } = await login.ended;
      expect(exitCode).toBe(0);
      return stdout;
    };
    expect(await signIn()).toMatch(/^✓ signed in to secured .* · mcp · .* · 8 tools\n$/);
    const { stdout } = await sandbox.run(["tools", "secured", "--json"]);
    const tools = ["echo", "get_time", "add", "slow", "fail", "crash", "delete_note", "ask_name"];
    expect(JSON.parse(stdout)).toMatchObject({
      servers: [{ tools: tools.map((name) => ({ name })) }],
    });
    const refused = await sandbox.run(["call", "secured.delete_note", "id=n1"]);
    expect(refused.stderr).toContain("the sign-in lacks what this needs: mcp notes:delete");
    expect(refused.stderr).toContain("plugboard login secured --scope mcp --scope notes:delete\n");
    expect(refused.exitCode).toBe(3);
    expect(await signIn("--scope", "notes:delete")).toContain(" · mcp notes:delete · ");
    const deleted = await sandbox.run(["call", "secured.delete_note", "id=n1"]);
    expect(deleted).toMatchObject({ exitCode: 0 });
    server.signal("SIGINT");
    expect(await server.ended).toMatchObject({ exitCode: 0 });
    const misplaced = await sandbox.run(["test-server", "rest", "--protected"]);
    expect(misplaced).toMatchObject({ stdout: "", exitCode: 2 });
  });
});
