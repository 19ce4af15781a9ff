import { spawn } from "node:child_process";
import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";

import { describe, expect, it } from "vitest";

import { findCause } from "./output-cause.ts";

/** What a program that is really run prints to stderr, line by line. */
async function stderrOf(
  command: string,
  args: readonly string[],
  env: Readonly<Record<string, string>> = {},
): Promise<readonly string[]> {
  const child = spawn(command, args, {
    cwd: tmpdir(),
    env: { PATH: process.env["PATH"], HOME: process.env["HOME"], ...env },
    stdio: ["ignore", "ignore", "pipe"],
  });
  let text = "";
  child.stderr.setEncoding("utf8").on("data", (part: string) => (text += part));
  await once(child, "close");
  return text.trimEnd().split("\n");
}

const lines = (text: string): readonly string[] => text.trim().split("\n");

describe("the cause of a program that was run", () => {
  it.each([
    [
      "the error above its frames",
      'throw new RangeError("the port is taken")',
      { kind: "error", lines: ["RangeError: the port is taken"] },
    ],
    [
      "all lines of an error",
      'throw new Error("wrong settings:\\n  - host\\n  - user")',
      { kind: "error", lines: ["Error: wrong settings:", "  - host", "  - user"] },
    ],
    [
      "the messages of problems that are printed as JSON",
      'console.error("Server error:", JSON.stringify([{ code: "too_small", message: "URL cannot be empty", path: ["url"] }], null, 2))',
      { kind: "error", summary: "URL cannot be empty", lines: ["URL cannot be empty"] },
    ],
    [
      "a variable that is not set",
      'throw new Error("DATABASE_URL must be set")',
      {
        kind: "variable-missing",
        summary: "Error: DATABASE_URL must be set",
        advice: 'set DATABASE_URL in "env" of the entry',
      },
    ],
    [
      "a variable in a line without an error",
      'console.error("Please set GITLAB_TOKEN to use this server"); process.exit(1)',
      { kind: "variable-missing", advice: 'set GITLAB_TOKEN in "env" of the entry' },
    ],
    [
      "a connection that was refused",
      'require("node:net").connect(1, "127.0.0.1")',
      {
        kind: "connection-refused",
        summary: "it could not connect to 127.0.0.1:1: connection refused",
        lines: ["Error: connect ECONNREFUSED 127.0.0.1:1"],
      },
    ],
    [
      "a host that does not exist, deep in the cause of the error",
      'const cause = Object.assign(new Error("getaddrinfo ENOTFOUND db.invalid"), { code: "ENOTFOUND" }); throw new TypeError("fetch failed", { cause })',
      { kind: "host-unknown", summary: 'it could not find the host "db.invalid"' },
    ],
    [
      "a module that is not installed",
      'require("no-such-module-at-all")',
      {
        kind: "module-missing",
        summary: 'the module "no-such-module-at-all" is not there',
        lines: ["Error: Cannot find module 'no-such-module-at-all'"],
      },
    ],
    [
      "usage text",
      'console.error("Usage: tool [options] <folder>\\n\\n  -v  version"); process.exit(2)',
      { kind: "usage", lines: ["Usage: tool [options] <folder>", "  -v  version"] },
    ],
    [
      "an address that it serves instead",
      'console.error("MCP server listening on http://localhost:3000/mcp"); process.exit(0)',
      {
        kind: "serves-http",
        summary: "it serves HTTP at http://localhost:3000/mcp instead of stdin and stdout",
      },
    ],
    [
      "an error before its usage text",
      'console.error("Error: no folder was given\\nUsage: tool <folder>"); process.exit(2)',
      { kind: "error", lines: ["Error: no folder was given"] },
    ],
    [
      "the first line of an error whose lines a logger has marked",
      'for (const line of ["[INFO:x] begins", "[ERROR:x] no sign-in found", "[ERROR:x] 1. run init"]) console.error(line); process.exit(1)',
      { kind: "error", summary: "no sign-in found", lines: ["no sign-in found", "1. run init"] },
    ],
    [
      "the last lines of anything else",
      'for (let n = 1; n < 9; n += 1) console.error("step " + n); process.exit(1)',
      {
        kind: "output",
        summary: "step 8",
        lines: ["step 4", "step 5", "step 6", "step 7", "step 8"],
      },
    ],
  ])("ERR-17: %s", async (_, script, expected) => {
    expect(findCause(await stderrOf(process.execPath, ["-e", script]))).toMatchObject(expected);
  });

  it("ERR-17: a command that a shell does not find", async () => {
    expect(findCause(await stderrOf("sh", ["-c", "no-such-tool --stdio"]))).toMatchObject({
      kind: "command-missing",
      summary: 'it runs "no-such-tool", which is not installed',
    });
  });

  it("ERR-17: a package that npm does not find", async () => {
    const registry = createServer((_request, response) => {
      response.writeHead(404, { "content-type": "application/json" }).end('{"error":"not_found"}');
    });
    await new Promise<void>((resolve) => registry.listen(0, "127.0.0.1", resolve));
    const { port } = registry.address() as AddressInfo;
    const output = await stderrOf("npx", ["-y", "no-such-package-xyz"], {
      npm_config_registry: `http://127.0.0.1:${port}/`,
      npm_config_fetch_retries: "0",
    });
    registry.closeAllConnections();
    registry.close();
    expect(findCause(output)).toMatchObject({
      kind: "package-missing",
      summary: 'npm did not find a package "no-such-package-xyz" (404)',
      advice: "correct the name of the package in `args`",
    });
  });

  it("ERR-17: a registry that npm cannot reach", async () => {
    const output = await stderrOf("npx", ["-y", "no-such-package-xyz"], {
      npm_config_registry: "http://127.0.0.1:1/",
      npm_config_fetch_retries: "0",
    });
    expect(findCause(output)).toMatchObject({
      kind: "registry-unreachable",
      summary: "npm could not reach its registry (ECONNREFUSED)",
    });
  });
});

describe("the cause in a transcript", () => {
  it.each([
    [
      "Python: the last line of the traceback",
      `Traceback (most recent call last):
  File "/srv/app.py", line 3, in <module>
    main()
  File "/srv/app.py", line 2, in main
    raise RuntimeError("no folder given")
RuntimeError: no folder given`,
      { kind: "error", lines: ["RuntimeError: no folder given"] },
    ],
    [
      "Python: a module",
      `Traceback (most recent call last):
  File "<string>", line 1, in <module>
ModuleNotFoundError: No module named 'mcp_server_git'`,
      { kind: "module-missing", summary: 'the module "mcp_server_git" is not there' },
    ],
    [
      "Go: a database that is down",
      "2026/11/16 10:00:00 failed to ping: dial tcp 127.0.0.1:5432: connect: connection refused",
      { kind: "connection-refused", summary: expect.stringContaining("127.0.0.1:5432") as string },
    ],
    [
      "npm before version 10",
      `npm ERR! code E404
npm ERR! 404 Not Found - GET https://registry.example.com/typo - Not found
npm ERR! 404
npm ERR! 404  'typo@latest' is not in this registry.
npm ERR! A complete log of this run can be found in: /home/u/.npm/_logs/x-debug-0.log`,
      { kind: "package-missing", summary: 'npm did not find a package "typo" (404)' },
    ],
    [
      "npm: a scoped package",
      `npm error code E404
npm error 404 Not Found - GET https://registry.example.com/@a%2fb
npm error 404  The requested resource '@a/b@1.0.0' could not be found or you do not have permission to access it.`,
      { kind: "package-missing", summary: 'npm did not find a package "@a/b" (404)' },
    ],
    [
      "npm: another Node",
      `npm error code EBADENGINE
npm error engine Unsupported engine
npm error engine Not compatible with your version of node/npm: serve@3.0.0
npm error notsup Not compatible with your version of node/npm: serve@3.0.0
npm error notsup Required: {"node":">=24"}
npm error notsup Actual:   {"npm":"10.8.2","node":"v20.20.2"}`,
      { kind: "wrong-node", summary: "it needs Node >=24" },
    ],
    [
      "npm: a package without a program",
      `npm error could not determine executable to run
npm error A complete log of this run can be found in: /home/u/.npm/_logs/x-debug-0.log`,
      { kind: "error", summary: "npm failed: could not determine executable to run" },
    ],
    [
      "a module of a newer Node",
      `node:internal/modules/cjs/loader:1
Error [ERR_UNKNOWN_BUILTIN_MODULE]: No such built-in module: node:sqlite
    at Module._load (node:internal/modules/cjs/loader:1033:13)`,
      { kind: "wrong-node", lines: [expect.stringContaining("node:sqlite") as string] },
    ],
    [
      "a variable among several lines, with usage text below",
      `Error: No access token was provided.
Run \`serve auth login\` first, or pass \`--access-token\` / \`SERVE_ACCESS_TOKEN\`.
Usage: serve [--access-token=<token>]`,
      {
        kind: "variable-missing",
        advice: 'set SERVE_ACCESS_TOKEN in "env" of the entry',
        lines: ["Error: No access token was provided.", expect.stringContaining("Run") as string],
      },
    ],
    [
      "what ended it and not what it lived through",
      `Update check failed: getaddrinfo ENOTFOUND updates.example.com
Error: DATABASE_URL must be set
    at main (/srv/index.js:1:1)`,
      { kind: "variable-missing", lines: ["Error: DATABASE_URL must be set"] },
    ],
    [
      "the refused connection behind a vague error",
      `Database: connect ECONNREFUSED 127.0.0.1:3306
Error: could not start
    at main (/srv/index.js:1:1)`,
      { kind: "connection-refused", lines: ["Database: connect ECONNREFUSED 127.0.0.1:3306"] },
    ],
    [
      "npm: a warning about Node, and a program that fails of it",
      `npm warn EBADENGINE Unsupported engine {
npm warn EBADENGINE   package: 'serve@3.0.0',
npm warn EBADENGINE   required: { node: '>=24' },
npm warn EBADENGINE   current: { node: 'v20.20.2', npm: '10.8.2' }
npm warn EBADENGINE }
file:///srv/index.js:2
import { styleText } from "node:util";
         ^^^^^^^^^
SyntaxError: The requested module 'node:util' does not provide an export named 'styleText'
    at ModuleJob._instantiate (node:internal/modules/esm/module_job:180:21)`,
      {
        kind: "wrong-node",
        summary: "it needs Node >=24",
        lines: [expect.stringContaining("SyntaxError: The requested module") as string],
      },
    ],
    [
      "notices of npm are not its cause",
      `npm warn EBADENGINE Unsupported engine { package: 'a@1', required: { node: '>=22' } }
npm warn deprecated b@1: use c
Error: the folder ./x does not exist
    at main (/srv/index.js:1:1)`,
      { kind: "error", lines: ["Error: the folder ./x does not exist"] },
    ],
  ])("ERR-17: %s", (_, text, expected) => {
    expect(findCause(lines(text))).toMatchObject(expected);
  });

  it("nothing but notices is nothing", () => {
    const notices = lines(`npm warn config something
(node:17) ExperimentalWarning: SQLite is an experimental feature
(Use \`node --trace-warnings ...\` to show where the warning was created)`);
    expect(findCause(notices)).toBeUndefined();
    expect(findCause([])).toBeUndefined();
  });

  it.each([
    ["Error: unknown method server/discover", true],
    ["Error: ExpectedInitializeRequest(Some(Request))", true],
    ["Error: -32601", true],
    ["Error: failed to initialize the database", false],
    ["DATABASE_URL must be set", false],
  ])("whether %j is about what it was asked", (line, expected) => {
    expect(findCause([line])?.kind === "request-refused").toBe(expected);
  });

  it("the work stays linear in lines made to be slow", () => {
    const hostile = ["a ".repeat(250), "A_".repeat(250), ": not found".repeat(40), "'".repeat(500)];
    expect(findCause(Array.from({ length: 50 }, () => hostile).flat())).toBeDefined();
  });
});
