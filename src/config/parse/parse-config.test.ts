import { describe, expect, it } from "vitest";

import { McpConfigError } from "../../errors/families.ts";
import { revealAll } from "../../text/secrets/secret-text.ts";
import type { ConfigProblem } from "../keys/config-problem.ts";
import type { ServerConfig, StdioTransportConfig } from "../keys/server-config.ts";
import { parseConfig, parseServerEntry, parseServers } from "./parse-config.ts";

const file = { layer: "project", path: "/project/.plugboard/mcp.json" } as const;

function parseOne(entry: unknown, name = "files"): ServerConfig {
  const { servers, problems } = parseConfig({ servers: { [name]: entry } });
  expect(problems).toEqual([]);
  expect(servers).toHaveLength(1);
  return servers[0] as ServerConfig;
}

function problemsOf(entry: unknown, name = "files"): readonly ConfigProblem[] {
  return parseConfig({ servers: { [name]: entry } }, { provenance: file }).problems;
}

function errorOf(entry: unknown): ConfigProblem {
  const { servers, problems } = parseConfig({ servers: { files: entry } }, { provenance: file });
  const errors = problems.filter((problem) => problem.severity === "error");
  expect(servers).toEqual([]);
  expect(errors).toHaveLength(1);
  return errors[0] as ConfigProblem;
}

function warningOf(entry: unknown): ConfigProblem {
  const { servers, problems } = parseConfig({ servers: { files: entry } }, { provenance: file });
  expect(servers).toHaveLength(1);
  expect(problems.map((problem) => problem.severity)).toEqual(["warning"]);
  return problems[0] as ConfigProblem;
}

function stdio(config: ServerConfig): StdioTransportConfig {
  expect(config.transport.kind).toBe("stdio");
  return config.transport as StdioTransportConfig;
}

describe("containers", () => {
  const entry = { command: "run" };
  it.each([
    ["a servers object", { servers: { files: entry } }],
    ["a servers list", { servers: [{ name: "files", ...entry }] }],
    ["an mcpServers object", { mcpServers: { files: entry } }],
    ["an mcp_servers list", { mcp_servers: [{ name: "files", ...entry }] }],
    ["a bare list", [{ name: "files", ...entry }]],
    ["one entry with a name", { name: "files", ...entry }],
  ])("CFG-03 CFG-20 CFG-26: %s is understood", (_shape, input) => {
    const { servers, problems } = parseConfig(input);
    expect(problems).toEqual([]);
    expect(servers.map(({ name, id, transport }) => ({ name, id, kind: transport.kind }))).toEqual([
      { name: "files", id: "files", kind: "stdio" },
    ]);
  });

  it("CFG-20: a filled mcpServers wins over servers, with a word about what is ignored", () => {
    const { servers, problems } = parseConfig({ servers: { a: entry }, mcpServers: { b: entry } });
    expect(servers.map((server) => server.name)).toEqual(["b"]);
    expect(problems).toMatchObject([{ severity: "warning", field: "servers" }]);
  });

  it("CFG-20: an empty mcpServers falls back to servers", () => {
    const { servers, problems } = parseConfig({ servers: { a: entry }, mcpServers: {} });
    expect(servers.map((server) => server.name)).toEqual(["a"]);
    expect(problems).toEqual([]);
  });

  it.each([{}, { servers: [] }, { servers: {} }, { mcpServers: {} }, []])(
    "CFG-43: %j is valid and empty",
    (input) => {
      expect(parseConfig(input)).toEqual({ servers: [], problems: [] });
    },
  );

  it.each([null, 7, "text", true])("CFG-44: %j is no configuration", (input) => {
    expect(parseConfig(input)).toMatchObject({ servers: [], problems: [{ severity: "error" }] });
  });

  it.each([
    [{ servers: 5 }, "servers"],
    [{ mcpServers: "x" }, "mcpServers"],
    [{ servers: null }, "servers"],
  ])("CFG-44: %j fails naming the container", (input, field) => {
    const { servers, problems } = parseConfig(input);
    expect(servers).toEqual([]);
    expect(problems).toMatchObject([{ severity: "error", field }]);
  });

  it("CFG-44: an entry that is no object is an error and the others stay", () => {
    const { servers, problems } = parseConfig([7, { name: "b", command: "run" }, null]);
    expect(servers.map((server) => server.name)).toEqual(["b"]);
    expect(problems.map((problem) => problem.severity)).toEqual(["error", "error"]);
  });

  it("CFG-26: an entry of a list without a name is an error naming the field", () => {
    const { servers, problems } = parseConfig([{ command: "run" }]);
    expect(servers).toEqual([]);
    expect(problems).toMatchObject([{ severity: "error", field: "name" }]);
  });

  it("CFG-41: servers outside a container are pointed out", () => {
    const { problems } = parseConfig({ github: { command: "run" } });
    expect(problems[0]?.message).toContain('put it inside "servers"');
  });

  it("CFG-36 CFG-39: order is kept and the result iterates as name and entry", () => {
    const commands = { z: { command: "last" }, a: { command: "first" }, m: { command: "middle" } };
    const pairs: [string, unknown][] = [];
    for (const server of parseConfig({ servers: commands }).servers)
      pairs.push([server.name, stdio(server).command]);
    expect(pairs).toEqual([
      ["z", "last"],
      ["a", "first"],
      ["m", "middle"],
    ]);
  });
});

describe("transport", () => {
  it("CFG-04: a command list is the program and its arguments", () => {
    expect(stdio(parseOne({ command: ["npx", "-y", "pkg"] }))).toMatchObject({
      command: "npx",
      args: ["-y", "pkg"],
    });
  });

  it("CFG-04: beside a command list, args is ignored with a warning", () => {
    expect(warningOf({ command: ["npx", "a"], args: ["b"] })).toMatchObject({ field: "args" });
  });

  it("CFG-05 CFG-17: a url alone is a complete HTTP server of a dialect to find out", () => {
    expect(parseOne({ url: "https://h.example/api", enabled: true }).transport).toEqual({
      kind: "http",
      url: "https://h.example/api",
      headers: {},
      method: "POST",
      allowPrivateNetwork: false,
    });
  });

  it("CFG-06: command and url exclude each other", () => {
    expect(errorOf({ command: "run", url: "https://h.example" }).field).toBe("url");
    expect(errorOf({ transport: "sse", command: "run", url: "https://h.example" }).field).toBe(
      "command",
    );
  });

  it("CFG-26: an explicit stdio server may carry a url, which is ignored", () => {
    expect(warningOf({ transport: "stdio", command: "run", url: "http://x" }).field).toBe("url");
  });

  it("CFG-07: neither command nor url is an error", () => {
    expect(errorOf({})).toMatchObject({ message: 'needs "command" or "url"', field: "command" });
  });

  it.each([
    [{ transport: "stdio" }, "command"],
    [{ transport: "http", command: "run" }, "url"],
    [{ transport: "rest" }, "url"],
  ])("CFG-26: %j contradicts itself, and the message names the missing key", (entry, field) => {
    expect(errorOf(entry).field).toBe(field);
  });

  it("CFG-14: a switched-off entry needs no transport", () => {
    expect(parseOne({ enabled: false })).toMatchObject({
      enabled: false,
      transport: { kind: "none" },
    });
  });

  it.each(["http", "sse", "streamable-http", "streamableHttp", "STREAMABLE_HTTP", "http-post"])(
    "CFG-20 CFG-27: other hosts' `type: %s` is the transport",
    (type) => {
      const kind = type.toLowerCase().replace("streamablehttp", "streamable-http");
      expect(parseOne({ type, url: "https://h.example" }).transport.kind).toBe(
        kind.replace("_", "-"),
      );
    },
  );

  it("CFG-27: an unknown transport is an error that lists the known ones", () => {
    const { message } = errorOf({ transport: "carrier-pigeon", url: "https://h.example" });
    expect(message).toContain("stdio, http, streamable-http, sse, http-post, rest");
    expect(message).not.toContain("pigeon");
  });

  it("CFG-29 CFG-35: a transport descriptor is plain data beside the entry's own keys", () => {
    const stdioForm = parseOne({
      transport: { kind: "stdio", command: "npx", args: ["-y", "pkg"] },
      env: { TOKEN: "${TOKEN}" },
      tool_prefix: "gh",
      timeout: 30,
    });
    expect(stdio(stdioForm)).toMatchObject({
      command: "npx",
      args: ["-y", "pkg"],
      env: { TOKEN: "${TOKEN}" },
    });
    expect(stdioForm.toolPrefix).toBe("gh");
    const url = "https://h.example/v1";
    expect(parseOne({ transport: { type: "streamable-http", url } }).transport.kind).toBe(
      "streamable-http",
    );
    expect(parseOne({ transport: { kind: "sse", url } }).transport.kind).toBe("sse");
    expect(parseOne({ transport: { url, method: "get" } }).transport).toMatchObject({
      kind: "http",
      method: "GET",
    });
  });

  it.each(["http-post", "rest"])(
    "C-39: method GET is refused for %s, which has no stream",
    (transport) => {
      const url = "https://h.example/v1";
      expect(errorOf({ url, transport, method: "GET" })).toMatchObject({
        field: "method",
        message: expect.stringContaining(
          `"transport" ${transport} has none; leave out "method"`,
        ) as string,
      });
      expect(parseOne({ url, transport, method: "POST" }).transport.kind).toBe(transport);
    },
  );

  it("CFG-35: a key both inside and beside the descriptor is an error", () => {
    expect(errorOf({ transport: { command: "a" }, command: "b" }).field).toBe("transport.command");
  });

  it.each([
    [[], "command"],
    [[""], "command"],
    ["", "command"],
    [["npx", 7], "command.1"],
    [7, "command"],
    [{ 0: "npx" }, "command"],
  ])("CFG-44: command %j is refused", (command, field) => {
    expect(errorOf({ command }).field).toBe(field);
  });

  it.each([
    "no-scheme.example",
    "ftp://h.example",
    "https://user:canary@h.example",
    "http://",
    "file:///etc/passwd",
  ])("CFG-05: the address %s is refused without being repeated", (url) => {
    const { message, field } = errorOf({ url });
    expect(field).toBe("url");
    expect(message).not.toContain(url);
    expect(message).not.toContain("canary");
  });

  it("CFG-05: hidden characters around a pasted address are dropped", () => {
    const config = parseOne({ url: "\u200B https://h.example/mcp\u00A0\uFEFF" });
    expect(config.transport).toMatchObject({ url: "https://h.example/mcp" });
  });

  it("CFG-26: keys of the other kind of server get a warning", () => {
    expect(warningOf({ command: "run", headers: { A: "b" } }).field).toBe("headers");
    expect(warningOf({ url: "https://h.example", env: { A: "b" } }).field).toBe("env");
  });
});

describe("paths", () => {
  const parse = (entry: unknown): StdioTransportConfig =>
    stdio(parseServerEntry("s", entry, { baseDir: "/project" }));

  it("CFG-18: a relative program starts from the folder of the configuration", () => {
    expect(parse({ command: ["./scripts/server.py"] }).command).toBe("/project/scripts/server.py");
    expect(parse({ command: "bin/server" }).command).toBe("/project/bin/server");
  });

  it("CFG-18: with a cwd, a relative program starts from there", () => {
    expect(parse({ command: "./server.py", cwd: "/srv" })).toMatchObject({
      command: "/srv/server.py",
      cwd: "/srv",
    });
    expect(parse({ command: "../server.py", cwd: "tools" })).toMatchObject({
      command: "/project/server.py",
      cwd: "/project/tools",
    });
  });

  it("CFG-10 CFG-18: a program without a slash is left to PATH, and cwd is absent by default", () => {
    expect(parse({ command: "npx" })).toMatchObject({ command: "npx" });
    expect(parse({ command: "npx" })).not.toHaveProperty("cwd");
    expect(parse({ command: "npx", cwd: null })).not.toHaveProperty("cwd");
  });

  it.each([
    "D:/tempo/Scripts/python.exe",
    "D:\\tempo\\python.exe",
    "/mnt/d/tempo/python.exe",
    "\\\\share\\tools\\run.exe",
  ])("CFG-19: %s passes as written, as program, cwd and variable", (path) => {
    expect(revealAll(parse({ command: path, cwd: path, env: { API_PATH: path } }))).toMatchObject({
      command: path,
      cwd: path,
      env: { API_PATH: path },
    });
  });

  it("CFG-18: without a known folder relative paths stay relative", () => {
    expect(stdio(parseServerEntry("s", { command: "./x", cwd: "y" }))).toMatchObject({
      command: "./x",
      cwd: "y",
    });
  });
});

describe("defaults of an entry", () => {
  it("CFG-08 CFG-09 CFG-11 CFG-22 CFG-25 CFG-33: what is left out is filled in", () => {
    expect(parseServerEntry("s", { command: "run" })).toEqual({
      name: "s",
      id: "s",
      transport: {
        kind: "stdio",
        command: "run",
        args: [],
        env: {},
        envPassthrough: [],
        inheritEnv: "safe",
        expandArgs: false,
      },
      auth: { type: "none" },
      enabled: true,
      reconnect: true,
      maxReconnectAttempts: 3,
      halfOpen: false,
      disabledTools: [],
      protocol: "auto",
      strict: false,
      skipReadOnlyPrompts: false,
      provenance: { layer: "code" },
    });
  });

  it("CFG-30: a config is frozen through and through", () => {
    const config = parseOne({
      command: "run",
      env: { A: "b" },
      isolation: { paths: { read: ["/"] } },
    });
    for (const value of [
      config,
      config.transport,
      stdio(config).env,
      config.isolation?.paths?.read,
    ])
      expect(Object.isFrozen(value)).toBe(true);
    expect(() => Object.assign(config, { name: "other" })).toThrow(TypeError);
  });

  it("CFG-33 CFG-34: an absent allow list differs from an empty one, and null means absent", () => {
    expect(parseOne({ command: "run" })).not.toHaveProperty("enabledTools");
    expect(parseOne({ command: "run", enabled_tools: null })).not.toHaveProperty("enabledTools");
    const both = parseOne({ command: "run", enabled_tools: [], disabled_tools: ["x"] });
    expect(both).toMatchObject({ enabledTools: [], disabledTools: ["x"] });
  });

  it("CFG-21 CFG-22: an entry in code equals the same entry in a file", () => {
    const entry = { command: ["python", "-m", "server"], env: { KEY: "x" }, cwd: "/srv" };
    const inFile = parseConfig({ servers: { s: { ...entry, env_passthrough: ["HOME"] } } });
    const inCode = parseServerEntry("s", { ...entry, envPassthrough: ["HOME"] });
    expect(inFile.servers).toEqual([inCode]);
  });

  it("CFG-25: reconnect keys are read", () => {
    expect(parseOne({ command: "r", reconnect: false, max_reconnect_attempts: 7 })).toMatchObject({
      reconnect: false,
      maxReconnectAttempts: 7,
    });
  });

  it("CFG-15: enabled and disabled servers stand side by side", () => {
    const { servers } = parseConfig({
      servers: { a: { command: "x", enabled: false }, b: { command: "y" } },
    });
    expect(servers.map(({ name, enabled }) => [name, enabled])).toEqual([
      ["a", false],
      ["b", true],
    ]);
  });

  it("CFG-20: other hosts' `disabled` is the opposite of `enabled`", () => {
    expect(parseOne({ command: "x", disabled: true }).enabled).toBe(false);
    expect(parseOne({ command: "x", disabled: false, enabled: true }).enabled).toBe(true);
    expect(errorOf({ command: "x", disabled: true, enabled: true }).field).toBe("disabled");
  });
});

describe("times", () => {
  it.each([
    [{}, undefined, undefined],
    [{ timeout: 30 }, 30_000, 30_000],
    [{ timeout: 0.25 }, 250, 250],
    [{ timeoutMs: 1_500 }, 1_500, 1_500],
    [{ timeout: 60, callTimeout: 5 }, 60_000, 5_000],
    [{ connect_timeout: 1, call_timeout_ms: 2 }, 1_000, 2],
    [{ timeout: 0 }, 0, 0],
    [{ timeout: Infinity }, 0, 0],
    [{ timeout: 0.0001 }, 1, 1],
  ])("CFG-24 CFG-38: %j", (keys, connectTimeoutMs, callTimeoutMs) => {
    const config = parseOne({ command: "run", ...keys });
    expect([config.connectTimeoutMs, config.callTimeoutMs]).toEqual([
      connectTimeoutMs,
      callTimeoutMs,
    ]);
  });

  it("CFG-24: seconds and milliseconds of one time exclude each other", () => {
    expect(errorOf({ command: "run", timeout: 1, timeoutMs: 1 }).field).toBe("timeoutMs");
  });

  it("CFG-24: hours of waiting look like milliseconds and get a warning", () => {
    expect(warningOf({ command: "run", timeout: 30_000 }).message).toContain('"timeoutMs"');
  });

  it.each([-1, "30", Number.NaN, 3_000_000])("CFG-44: timeout %j is refused", (timeout) => {
    expect(errorOf({ command: "run", timeout }).field).toBe("timeout");
  });
});

describe("auth", () => {
  const url = "https://h.example";

  it("CFG-28: none, bearer and oauth", () => {
    expect(parseOne({ url }).auth).toEqual({ type: "none" });
    expect(parseOne({ url, auth: { type: "none" } }).auth).toEqual({ type: "none" });
    expect(parseOne({ url, auth: "oauth" }).auth).toEqual({ type: "oauth" });
    expect(revealAll(parseOne({ url, auth: { type: "bearer", token: "t" } }).auth)).toEqual({
      type: "bearer",
      token: "t",
    });
    const oauth = { type: "oauth", clientId: "c", authUrl: `${url}/a`, tokenUrl: `${url}/t` };
    expect(parseOne({ url, auth: oauth }).auth).toEqual(oauth);
    expect(parseOne({ url, auth: { type: "oauth", scope: "a  b" } }).auth).toEqual({
      type: "oauth",
      scopes: ["a", "b"],
    });
  });

  it.each([
    [{ type: "magic" }, "auth.type"],
    [{}, "auth.type"],
    [{ type: "bearer" }, "auth.token"],
    [{ type: "oauth", redirectUri: "http://127.0.0.1/", callbackPort: 1 }, "auth.callbackPort"],
  ])("CFG-28: %j is an error naming the field", (auth, field) => {
    expect(errorOf({ url, auth }).field).toBe(field);
  });

  it("CFG-28: auth beside an Authorization header is an error", () => {
    const headers = { authorization: "Bearer x" };
    expect(errorOf({ url, headers, auth: { type: "bearer", token: "t" } }).field).toBe("auth.type");
    expect(parseOne({ url, headers, auth: "none" }).auth).toEqual({ type: "none" });
  });

  it("CFG-23: headers are checked as headers", () => {
    expect(
      parseOne({ transport: "sse", url, headers: { Authorization: "Bearer x" } }),
    ).toBeTruthy();
    expect(errorOf({ url, headers: { "a b": "x" } }).field).toBe("headers.a b");
    expect(errorOf({ url, headers: { A: "x\r\nInjected: y" } }).field).toBe("headers.A");
    expect(errorOf({ url, headers: { "X-A": "1", "x-a": "2" } }).field).toBe("headers");
  });
});

describe("keys", () => {
  it("CFG-41: an unknown key is a warning with the probable one", () => {
    expect(warningOf({ command: "run", comand: "canary" })).toMatchObject({
      message: 'unknown key "comand". Did you mean "command"?',
      field: "comand",
      serverName: "files",
    });
    expect(problemsOf({ command: "run", autoApprove: ["canary"] })).toMatchObject([
      { severity: "warning", message: 'unknown key "autoApprove"' },
    ]);
  });

  it("CFG-41: strict turns unknown keys into errors", () => {
    const input = { servers: { a: { command: "x", junk: 1 }, b: { command: "y" } } };
    const { servers, problems } = parseConfig(input, { strict: true });
    expect(servers.map((server) => server.name)).toEqual(["b"]);
    expect(problems).toMatchObject([{ severity: "error", field: "junk" }]);
  });

  it("CFG-41: no message repeats a value", () => {
    const canary = "canary-7f3a";
    const entries = [
      { command: 7, env: { A: [canary] }, args: [canary, 3] },
      { url: canary },
      { command: "x", timeout: canary, transport: canary, start: canary, protocol: canary },
      { url: "https://h.example", auth: { type: canary, token: 5 }, headers: { A: `${canary}\n` } },
      { command: "x", args: ["--token", canary, `--api-key=${canary}`] },
    ];
    const problems = entries.flatMap((entry) => problemsOf(entry));
    expect(problems.length).toBeGreaterThan(9);
    expect(JSON.stringify(problems)).not.toContain(canary);
  });

  it("CFG-41: a misspelt restriction inside isolation is an error, not a missing restriction", () => {
    expect(errorOf({ command: "run", isolation: { sandbx: true } }).field).toBe("isolation.sandbx");
    expect(errorOf({ command: "run", isolation: { network: { domain: [] } } }).field).toBe(
      "isolation.network.domain",
    );
  });

  it("CFG-41: both spellings of one key are an error", () => {
    const { message } = errorOf({ command: "run", envPassthrough: [], env_passthrough: [] });
    expect(message).toContain('"envPassthrough" and "env_passthrough"');
    expect(
      errorOf({ type: "http", transport: "http", url: "https://h.example" }).message,
    ).toContain('"type" and "transport"');
  });

  it.each([
    [{ env: { A: 1 } }, "env.A"],
    [{ env: { "A=B": "x" } }, "env.A=B"],
    [{ env: ["A=B"] }, "env"],
    [{ env_passthrough: "HOME" }, "env_passthrough"],
    [{ args: "x" }, "args"],
    [{ args: ["a\0b"] }, "args.0"],
    [{ enabled: "yes" }, "enabled"],
    [{ max_reconnect_attempts: 1.5 }, "max_reconnect_attempts"],
    [{ naming: "odd" }, "naming"],
    [{ protocol: "latest" }, "protocol"],
    [{ toolPrefix: " " }, "toolPrefix"],
    [{ toolPrefix: "x".repeat(65) }, "toolPrefix"],
    [{ isolation: { limits: { memory: "lots" } } }, "isolation.limits.memory"],
  ])("CFG-42 CFG-44: %j is an error at its field", (keys, field) => {
    expect(errorOf({ command: "run", ...keys })).toMatchObject({
      code: "config_invalid",
      field,
      serverName: "files",
      layer: "project",
      path: file.path,
    });
  });

  it("CFG-37: arguments that look like credentials get a warning that does not repeat them", () => {
    const secrets = [
      ["--token=abcdef123"],
      ["--api-key", "abcdef123"],
      [`ghp_${"a".repeat(30)}`],
      ["sk-abcdefghijklmnop1234"],
      ["postgres://me:hunter2@db/x"],
    ];
    for (const args of secrets) {
      const { field, message } = warningOf({ command: "run", args });
      expect(field).toBe("args");
      for (const arg of args.slice(-1)) expect(message).not.toContain(arg);
    }
    expect(problemsOf({ command: "run", args: ["-y", "pkg", "--token", "--verbose"] })).toEqual([]);
    const referring = { command: "run", expandArgs: true, args: ["--token=${TOKEN}"] };
    expect(problemsOf(referring)).toEqual([]);
  });

  it("ENV-10: references where nothing replaces them get a warning", () => {
    expect(warningOf({ command: "run", args: ["${HOME}"] }).message).toContain("expandArgs");
    expect(warningOf({ command: "${RUNNER}" }).field).toBe("command");
    expect(warningOf({ command: "run", cwd: "${HOME}" }).field).toBe("cwd");
  });

  it("CFG-22: a command with its arguments in one string gets a warning", () => {
    expect(warningOf({ command: "npx -y pkg" }).field).toBe("command");
    expect(problemsOf({ command: "C:/Program Files/x.exe" })).toEqual([]);
  });
});

describe("hostile sizes", () => {
  const million = 1_000_000;
  const runs = [" ", "a.", "eyJaaaaaaaa-", "token ", "-", "${", "$${", "\u200B", "__"].map((unit) =>
    unit.repeat(million / unit.length),
  );

  it.each([
    ["names", (run: string) => [{ name: `x${run}x`, command: "x" }]],
    ["keys", (run: string) => [{ name: "a", command: "x", [`x${run}x`]: 1 }]],
    ["top-level keys", (run: string) => ({ [`x${run}x`]: 1 })],
    ["commands", (run: string) => [{ name: "a", command: [`x${run}x`, `x${run}x`, run] }]],
    ["addresses", (run: string) => [{ name: "a", url: `https://h/x${run}x`, headers: { A: run } }]],
    ["variables", (run: string) => [{ name: "a", command: "x", env: { [`x${run}`]: run } }]],
    ["prefixes", (run: string) => [{ name: "a", command: "x", toolPrefix: `x${run}x` }]],
  ])("CFG-44: %s of a megabyte are handled in one pass", (_what, build) => {
    for (const run of runs) {
      const { problems } = parseConfig(build(run), { strict: true });
      expect(JSON.stringify(problems).length).toBeLessThan(2_000);
    }
  });
});

describe("names", () => {
  it.each(["GitHub API", "a", "x".repeat(128), "日本", "__proto__", "constructor", "toString"])(
    "CFG-31: %s is a name",
    (name) => {
      const input = JSON.parse(JSON.stringify([{ name, command: "run" }])) as unknown;
      expect(parseConfig(input)).toMatchObject({ servers: [{ name }], problems: [] });
    },
  );

  it.each(["", " ", "x".repeat(129), "a\u0007b", "a\nb", "a\u200Bb", "a\u202Eb", "a\u001B[31m"])(
    "CFG-31: %j is no name, and the message is safe to print",
    (name) => {
      const { servers, problems } = parseConfig([{ name, command: "run" }]);
      expect(servers).toEqual([]);
      expect(problems).toMatchObject([{ severity: "error", field: "name" }]);
      // oxlint-disable-next-line no-control-regex -- proving that none is left
      expect(JSON.stringify(problems)).not.toMatch(/\\u00[01]|[\u200B\u202E]/);
    },
  );

  it("CFG-31: names that are odd as a prefix get a warning, and only where prefixes are used", () => {
    const ok = ["a", `a${"b".repeat(31)}`, "a-b_c9"];
    const odd = [`a${"b".repeat(32)}`, "9a", "A", "_a", "GitHub API"];
    const judge = (name: string, entry = {}): readonly ConfigProblem[] =>
      parseConfig([{ name, command: "x", ...entry }], { naming: "prefix_tool" }).problems;
    for (const name of ok) expect(judge(name)).toEqual([]);
    for (const name of odd)
      expect(judge(name)).toMatchObject([{ severity: "warning", field: "name" }]);
    expect(judge("GitHub API", { naming: "mcp__server__tool" })).toEqual([]);
    expect(parseConfig([{ name: "GitHub API", command: "x" }]).problems).toEqual([]);
  });

  it("CFG-40: ids are slugs; a name without letters gets a stable id of its own", () => {
    const ids = parseConfig(["GitHub API", "日本", "中国"].map((name) => ({ name, command: "x" })));
    const [github, japan, china] = ids.servers.map((server) => server.id);
    expect(github).toBe("github-api");
    expect(japan).toMatch(/^server-[0-9a-f]{8}$/);
    expect(china).toMatch(/^server-[0-9a-f]{8}$/);
    expect(japan).not.toBe(china);
    expect(parseServerEntry("日本", { command: "y" }).id).toBe(japan);
  });

  it("CFG-40: hidden space around a name is dropped with a warning", () => {
    const { servers, problems } = parseConfig({ servers: { " github ": { command: "x" } } });
    expect(servers[0]?.name).toBe("github");
    expect(problems).toMatchObject([{ severity: "warning", field: "name" }]);
  });

  it.each([
    ["names", [{ name: "a" }, { name: "a" }]],
    ["ids", [{ name: "Git Hub", toolPrefix: "own" }, { name: "git-hub" }]],
    [
      "prefixes",
      [
        { name: "a", toolPrefix: "gh" },
        { name: "b", toolPrefix: "gh" },
      ],
    ],
    ["a prefix and a name (CFG-32)", [{ name: "gh" }, { name: "b", toolPrefix: "gh" }]],
  ])("CFG-40: equal %s keep the first and name both origins", (_what, entries) => {
    const lines = [3, 9];
    const { servers, problems } = parseConfig(
      entries.map((entry) => ({ ...entry, command: "x" })),
      {
        provenance: file,
        locate: ([index]) => ({ line: lines[Number(index)] ?? 0, column: 1 }),
      },
    );
    expect(servers.map((server) => server.name)).toEqual([entries[0]?.name]);
    expect(problems).toMatchObject([{ severity: "error", line: 9, serverName: entries[1]?.name }]);
    expect(problems[0]?.message).toContain(`${file.path}:3`);
    expect(problems[0]?.message).toContain(`${file.path}:9`);
  });

  it("CFG-03: the key of an object is the name; another `name` inside is ignored aloud", () => {
    const { servers, problems } = parseConfig({ servers: { a: { name: "b", command: "x" } } });
    expect(servers[0]?.name).toBe("a");
    expect(problems).toMatchObject([{ severity: "warning", field: "name" }]);
  });
});

describe("defaults of a file", () => {
  it("CFG-29: every entry takes over what it does not say itself", () => {
    const { servers, problems } = parseConfig({
      defaults: {
        timeout: 60,
        call_timeout: 5,
        env: { A: "shared" },
        isolation: { sandbox: true },
      },
      servers: {
        plain: { command: "x" },
        own: { command: "x", timeout: 10, env: { B: "own" } },
        remote: { url: "https://h.example" },
      },
    });
    expect(problems).toEqual([]);
    const [plain, own, remote] = servers;
    expect(revealAll(plain)).toMatchObject({
      connectTimeoutMs: 60_000,
      callTimeoutMs: 5_000,
      transport: { env: { A: "shared" } },
      isolation: { sandbox: true },
    });
    expect(own).toMatchObject({ connectTimeoutMs: 10_000, callTimeoutMs: 10_000 });
    expect(revealAll(stdio(own as ServerConfig).env)).toEqual({ B: "own" });
    expect(remote).not.toHaveProperty("isolation");
  });

  it("CFG-44: broken defaults switch the whole file off, because they may be a restriction", () => {
    const { servers, problems } = parseConfig({
      defaults: { isolation: { sandbox: "yes" } },
      servers: { a: { command: "x" } },
    });
    expect(servers).toEqual([]);
    expect(problems).toMatchObject([{ severity: "error", field: "isolation.sandbox" }]);
  });

  it("CFG-44: what belongs to one server cannot be a default", () => {
    const { servers, problems } = parseConfig({ defaults: { command: "x" }, servers: { a: {} } });
    expect(servers).toEqual([]);
    expect(problems).toMatchObject([{ severity: "error", field: "command" }]);
  });
});

describe("servers given in code", () => {
  it("CFG-21: servers by name, whatever the names are", () => {
    const names = ["servers", "name", "mcpServers", "defaults", "files"];
    const input = Object.fromEntries(names.map((name) => [name, { command: "x" }]));
    expect(parseServers(input).map((server) => server.name)).toEqual(names);
  });

  it("CFG-21: any shape of a file", () => {
    expect(parseServers({ mcpServers: { a: { command: "x" } } })).toMatchObject([{ name: "a" }]);
    expect(parseServers([{ name: "a", command: "x" }])).toMatchObject([{ name: "a" }]);
    expect(parseServers({ name: "a", command: "x" })).toMatchObject([{ name: "a" }]);
    expect(parseServers({})).toEqual([]);
  });

  it("CFG-06 CFG-42: a wrong entry throws a McpConfigError with everything that is wrong", () => {
    const parse = (): unknown =>
      parseServerEntry("files", { command: 7, timeout: "x" }, { provenance: file });
    expect(parse).toThrow(McpConfigError);
    try {
      parse();
    } catch (error) {
      expect(error).toMatchObject({
        code: "config_invalid",
        serverName: "files",
        details: { layer: "project", path: file.path, field: "command" },
      });
      expect((error as Error).message).toContain("timeout");
      expect((error as Error).message).toContain(file.path);
    }
    expect(() => parseServers({ a: {} })).toThrow(McpConfigError);
  });

  it("CFG-41: warnings reach whoever listens", () => {
    const heard: ConfigProblem[] = [];
    const onWarning = (problem: ConfigProblem): void => void heard.push(problem);
    parseServerEntry("a", { command: "x", junk: 1 }, { onWarning });
    parseServers({ b: { command: "x", junk: 1 } }, { onWarning });
    expect(heard.map((problem) => problem.serverName)).toEqual(["a", "b"]);
  });

  it("CFG-21: canonical configs pass unchanged, in a list, by name and alone", () => {
    const configs = parseServers(
      { a: { command: "./x", timeout: 3 }, b: { url: "https://h.example", auth: "oauth" } },
      { baseDir: "/project" },
    );
    const [a] = configs as [ServerConfig];
    expect(parseServers(configs)).toEqual(configs);
    expect(parseServers(configs)[0]).toBe(a);
    expect(parseServers({ a })[0]).toBe(a);
    expect(parseServerEntry("a", a)).toBe(a);
    expect(parseConfig(configs, { provenance: file }).servers[0]).toBe(a);
  });

  it("CFG-21: a changed copy of a canonical config is read as an entry of the code that made it", () => {
    const original = parseServerEntry(
      "a",
      { command: "x", env: { A: "b" }, callTimeout: 2, isolation: {}, enabledTools: [] },
      { provenance: file },
    );
    const copy = parseServerEntry("a", { ...original, enabled: false });
    expect(copy).toEqual({ ...original, enabled: false, provenance: { layer: "code" } });
    const hidden = parseServerEntry("h", { enabled: false });
    expect(parseServerEntry("h", { ...hidden })).toEqual(hidden);
  });

  it("CFG-42: a file cannot claim an origin of its own", () => {
    const claim = { command: "x", provenance: { layer: "code" }, id: "other" };
    const { servers, problems } = parseConfig({ servers: { a: claim } }, { provenance: file });
    expect(servers).toMatchObject([{ id: "a", provenance: file }]);
    expect(problems.map((problem) => problem.field)).toEqual(["provenance", "id"]);
  });

  it("CFG-35: a transport kept in memory can be asked for by code only", () => {
    const entry = { transport: { kind: "memory" } };
    expect(parseServerEntry("m", entry).transport).toEqual({ kind: "memory" });
    expect(parseConfig({ servers: { m: entry } }, { provenance: file }).servers).toEqual([]);
  });
});
