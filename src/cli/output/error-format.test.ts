import { describe, expect, it } from "vitest";

import { type ErrorCode, errorTable } from "../../errors/error-codes.ts";
import { createError } from "../../errors/families.ts";
import { errorObject, formatConfigProblem, formatError } from "./error-format.ts";

const cwd = "/home/ada/project";
const style = {
  cwd,
  home: "/home/ada",
  program: "plugboard",
  columns: Number.POSITIVE_INFINITY,
  withStack: false,
};
const definedAt = `${cwd}/.plugboard/mcp.json:7`;

describe("an error as people read it", () => {
  it("ERR-17: a server that dies is told with command, place, stderr and the next step", () => {
    const error = createError(
      "start_exit",
      "the server stopped during start (exit code 1 after 0.8 s)",
      {
        serverName: "files",
        details: {
          transport: "stdio",
          definedAt,
          target: "npx -y @modelcontextprotocol/server-filesystem ./x",
          printedCause: {
            kind: "error",
            stream: "stderr",
            lines: ["Error: ENOENT: no such file or directory, stat './x'"],
            advice: "fix what it says",
          },
          stderrTail: ["    at main (/x.js:1:1)", "Node.js v22.0.0"],
        },
      },
    );
    expect(formatError(error, style)).toEqual([
      "✗ files: the server stopped during start (exit code 1 after 0.8 s)",
      "  command  npx -y @modelcontextprotocol/server-filesystem ./x   from .plugboard/mcp.json:7",
      "  stderr   Error: ENOENT: no such file or directory, stat './x'",
      "  try      fix what it says, then: plugboard test files",
    ]);
  });

  it.each([
    [
      createError("command_not_found", 'command not found: "npxx"', {
        serverName: "files",
        hint: "install it",
        details: { definedAt, pathFolders: 9 },
      }),
      '✗ files: command not found: "npxx"   from .plugboard/mcp.json:7   (PATH searched: 9 folders)   try: install it',
    ],
    [
      createError("unreachable", "connection refused at 127.0.0.1:3000 (nothing is listening)", {
        serverName: "api",
        details: { transport: "streamable-http", errorCode: "ECONNREFUSED" },
      }),
      "✗ api: connection refused at 127.0.0.1:3000 (nothing is listening)   try: start it, then: plugboard test api",
    ],
    [
      createError("start_timeout", "no answer to initialize within 30 s (nothing received)", {
        serverName: "slow",
        details: { transport: "stdio", timeoutMs: 30_000, received: 0, phase: "initialize" },
      }),
      "✗ slow: no answer to initialize within 30 s (process is running, nothing on stdout)   try: plugboard test slow --timeout 60s",
    ],
    [
      createError("server_unknown", 'no server "gihub"', {
        details: { suggestions: ["github"], configured: ["demo", "files", "github"] },
      }),
      '✗ no server "gihub". Did you mean: github?   Configured: demo, files, github',
    ],
    [
      createError("tool_unknown", 'github has no tool "create_isue"', {
        serverName: "github",
        details: { suggestions: ["create_issue", "list_issues"] },
      }),
      '✗ github has no tool "create_isue". Closest: create_issue, list_issues.  Nothing was run.',
    ],
    [
      createError("variable_unset", `\${GITHUB_TOKEN} is not set (${cwd}/.plugboard/mcp.json:9)`, {
        serverName: "github",
      }),
      "✗ github: ${GITHUB_TOKEN} is not set (.plugboard/mcp.json:9)   try: export it, then: plugboard test github",
    ],
    [
      createError("not_approved", 'server "notes" has not been approved', {
        serverName: "notes",
        details: { definedAt },
      }),
      '✗ server "notes" has not been approved   from .plugboard/mcp.json:7   try: plugboard approve notes',
    ],
    [
      createError("timeout", "no answer to tools/call within 30 s", {
        serverName: "demo",
        details: { timeoutMs: 30_000 },
      }),
      "✗ demo: no answer to tools/call within 30 s   try: --timeout 60s",
    ],
  ])("ERR-17: fits on one line when that is all there is: $code", (error, line) => {
    expect(formatError(error, style)).toEqual([line]);
  });

  it("ERR-17: a command to copy repeats the options that were typed", () => {
    const typed = { ...style, program: "npx plugboard --config a.json" };
    const own = createError("start_exit", "the server stopped", { serverName: "files" });
    expect(formatError(own, typed).join("\n")).toContain(`${typed.program} test files`);
    const hint = "look at it again: plugboard approve files";
    const hinted = createError("denied", "no", { serverName: "files", hint });
    expect(formatError(hinted, typed)).toEqual([
      `✗ files: no   try: look at it again: ${typed.program} approve files`,
    ]);
    expect(errorObject(hinted, typed).error["hint"]).toBe(
      `look at it again: ${typed.program} approve files`,
    );
  });

  it("ERR-17: a time that was measured is rounded", () => {
    const error = createError("start_timeout", "no answer to initialize", {
      serverName: "slow",
      details: { transport: "stdio", timeoutMs: 29_999.94, received: 0, phase: "initialize" },
    });
    expect(formatError(error, style)).toEqual([
      "✗ slow: no answer to initialize within 30 s (process is running, nothing on stdout)   try: plugboard test slow --timeout 60s",
    ]);
  });

  it("ERR-17: facts of the command come last", () => {
    const error = createError("invalid_arguments", 'add: "b" is required (number)');
    const facts = [
      { label: "got", text: '{"a":2}' },
      { label: "usage", text: "plugboard call demo.add a=2 b=<number>" },
    ];
    expect(formatError(error, style, facts)).toEqual([
      '✗ add: "b" is required (number).   got: {"a":2}   usage: plugboard call demo.add a=2 b=<number>',
    ]);
  });

  it("becomes a block on a terminal that is too narrow for the line", () => {
    const error = createError("command_not_found", 'command not found: "npxx"', {
      serverName: "files",
      hint: "install it",
      details: { definedAt, pathFolders: 1 },
    });
    expect(formatError(error, { ...style, columns: 60 })).toEqual([
      '✗ files: command not found: "npxx"',
      "  from     .plugboard/mcp.json:7",
      "  PATH     searched: 1 folder",
      "  try      install it",
    ]);
  });

  it("ERR-17: what is wrong in a file is told with its place in front", () => {
    const problem = {
      severity: "error",
      code: "config_invalid",
      message: 'expected ","',
      path: `${cwd}/.plugboard/mcp.json`,
      line: 12,
      column: 5,
    } as const;
    const error = createError("config_invalid", "whatever", { details: { problems: [problem] } });
    expect(formatError(error, style)).toEqual(['✗ .plugboard/mcp.json:12:5 — expected ","']);
    expect(formatConfigProblem({ ...problem, severity: "warning" }, style)).toBe(
      '⚠ .plugboard/mcp.json:12:5 — expected ","',
    );
  });

  it("CLI-16: text of a server cannot move the cursor or begin a line of its own", () => {
    const error = createError("tool_error", "first\n✗ forged\u001B[2J", {
      serverName: "demo",
      details: { toolName: "fail" },
    });
    expect(formatError(error, style)).toEqual(["✗ demo.fail: first", "  ✗ forged"]);
    const unknown = createError("tool_unknown", 'demo has no tool "x"', {
      details: { suggestions: ["a\n✗ forged"] },
    });
    expect(formatError(unknown, style)).toHaveLength(1);
  });

  it("shows the last lines of stderr only, each cut", () => {
    const stderrTail = [...Array(20).keys()].map((index) => `line ${index} ${"x".repeat(1_000)}`);
    const error = createError("connection_lost", "gone", {
      serverName: "demo",
      details: { transport: "stdio", stderrTail },
    });
    const lines = formatError(error, style);
    expect(lines.filter((line) => line.includes("line "))).toHaveLength(5);
    expect(Math.max(...lines.map((line) => line.length))).toBeLessThan(500);
  });

  it.each(Object.keys(errorTable) as ErrorCode[])(
    "ERR-17: every code has a text, with and without details: %s",
    (code) => {
      const error = createError(code, "it happened", { serverName: "demo" });
      const lines = formatError(error, style);
      expect(lines[0]).toMatch(/^✗ /);
      expect(lines.join("\n")).toContain("it happened");
      expect(lines.join("\n")).not.toContain("undefined");
    },
  );

  it("what nobody expected is one line, and its stack is for --log-level debug", () => {
    const error = new TypeError("x is not\na function");
    expect(formatError(error, style)).toEqual(["✗ unexpected: TypeError: x is not a function"]);
    const lines = formatError(error, { ...style, withStack: true });
    expect(lines.length).toBeGreaterThan(2);
    expect(lines.join("\n")).toContain("error-format.test.ts");
  });
});

describe("an error as programs read it", () => {
  it("CLI-14: has code, message, server, hint and details", () => {
    const error = createError("start_timeout", "too slow", {
      serverName: "demo",
      details: { timeoutMs: 1_000 },
    });
    expect(errorObject(error, style)).toEqual({
      error: {
        code: "start_timeout",
        message: "too slow",
        server: "demo",
        hint: "plugboard test demo --timeout 2s",
        details: { timeoutMs: 1_000 },
      },
    });
  });

  it("leaves out what is not known", () => {
    expect(errorObject(createError("closed", "closed"), style)).toEqual({
      error: { code: "closed", message: "closed", details: {} },
    });
    expect(errorObject("boom", style)).toEqual({
      error: { code: "unexpected", message: "boom", details: {} },
    });
  });
});
