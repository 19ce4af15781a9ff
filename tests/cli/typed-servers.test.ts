import { describe, expect, it, onTestFinished } from "vitest";

import { createTestServer } from "../../src/testing/index.ts";
import { serveHttp } from "../../src/testing/serve/serve-http.ts";
import { CliSandbox, demoEntry } from "./run-cli.ts";

const launch = ["--", demoEntry.command, ...demoEntry.args];

describe("a server that is not configured", () => {
  it("is used by its command, in the folder where it was typed, and kept nowhere", async () => {
    const sandbox = new CliSandbox();
    const call = ["call", "add", "a=2", "b=3", ...launch];
    expect(await sandbox.run(call)).toMatchObject({ stdout: "5\n", exitCode: 0 });
    const tools = await sandbox.run(["tools", "--json", ...launch]);
    expect(JSON.parse(tools.stdout)).toMatchObject({ servers: [{ name: "run-stdio" }] });
    const tested = await sandbox.run(["test", ...launch]);
    expect(tested.stdout).toMatch(/^✓ started .*\n✓ listed .*\n✓ stopped .*\n$/);
    const types = await sandbox.run(["types", ...launch]);
    expect(types.stdout).toContain("export interface");
    expect(types.exitCode).toBe(0);
    const { stdout } = await sandbox.run(["list", "--json"]);
    // The demo server is there because nothing else is.
    expect(JSON.parse(stdout)).toMatchObject({ servers: [{ scope: "demo" }] });
  });

  it("is used by its address, with headers of this command", async () => {
    const server = await serveHttp(createTestServer(), { port: 0 });
    onTestFinished(() => server.close());
    const sandbox = new CliSandbox();
    const header = ["-H", "X-Team: core"];
    const call = await sandbox.run(["call", server.url, "echo", "message=hi", ...header]);
    expect(call).toMatchObject({ stdout: "hi\n", exitCode: 0 });
    expect((await sandbox.run(["tools", server.url])).stdout).toContain("3 tools");
  });

  it("has the variables that were typed, and no others of the shell", async () => {
    const sandbox = new CliSandbox();
    const script = "process.stderr.write(`[${process.env.A} ${process.env.B} ${process.env.C}]`)";
    const words = ["test", "-e", "A=1", "-e", "B", "--", "node", "-e", script];
    const { stderr } = await sandbox.run(words, { env: { B: "2", C: "3" } });
    expect(stderr).toContain("[1 2 undefined]");
  });

  it("ERR-17: fails with a command that can be copied", async () => {
    const sandbox = new CliSandbox();
    const { stderr, exitCode } = await sandbox.run([
      "tools",
      "--",
      "node",
      "-e",
      "process.exit(3)",
    ]);
    expect(stderr).toContain("plugboard test -- node -e 'process.exit(3)'\n");
    expect(exitCode).toBe(4);
  });

  it("does not take the place of a configured one", async () => {
    const sandbox = new CliSandbox().configureUser({ demo: demoEntry });
    const { stderr, exitCode } = await sandbox.run(["tools", "demo", ...launch]);
    expect(stderr).toContain('✗ "demo" is too much: name one server.');
    expect(exitCode).toBe(2);
  });
});
