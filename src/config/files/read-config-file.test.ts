import { execFileSync } from "node:child_process";
import { chmodSync, mkdirSync, mkdtempSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";

import { describe, expect, it } from "vitest";

import { revealAll } from "../../text/secrets/secret-text.ts";
import { formatProblem } from "../keys/config-problem.ts";
import { parseConfig } from "../parse/parse-config.ts";
import { type ConfigFile, readConfigFile } from "./read-config-file.ts";

const folder = mkdtempSync(path.join(tmpdir(), "read-"));
let count = 0;

function fileWith(content: string | Uint8Array): string {
  count += 1;
  const file = path.join(folder, `${count}.json`);
  writeFileSync(file, content);
  return file;
}

async function read(content: string | Uint8Array): Promise<ConfigFile> {
  return await readConfigFile(fileWith(content), "project");
}

async function messageOf(content: string | Uint8Array): Promise<string> {
  const result = await read(content);
  if (result.status !== "failed") throw new Error(`the file was ${result.status}`);
  return formatProblem(result.problem).replace(/^.*\/\d+\.json/, "mcp.json");
}

describe("reading a file", () => {
  it("CFG-43: comments, trailing commas and a byte order mark are accepted", async () => {
    const result = await read(
      '\uFEFF// mine\n{ "servers": { /* one */ "a": { "command": "x", }, }, }\n',
    );
    expect(result).toMatchObject({
      status: "read",
      value: { servers: { a: { command: "x" } } },
      problems: [],
    });
  });

  it.each([
    ['{\n  "servers": {\n    "a": {}\n    "b": {}\n  }\n}', 'mcp.json:4:5 — expected ","'],
    ['{ "a" 1 }', 'mcp.json:1:7 — expected ":"'],
    ['{\r\n  "a": [1, 2\r\n', 'mcp.json:3:1 — expected "]"'],
    ['{ "a": 1', 'mcp.json:1:9 — expected "}"'],
    ["{ a: 1 }", "mcp.json:1:3 — this is not JSON"],
    ['{ "a": "x\n" }', "mcp.json:1:8 — this string is not closed"],
    ["{} {}", "mcp.json:1:4 — expected nothing more"],
    ["/* open", "mcp.json:1:1 — this comment is not closed"],
    [" \n", "mcp.json:1:1 — the file is empty"],
    ["// nothing but words\n", "mcp.json:2:1 — expected a value"],
  ])("CFG-42: broken text says where: %j", async (text, expected) => {
    expect(await messageOf(text)).toBe(expected);
  });

  it("CFG-42: the position of an entry and of a wrong key is known", async () => {
    const text =
      '{\n  "servers": {\n    "good": { "command": "x" },\n    "bad": {\n      "timeout": "soon"\n    }\n  }\n}';
    const result = await read(text);
    if (result.status !== "read") throw new Error(result.status);
    const { servers, problems } = parseConfig(result.value, { locate: result.locate });
    expect(servers).toMatchObject([{ name: "good", provenance: { line: 3, column: 5 } }]);
    expect(problems).toMatchObject([{ serverName: "bad", field: "timeout", line: 5, column: 7 }]);
  });

  it("CFG-40: a repeated key is reported, and the last one counts every time", async () => {
    const result = await read(
      '{ "servers": { "a": { "command": "one" },\n "a": { "command": "two" } } }',
    );
    expect(result).toMatchObject({
      status: "read",
      value: { servers: { a: { command: "two" } } },
      problems: [{ severity: "warning", line: 2, column: 2 }],
    });
    if (result.status !== "read") return;
    expect(result.locate(["servers", "a"])).toEqual({ line: 2, column: 2 });
  });

  it("CFG-31: __proto__ and constructor are names like any other", async () => {
    const result = await read(
      '{ "servers": { "__proto__": { "command": "x", "env": { "__proto__": "y" } }, "constructor": { "command": "z" } } }',
    );
    if (result.status !== "read") throw new Error(result.status);
    const { servers, problems } = parseConfig(result.value);
    expect(problems).toEqual([]);
    expect(servers.map((server) => server.name)).toEqual(["__proto__", "constructor"]);
    const [{ transport } = { transport: undefined }] = servers;
    const env = transport?.kind === "stdio" ? transport.env : {};
    expect(revealAll(Object.entries(env))).toEqual([["__proto__", "y"]]);
    expect(({} as Record<string, unknown>)["command"]).toBeUndefined();
  });

  it("CFG-42: a missing file is no problem, nor is a file where a folder should be", async () => {
    expect(await readConfigFile(path.join(folder, "none.json"), "user")).toEqual({
      status: "missing",
    });
    const below = path.join(fileWith("{}"), "mcp.json");
    expect(await readConfigFile(below, "user")).toEqual({ status: "missing" });
  });

  it("CFG-42: what cannot be read is a problem", async () => {
    const directory = path.join(folder, "directory");
    mkdirSync(directory);
    const loop = path.join(folder, "loop");
    symlinkSync(loop, loop);
    for (const file of [directory, loop, "/dev/zero"])
      expect(await readConfigFile(file, "user")).toMatchObject({
        status: "failed",
        problem: { severity: "error", path: file, layer: "user" },
      });
  });

  it.skipIf(process.getuid?.() === 0)("CFG-42: a forbidden file is a problem", async () => {
    const file = fileWith("{}");
    chmodSync(file, 0o000);
    expect(await readConfigFile(file, "user")).toMatchObject({ status: "failed" });
  });

  it("CFG-42: a named pipe without a writer does not hold the reader up", async () => {
    const pipe = path.join(folder, "pipe");
    execFileSync("mkfifo", [pipe]);
    expect(await readConfigFile(pipe, "project")).toMatchObject({
      status: "failed",
      problem: { message: "is not a regular file" },
    });
  });

  it("CFG-42: 1 MiB is read, one byte more is refused", async () => {
    const limit = 1_024 * 1_024;
    const padded = (size: number): string => `{"servers":{}}//${"x".repeat(size - 16)}`;
    expect(await read(padded(limit))).toMatchObject({ status: "read" });
    expect(await messageOf(padded(limit + 1))).toBe("mcp.json — is larger than 1 MiB");
  });

  it("CFG-42: nesting without end is refused, not a crash", async () => {
    expect(await messageOf("[".repeat(1_000_000))).toContain("nested more than 200 levels");
    expect(await messageOf(`${"[".repeat(1_000)}${"]".repeat(1_000)}`)).toContain("nested more");
    expect(await read(`${"[".repeat(200)}${"]".repeat(200)}`)).toMatchObject({ status: "read" });
  });

  it("CFG-42: bytes that are no UTF-8 are refused", async () => {
    expect(await messageOf(Uint8Array.of(0xff, 0xfe, 0x7b, 0))).toContain("is not UTF-8 text");
  });
});
