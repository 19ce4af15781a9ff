import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import path from "node:path";

import { describe, expect, it } from "vitest";

import { checkArchitecture, type SourceFile } from "./architecture-check.ts";
import { maxFileLines, maxFolderFiles, renderTables } from "./architecture-table.ts";

const root = path.resolve(import.meta.dirname, "..");

function readSources(): SourceFile[] {
  const folder = path.join(root, "src");
  return readdirSync(folder, { recursive: true, encoding: "utf8" })
    .filter((file) => /\.(?:ts|mjs)$/.test(file) && !file.endsWith(".test.ts"))
    .map((file) => ({
      path: file.split(path.sep).join("/"),
      source: readFileSync(path.join(folder, file), "utf8"),
    }));
}

/** The formatter pads columns; only the words count. */
const words = (table = ""): string => table.replaceAll(/[ -]+/g, " ").trim();

const lines = (count: number): string => Array.from({ length: count }, () => "//").join("\n");

const check = (file: string, source: string): string[] =>
  checkArchitecture([{ path: file, source }]);

describe("the sources", () => {
  it("keep to the rooms and the narrow doors", () => {
    const files = readSources();
    expect(files.length).toBeGreaterThan(10);
    expect(checkArchitecture(files)).toEqual([]);
  });

  it("are described by the tables of docs/architecture.md", () => {
    const file = path.join(root, "docs", "architecture.md");
    const text = readFileSync(file, "utf8");
    const [, before, tables, after] =
      /^([^]*<!-- tables -->\n)([^]*)(\n<!-- \/tables -->[^]*)$/.exec(text) ?? [];
    if (process.env["UPDATE_DOCS"] === "1") {
      writeFileSync(file, `${before}\n${renderTables()}\n${after}`);
      return;
    }
    expect(words(tables), "run UPDATE_DOCS=1 npx vitest run tests/architecture.test.ts").toBe(
      words(renderTables()),
    );
  });
});

describe("an import", () => {
  it.each([
    ["static", 'import { x } from "../host/x.ts"; x();'],
    ["for types", 'import type { X } from "../host/x.ts"; export type Y = X;'],
    ["of a single type", 'import { type X } from "../host/x.ts"; export type Y = X;'],
    ["inside a type", 'export type Y = import("../host/x.ts").X;'],
    ["dynamic", 'export const load = () => import("../host/x.ts");'],
    ["by template", "export const load = () => import(`../host/x.ts`);"],
    ["for its effects", 'import "../host/x.ts";'],
    ["re-exported", 'export { x } from "../host/x.ts";'],
    ["re-exported whole", 'export * from "../host/x.ts";'],
    ["re-exported as types", 'export type { X } from "../host/x.ts";'],
  ])("of a room above is refused (%s)", (_kind, source) => {
    expect(check("config/plant.ts", source)).toEqual([
      "config/plant.ts imports ../host/x.ts: host lies above config",
    ]);
    expect(check("cli/plant.ts", source)).toEqual([]);
  });

  it("of a public entry is refused everywhere", () => {
    expect(check("cli/plant.ts", 'import { x } from "../index.ts"; x();')).toEqual([
      "cli/plant.ts imports ../index.ts: index.ts lies above cli",
    ]);
    expect(check("cli/plant.ts", 'import { x } from "../entries/client.ts"; x();')).toEqual([
      "cli/plant.ts imports ../entries/client.ts: entries lies above cli",
    ]);
    expect(check("index.ts", 'export { main } from "./cli/main.ts";')).toEqual([]);
    expect(check("entries/client.ts", 'export { main } from "../cli/main.ts";')).toEqual([]);
  });

  it("of something outside of the rooms is refused", () => {
    expect(
      check("cli/plant.ts", 'import "../../scripts/run.mjs"; import "../utils/x.ts";'),
    ).toEqual([
      "cli/plant.ts imports ../../scripts/run.mjs, which is in no room",
      "cli/plant.ts imports ../utils/x.ts, which is in no room",
    ]);
  });

  it("with a computed target is refused, since nobody can check it", () => {
    expect(
      check("cli/plant.ts", "export const load = (x: string) => import(`./${x}.ts`);"),
    ).toEqual(["cli/plant.ts has an import whose target is computed"]);
  });

  it("in a comment or a string is none", () => {
    const source = `// import { x } from "../host/x.ts";\nexport const text = 'import "../host/x.ts"';`;
    expect(check("config/plant.ts", source)).toEqual([]);
  });

  it("by a surface reaches past the host for types only", () => {
    expect(
      check("gateway/plant.ts", 'import type { X } from "../catalog/x.ts"; export type Y = X;'),
    ).toEqual([]);
    expect(check("gateway/plant.ts", 'import { x } from "../catalog/x.ts"; x();')).toEqual([
      "gateway/plant.ts runs code of ../catalog/x.ts: gateway may only run errors, text, events, host",
    ]);
    expect(check("gateway/plant.ts", 'import { x } from "../host/x.ts"; x();')).toEqual([]);
  });

  it("by a surface may reach a single file that the table names", () => {
    const source = 'import { x } from "../config/keys/config-problem.ts"; x();';
    expect(check("cli/plant.ts", source)).toEqual([]);
    expect(check("cli/plant.ts", source.replace("config-problem", "config-keys"))).toHaveLength(1);
  });
});

describe("a district", () => {
  it("imports itself and the districts below it", () => {
    const source = 'import { x } from "../wire/x.ts"; x();';
    expect(check("protocol/channel/plant.ts", source)).toEqual([]);
    expect(check("protocol/wire/plant.ts", source.replace("../wire", "."))).toEqual([]);
    expect(check("protocol/wire/plant.ts", source.replace("wire", "channel"))).toEqual([
      "protocol/wire/plant.ts imports ../channel/x.ts: channel lies above wire",
    ]);
  });

  it("lies below the files of its room, save those that the table puts among the districts", () => {
    const source = 'import type { X } from "../protocol-client.ts"; export type Y = X;';
    expect(check("protocol/channel/plant.ts", source)).toEqual([]);
    expect(check("protocol/wire/plant.ts", source)).toHaveLength(1);
    expect(check("protocol/sdk/plant.ts", source.replace("protocol-", "core-"))).toHaveLength(1);
    expect(check("protocol/plant.ts", 'import "./sdk/x.ts";')).toEqual([]);
  });

  it("stands in the table", () => {
    expect(check("protocol/cellar/plant.ts", "")).toEqual([
      "protocol/cellar/plant.ts is in no district of its room",
    ]);
    expect(check("text/cellar/plant.ts", "")).toEqual([
      "text/cellar/plant.ts is in no district of its room",
    ]);
  });
});

describe("a folder", () => {
  it("may have as many files as the limit and no more", () => {
    const files = Array.from({ length: maxFolderFiles }, (_, index) => ({
      path: `protocol/wire/plant-${index}.ts`,
      source: "",
    }));
    expect(checkArchitecture(files)).toEqual([]);
    const another = { path: "protocol/wire/plant.ts", source: "" };
    expect(checkArchitecture([...files, another])).toEqual([
      `protocol/wire has ${maxFolderFiles + 1} files, more than ${maxFolderFiles}`,
    ]);
    expect(checkArchitecture([...files, { ...another, path: "protocol/plant.ts" }])).toEqual([]);
  });
});

describe("a cycle", () => {
  const a = { path: "text/a.ts", source: 'import { b } from "./b.ts"; export const a = () => b;' };
  const c = { path: "text/c.ts", source: 'export { a } from "./a.ts";' };

  it("between files is refused", () => {
    const b = {
      path: "text/b.ts",
      source: 'import { a } from "./c.ts"; export const b = () => a;',
    };
    expect(checkArchitecture([a, b, c])).toEqual([
      "cycle: text/a.ts → text/b.ts → text/c.ts → text/a.ts",
    ]);
  });

  it("of types alone is refused as well: nobody could read one of the files first", () => {
    const b = {
      path: "text/b.ts",
      source: 'import type { a } from "./c.ts"; export const b = 1 as unknown as typeof a;',
    };
    expect(checkArchitecture([a, b, c])).toHaveLength(1);
  });
});

describe("a narrow door", () => {
  const network =
    "only transport, isolation, listener, secrets/keychain/process-keychain.ts may start a process or open a connection";
  const printing =
    "only cli, ports/default-logger.ts, testing/run-stdio.ts, testing/serve/serve-stdio.ts may print, or end the process";
  const sql = "only store may speak SQL";
  const calling = "only call, protocol, connection/direct-client.ts may call a tool";

  it.each([
    ['import { spawn } from "node:child_process"; spawn("x");', `node:child_process: ${network}`],
    ['import { spawn } from "child_process"; spawn("x");', `child_process: ${network}`],
    ['export const load = () => import("undici");', `undici: ${network}`],
    ['export { request } from "node:https";', `node:https: ${network}`],
    ['await fetch("https://example.com");', `fetch: ${network}`],
    ["export const get = globalThis.fetch;", `fetch: ${network}`],
    ["export const get = { fetch };", `fetch: ${network}`],
    ['export const get = globalThis["fetch"];', `fetch: ${network}`],
    ["export const get = (dial = fetch) => dial();", `fetch: ${network}`],
    ["export const get = ({ dial = fetch }) => dial();", `fetch: ${network}`],
    ["export const get = (dial: typeof fetch) => dial ?? fetch;", `fetch: ${network}`],
  ])("keeps the network and processes in: %s", (source, problem) => {
    expect(check("connection/plant.ts", source)).toEqual([`connection/plant.ts ${problem}`]);
    expect(check("transport/plant.ts", source)).toEqual([]);
  });

  it.each([
    'import type { ChildProcess } from "node:child_process"; export type X = ChildProcess;',
    "export type Fetch = typeof fetch;",
    "export const get = (fetch: () => void) => fetch();",
    "export const get = (client: { fetch(): void }) => client.fetch();",
    "export const options = { fetch: 1 };",
    "export const get = ({ fetch }: Record<string, () => void>) => fetch?.();",
    "export class Stream implements EventSource {}",
  ])("lets types and names of one's own pass: %s", (source) => {
    expect(check("connection/plant.ts", source)).toEqual([]);
  });

  it("lets only the adapter, sign-in and the test servers run the SDK", () => {
    const source =
      'import { Client } from "@modelcontextprotocol/client"; new Client({ name: "x", version: "1" });';
    expect(check("protocol/plant.ts", source)).toHaveLength(1);
    expect(check("protocol/sdk/sdk-client.ts", source)).toEqual([]);
    expect(check("testing/plant.ts", source)).toEqual([]);
    const types =
      'import type { Transport } from "@modelcontextprotocol/client"; export type X = Transport;';
    expect(check("protocol/plant.ts", types)).toEqual([]);
  });

  it.each([
    ['console.error("x");', `console: ${printing}`],
    ['process.stdout.write("x");', `process.stdout: ${printing}`],
    ['globalThis.process.stdout.write("x");', `process.stdout: ${printing}`],
    ["process.exit(1);", `process.exit: ${printing}`],
    ["process.exitCode = 1;", `process.exitCode: ${printing}`],
    ['import { stdout } from "node:process"; stdout.write("x");', `process.stdout: ${printing}`],
  ])("lets only the command line print and exit: %s", (source, problem) => {
    expect(check("host/plant.ts", source)).toEqual([`host/plant.ts ${problem}`]);
    expect(check("cli/plant.ts", source)).toEqual([]);
  });

  it.each([
    "select name from mcp_servers",
    "INSERT OR REPLACE INTO grants VALUES (1)",
    "update grants set agent = 1",
    "delete from grants",
    "create table grants (id)",
    "pragma journal_mode = wal",
  ])("keeps SQL in the store: %s", (statement) => {
    const source = `export const statement = \`\n  ${statement}\`;`;
    expect(check("registry/plant.ts", source)).toEqual([
      `registry/plant.ts \n  ${statement}: ${sql}`,
    ]);
    expect(check("store/plant.ts", source)).toEqual([]);
  });

  it("does not take prose for SQL", () => {
    expect(
      check("config/plant.ts", 'export const text = "Select a server, or update it.";'),
    ).toEqual([]);
  });

  it.each([
    ['export const run = (c: any) => c.callTool("x", {});', `.callTool(): ${calling}`],
    ['export const run = (c: any) => c?.callTool("x", {});', `.callTool(): ${calling}`],
    ['export const run = (c: any) => c["callTool"]("x", {});', `.callTool(): ${calling}`],
    [
      'export const run = (c: any) => c.request("tools/call", {});',
      `request(tools/call): ${calling}`,
    ],
  ])("leads every tool call through call/: %s", (source, problem) => {
    expect(check("session/plant.ts", source)).toEqual([`session/plant.ts ${problem}`]);
    expect(check("call/plant.ts", source)).toEqual([]);
    expect(check("connection/direct-client.ts", source)).toEqual([]);
  });
});

describe("a file", () => {
  it("outside of every room is refused", () => {
    expect(check("misplaced/plant.ts", "export {};")).toEqual([
      "misplaced/plant.ts is in no room of the table",
    ]);
    expect(check("plant.ts", "export {};")).toEqual(["plant.ts is in no room of the table"]);
  });

  it.each(["utils", "helpers", "types", "connection-manager", "session-service", "string-utils"])(
    "called %s is refused",
    (name) => {
      expect(check(`text/${name}.ts`, "export {};")).toHaveLength(1);
    },
  );

  it("may be as long as the limit and no longer", () => {
    expect(check("text/plant.ts", `${lines(maxFileLines)}\n`)).toEqual([]);
    expect(check("text/plant.ts", lines(maxFileLines + 1))).toEqual([
      "text/plant.ts has 601 lines, more than 600",
    ]);
  });
});
