import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";

import { afterAll, beforeAll, describe, expect, it } from "vitest";

import { toJson } from "../parse/to-json.ts";
import { type ReadSource, readSource } from "./read-source.ts";
import { sourceFileAt, sourceFiles, type SourceGround } from "./source-table.ts";

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(path.join(tmpdir(), "sources-"));
});
afterAll(() => rm(folder, { recursive: true }));

function ground(platform: NodeJS.Platform = "linux", env: SourceGround["env"] = {}): SourceGround {
  return { workspaceFolder: folder, home: "/home/me", platform, env };
}

/** Reads a file of any name, as an import that names it would. */
async function read(name: string, content: unknown): Promise<ReadSource> {
  const file = path.join(folder, name);
  await writeFile(file, typeof content === "string" ? content : JSON.stringify(content));
  return await readSource(sourceFileAt(file, ground()), folder);
}

/** The entries in the keys of ours. */
async function entries(name: string, content: unknown): Promise<unknown> {
  const result = await read(name, content);
  if (result.status !== "read") throw new Error(JSON.stringify(result));
  return Object.fromEntries(
    result.servers.map(({ config }) => {
      const { name: own, ...entry } = toJson(config, { secrets: "keep" });
      return [own, entry];
    }),
  );
}

describe("sourceFiles", () => {
  const user = (platform: NodeJS.Platform, env: SourceGround["env"] = {}) =>
    (["claude-desktop", "vscode", "codex", "opencode"] as const).map(
      (name) =>
        sourceFiles(name, ground(platform, env)).findLast((it) => it.scope === "user")?.path,
    );

  it("follows the platform and the variables that programs follow", () => {
    expect(user("linux")).toEqual([
      "/home/me/.config/Claude/claude_desktop_config.json",
      "/home/me/.config/Code - Insiders/User/mcp.json",
      "/home/me/.codex/config.toml",
      "/home/me/.config/opencode/opencode.jsonc",
    ]);
    expect(user("darwin")[0]).toBe(
      "/home/me/Library/Application Support/Claude/claude_desktop_config.json",
    );
    expect(user("darwin")[3]).toBe("/home/me/.config/opencode/opencode.jsonc");
    expect(user("win32", { APPDATA: "/app" })[0]).toBe("/app/Claude/claude_desktop_config.json");
    const named = { XDG_CONFIG_HOME: "/xdg", CODEX_HOME: "/codex" };
    expect(user("linux", named)).toEqual([
      "/xdg/Claude/claude_desktop_config.json",
      "/xdg/Code - Insiders/User/mcp.json",
      "/codex/config.toml",
      "/xdg/opencode/opencode.jsonc",
    ]);
  });

  it("in the user's home the user's own file is no project's", () => {
    const atHome = { ...ground(), workspaceFolder: "/home/me" };
    expect(sourceFiles("cursor", atHome)).toMatchObject([
      { path: "/home/me/.cursor/mcp.json", scope: "user" },
    ]);
  });

  it("a file of the folder is the project's, and one elsewhere is known by the end of its path", () => {
    const at = (file: string) => sourceFileAt(file, ground());
    expect(at(path.join(folder, ".cursor/mcp.json"))).toMatchObject({
      source: "cursor",
      scope: "project",
      base: folder,
    });
    expect(at("/other/.cursor/mcp.json")).toMatchObject({
      source: "cursor",
      scope: "user",
      base: "/other",
    });
    expect(at("/other/my.toml")).toMatchObject({ source: "codex", shape: "codex" });
    expect(at("/other/servers.json")).toMatchObject({ source: undefined, shape: undefined });
    expect(at("/other/notopencode.json")).toMatchObject({ source: undefined });
  });
});

describe("readSource", () => {
  it("knows how a file is written by what it holds", async () => {
    expect(await entries("a.json", { mcp: { x: { type: "local", command: ["a", "b"] } } })).toEqual(
      {
        x: { command: "a", args: ["b"] },
      },
    );
    const second = { mcp: { servers: { x: { type: "remote", url: "https://x.example" } } } };
    expect(await entries("a.json", second)).toEqual({ x: { url: "https://x.example" } });
    expect(
      await entries("a.json", { mcpServers: { x: { httpUrl: "https://x.example" } } }),
    ).toEqual({
      x: { transport: "streamable-http", url: "https://x.example" },
    });
    const settings = { "editor.tabSize": 2, mcp: { servers: { x: { command: "a" } } } };
    expect(await entries("settings.json", settings)).toEqual({ x: { command: "a" } });
    expect(await entries("a.json", [{ name: "x", command: "a" }])).toEqual({ x: { command: "a" } });
    expect(await entries("a.json", { name: "x", command: "a" })).toEqual({ x: { command: "a" } });
  });

  it("of Claude Code takes what is for everywhere and for the folder, which wins", async () => {
    const content = {
      mcpServers: { both: { command: "user" }, mine: { command: "user" } },
      projects: {
        [folder]: { mcpServers: { both: { command: "here" } }, disabledMcpServers: ["mine"] },
        "/elsewhere": { mcpServers: { theirs: { command: "there" } } },
        "/odd": null,
      },
    };
    expect(await entries(".claude.json", content)).toEqual({
      both: { command: "here" },
      mine: { command: "user", enabled: false },
    });
    expect(await read(".claude.json", content)).toMatchObject({
      elsewhere: [{ name: "theirs", folder: "/elsewhere" }],
    });
    expect(await read(".claude.json", { numStartups: 1 })).toMatchObject({ servers: [] });
  });

  it("CFG-42: tells the place of a flaw by the key that the other program has for it", async () => {
    const text =
      '{ "mcpServers": {\n  "x": {\n    "httpUrl": "https://x.example",\n    "timeout": "soon" } } }';
    expect(await read("a.json", text)).toMatchObject({
      servers: [],
      problems: [{ severity: "error", serverName: "x", line: 4, column: 5 }],
    });
  });

  it("a second key of one meaning is settled as the other program does", async () => {
    const toml =
      '[mcp_servers.x]\nurl = "https://x.example"\nstartup_timeout_sec = 2\nstartup_timeout_ms = 9000\nscopes = ["a"]\nbearer_token_env_var = "T"\n';
    expect(await entries("a.toml", toml)).toEqual({
      x: {
        transport: "streamable-http",
        url: "https://x.example",
        connectTimeout: 2,
        auth: { type: "bearer", token: "${T}" },
      },
    });
  });
});
