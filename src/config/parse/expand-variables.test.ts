import path from "node:path";

import { describe, expect, it } from "vitest";

import { McpConfigError } from "../../errors/families.ts";
import { McpError } from "../../errors/mcp-error.ts";
import { redact } from "../../text/secrets/redact.ts";
import type { ServerConfig } from "../keys/server-config.ts";
import { variableUses } from "../variables/reference-uses.ts";
import { otherReferences } from "../variables/reference-values.ts";
import { type ExpandOptions, expandVariables, resolveServer } from "./expand-variables.ts";
import { parseServerEntry } from "./parse-config.ts";

const environment = { TOKEN: "canary-token", HOST: "h.example", EMPTY: "", RECURSIVE: "${TOKEN}" };

function expand(template: string, options?: ExpandOptions): string {
  const expansion = expandVariables(template, environment, options);
  if (!expansion.ok) throw new Error(expansion.reason);
  return expansion.text;
}

function parse(entry: unknown): ServerConfig {
  return parseServerEntry("github", entry, {
    provenance: { layer: "project", path: "/project/.plugboard/mcp.json", line: 9, column: 5 },
  });
}

function failureOf(entry: unknown, env: Record<string, string> = environment): McpError {
  try {
    resolveServer(parse(entry), env, { cwd: "/project" });
  } catch (error) {
    if (McpError.is(error)) return error;
  }
  throw new Error("expected an McpError");
}

describe("references", () => {
  it.each([
    ["${TOKEN}", "canary-token"],
    ["a ${TOKEN} b ${HOST} ${TOKEN}", "a canary-token b h.example canary-token"],
    ["${env:TOKEN}", "canary-token"],
    ["${EMPTY}", ""],
    ["${RECURSIVE}", "${TOKEN}"],
  ])("ENV-07: %s", (template, expected) => {
    expect(expand(template)).toBe(expected);
  });

  it.each(["false", "", "$", "$TOKEN", "{TOKEN}", "$(TOKEN)", "100$", "a$$b"])(
    "ENV-08: %j stays untouched",
    (text) => {
      expect(expand(text)).toBe(text);
    },
  );

  it.each([
    ["${NOPE:-https://d.example}", "https://d.example"],
    ["${NOPE:-}", ""],
    ["${EMPTY:-full}", "full"],
    ["${TOKEN:-other}", "canary-token"],
    ["x${NOPE:-a:-b}y", "xa:-by"],
  ])("ENV-09 LIM-12: %s has a default", (template, expected) => {
    expect(expand(template)).toBe(expected);
  });

  it("ENV-09: without support for defaults the text stays literally", () => {
    const template = "${NOPE:-d} ${TOKEN:-d} ${TOKEN}";
    expect(expand(template, { defaults: false })).toBe("${NOPE:-d} ${TOKEN:-d} canary-token");
  });

  it("ENV-10: an unset variable fails, becomes empty or stays literal", () => {
    expect(expandVariables("a${NOPE}b", environment)).toEqual({
      ok: false,
      reason: "unset",
      variable: "NOPE",
    });
    expect(expand("a${NOPE}b", { unset: "empty" })).toBe("ab");
    expect(expand("a${NOPE}b", { unset: "literal" })).toBe("a${NOPE}b");
  });

  it.each([
    ["$${TOKEN}", "${TOKEN}"],
    ["$$${TOKEN}", "$${TOKEN}"],
    ["$${", "${"],
  ])("ENV-10: %s is an escape", (template, expected) => {
    expect(expand(template)).toBe(expected);
  });

  it.each(["${}", "${1A}", "${A", "${A-b}", "${A:-${B}}", "${ A }"])(
    "ENV-10: %s is no reference and never reaches a server by accident",
    (template) => {
      expect(expandVariables(template, environment)).toEqual({ ok: false, reason: "malformed" });
      expect(expand(template, { unset: "literal" })).toContain("${");
    },
  );

  it.each([
    ["${input:key}", { reason: "unset", variable: "input:key" }],
    ["${secret:key}", { reason: "unset", variable: "secret:key" }],
    ["${secret:a b}", { reason: "foreign", kind: "secret" }],
    ["${command:pick}", { reason: "foreign", kind: "command" }],
    ["${workspaceFolder:other}", { reason: "foreign" }],
  ])("ENV-10: %s is named for what it is and never reaches a server", (template, expected) => {
    expect(expandVariables(template, environment)).toMatchObject({ ok: false, ...expected });
    expect(expand(template, { unset: "literal" })).toBe(template);
    expect(expand(template, { unset: "empty" })).toBe("");
  });

  it("ENV-07: folders are those of VS Code and Cursor, wherever somebody works", () => {
    const folders = { workspaceFolder: "/srv/project", home: "/home/ada" };
    const known = {
      [otherReferences]: { folders, inputs: new Map(), secrets: new Map(), envFile: {} },
    };
    const template = "${workspaceFolder}${/}a ${workspaceFolderBasename} ${userHome} $${userHome}";
    expect(expandVariables(template, known)).toMatchObject({
      text: `/srv/project${path.sep}a project /home/ada \${userHome}`,
      used: [],
    });
  });

  it.each(["__proto__", "constructor", "toString"])("ENV-10: %s is no variable", (name) => {
    expect(expandVariables(`\${${name}}`, {})).toMatchObject({ reason: "unset" });
  });
});

describe("a server's values", () => {
  it("ENV-07: env is expanded, args are not", () => {
    const { transport } = resolveServer(
      parse({ command: "run", args: ["${TOKEN}"], env: { A: "x ${TOKEN}" } }),
      environment,
    );
    expect(transport).toMatchObject({ args: ["${TOKEN}"], env: { A: "x canary-token" } });
  });

  it("ENV-07: args are expanded when the entry says so", () => {
    const config = parse({ command: "run", args: ["--host=${HOST}"], expandArgs: true });
    expect(resolveServer(config, environment).transport).toMatchObject({
      args: ["--host=h.example"],
    });
  });

  it("ENV-07: url, headers and auth are expanded", () => {
    const { transport } = resolveServer(
      parse({ url: "https://${HOST}/mcp?k=${TOKEN}", headers: { "X-Key": "k ${TOKEN}" } }),
      environment,
    );
    expect(transport).toMatchObject({
      url: "https://h.example/mcp?k=canary-token",
      headers: { "X-Key": "k canary-token" },
    });
    const auth = { type: "oauth", clientId: "c", clientSecret: "${TOKEN}", scopes: ["a"] };
    expect(resolveServer(parse({ url: "https://h", auth }), environment).auth).toEqual({
      ...auth,
      clientSecret: "canary-token",
    });
  });

  it("ENV-10: an unset variable names variable, place and way out, and nothing else", () => {
    const error = failureOf({ command: "run", env: { A: "canary-literal ${GITHUB_TOKEN}" } });
    expect(error).toBeInstanceOf(McpConfigError);
    expect(error).toMatchObject({
      code: "variable_unset",
      message: "${GITHUB_TOKEN} is not set (.plugboard/mcp.json:9)",
      hint: "export it before starting",
      serverName: "github",
      details: { field: "env.A", variable: "GITHUB_TOKEN", layer: "project" },
    });
    expect(JSON.stringify(error)).not.toContain("canary");
  });

  it.each([
    [{ url: "${TOKEN}" }, "url"],
    [{ url: "https://me:${TOKEN}@h.example" }, "url"],
    [{ url: "https://h", headers: { A: "${BAD}" } }, "headers.A"],
    [{ url: "https://h", auth: { type: "bearer", token: "${BAD}" } }, "auth.token"],
    [{ command: "x", env: { A: "${nope nope}" } }, "env.A"],
  ])("ENV-10: %j cannot be used once it is filled in", (entry, field) => {
    const error = failureOf(entry, { ...environment, BAD: "canary\r\nInjected: x" });
    expect(error).toMatchObject({ code: "config_invalid", details: { field } });
    expect(JSON.stringify(error)).not.toContain("canary");
  });

  it("ENV-12: what came in is listed for redaction, with and without its scheme", () => {
    const { secrets } = resolveServer(
      parse({ url: "https://h/${PART}", headers: { Authorization: "Bearer ${TOKEN}" } }),
      { TOKEN: "canary-token", PART: "canary/part" },
    );
    for (const leak of ["canary-token", "Bearer canary-token", "canary/part", "canary%2Fpart"])
      expect(redact(`log: ${leak}!`, secrets)).not.toContain("canary");
  });

  it("ENV-12: literal values are secrets too, unless they are plainly harmless", () => {
    const env = {
      MY_SETTING: "canary-setting",
      PIN_SECRET: "1234",
      NODE_ENV: "production",
      DEBUG: "false",
      BASE_URL: "https://default.example.com",
      DATA_DIR: "/var/lib/data-folder",
    };
    const { secrets } = resolveServer(parse({ command: "x", env }), {});
    expect(secrets).toEqual(expect.arrayContaining(["canary-setting", "1234"]));
    const line = "production false https://default.example.com /var/lib/data-folder";
    expect(redact(line, secrets)).toBe(line);
    const auth = { type: "bearer", token: "abc" };
    expect(resolveServer(parse({ url: "https://h", auth }), {}).secrets).toContain("abc");
  });

  it("ENV-12: what a process gets of the host's environment is a secret, too, unless all get it", () => {
    const environment = {
      MINE: "canary-mine",
      OTHER: "canary-other",
      PWD: "/home/someone/project",
    };
    const secretsOf = (entry: object) =>
      resolveServer(parse({ command: "x", ...entry }), environment).secrets;
    expect(secretsOf({ envPassthrough: ["MINE", "UNSET"] })).toEqual(["canary-mine"]);
    expect(secretsOf({ inheritEnv: "all" })).toEqual(["canary-mine", "canary-other"]);
    expect(secretsOf({})).toEqual([]);
  });

  it("ENV-12: a value of broken Unicode is no reason to fail", () => {
    const { secrets } = resolveServer(parse({ command: "x", env: { A: "canary-\uD800" } }), {});
    expect(secrets).toContain("canary-\uD800");
  });

  it("ENV-07: the variables of a server can be listed before it starts", () => {
    const stdio = parse({ command: "x", args: ["${NOT_EXPANDED}"], env: { A: "${B} ${C:-d}" } });
    expect(variableUses(stdio)).toEqual([
      { variable: "B", kind: "variable", field: "env.A" },
      { variable: "C", kind: "variable", field: "env.A" },
    ]);
    const remote = parse({ url: "https://${H}", auth: { type: "bearer", token: "${T}" } });
    expect(variableUses(remote)).toEqual([
      { variable: "T", kind: "variable", field: "auth.token" },
      { variable: "H", kind: "variable", field: "url" },
    ]);
    expect(variableUses(parse({ enabled: false }))).toEqual([]);
  });
});
