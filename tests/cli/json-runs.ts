import type { CommandName } from "../../src/cli/command-table.ts";
import { exampleAddress as address } from "./prepared-place.ts";
import { demoEntry } from "./run-cli.ts";

/** A command with `--json`, tried in a `PreparedPlace`; the test adds `--json` itself. */
export interface JsonRun {
  readonly words: readonly string[];
  /** 0 unless given. */
  readonly exitCode?: number;
  /** Goes on until Ctrl-C, which the test sends after the first line. */
  readonly stays?: true;
  readonly input?: string;
}

interface CommandRuns {
  /** Print their object, whatever the exit code is, and at most one error. */
  readonly prints: readonly [JsonRun, ...JsonRun[]];
  /** Print one error and nothing else. */
  readonly fails: readonly [JsonRun, ...JsonRun[]];
}

const demo = ["--", demoEntry.command, ...demoEntry.args];
const everything = ["--", "npx", "-y", "@modelcontextprotocol/server-everything"];
const broken = ["--", "node", "-e", "process.exit(3)"];

/** At least one run of every command that prints its object, and one that fails. */
export const jsonRuns: Readonly<Record<CommandName, CommandRuns>> = {
  up: {
    prints: [{ words: ["up", "--once"] }, { words: ["up"], stays: true }],
    fails: [{ words: ["up", "--twice"], exitCode: 2 }],
  },
  repl: {
    prints: [
      { words: ["repl"], input: "/mcp\n" },
      { words: ["repl", "--level", "yolo"], input: "demo.add a=2 b=3\n" },
    ],
    fails: [
      { words: ["repl"], input: "/mcq\n", exitCode: 2 },
      { words: ["repl", "--level", "king"], exitCode: 2 },
    ],
  },
  add: {
    prints: [
      { words: ["add", "more", ...demo] },
      { words: ["add", "more", "--dry-run", ...demo] },
      { words: ["add", "more", "--no-test", ...demo] },
      { words: ["add", "more", "--scope", "project", ...demo] },
      { words: ["add", "more", address] },
      { words: ["add", "more", "--secret-env", "KEY", ...demo], input: "canary-1234567\n" },
      { words: ["add", "more", ...broken], exitCode: 4 },
    ],
    fails: [
      { words: ["add", "demo", ...demo], exitCode: 2 },
      { words: ["add", "more", "-e", "API_KEY=canary-1234567", ...demo], exitCode: 2 },
    ],
  },
  "add-json": {
    prints: [
      { words: ["add-json", "more", "@entry.json"] },
      { words: ["add-json", "more", "-", "--dry-run"], input: JSON.stringify(demoEntry) },
    ],
    fails: [{ words: ["add-json", "more", "{"], exitCode: 2 }],
  },
  import: {
    prints: [
      { words: ["import"] },
      { words: ["import", "cursor"] },
      { words: ["import", "cursor", "theirs", "--dry-run", "--scope", "project"] },
      { words: ["import", ".plugboard/mcp.json"] },
    ],
    fails: [
      { words: ["import", "vscode"], exitCode: 2 },
      { words: ["import", "curser"], exitCode: 2 },
      { words: ["import", "cursor", "their"], exitCode: 2 },
    ],
  },
  get: {
    prints: [{ words: ["get", "demo"] }, { words: ["get", "notes"] }],
    fails: [{ words: ["get", "dmo"], exitCode: 2 }],
  },
  edit: {
    prints: [
      { words: ["edit", "demo", "-e", "LOG_LEVEL=debug"] },
      { words: ["edit", "demo", "--timeout", "20s", "--no-test"] },
      { words: ["edit", "notes", "-e", "LOG_LEVEL=debug"] },
      { words: ["edit", "demo", ...broken], exitCode: 4 },
    ],
    fails: [
      { words: ["edit", "dmo", "-e", "A=1"], exitCode: 2 },
      { words: ["edit", "demo", "-e", "API_KEY=canary-1234567"], exitCode: 2 },
    ],
  },
  remove: {
    prints: [{ words: ["remove", "demo"] }],
    fails: [{ words: ["remove", "dmo"], exitCode: 2 }],
  },
  enable: {
    prints: [{ words: ["enable", "demo"] }],
    fails: [{ words: ["enable", "dmo"], exitCode: 2 }],
  },
  disable: {
    prints: [{ words: ["disable", "demo"] }],
    fails: [{ words: ["disable"], exitCode: 2 }],
  },
  connect: {
    prints: [
      { words: ["connect", "demo"] },
      { words: ["connect", "demo", "--allow-all", "--no-test"] },
      { words: ["connect", "notes"], exitCode: 6 },
    ],
    fails: [
      { words: ["connect", "dmo"], exitCode: 2 },
      { words: ["connect", "demo", "--shared", "--private"], exitCode: 2 },
    ],
  },
  disconnect: {
    prints: [{ words: ["disconnect", "demo"] }],
    fails: [{ words: ["disconnect", "dmo"], exitCode: 2 }],
  },
  reconnect: {
    prints: [{ words: ["reconnect", "demo"] }],
    fails: [{ words: ["reconnect", "dmo"], exitCode: 2 }],
  },
  login: {
    prints: [
      { words: ["login", address] },
      { words: ["login", "demo"] },
      { words: ["login", address, "--token", "-"], input: "token-of-somebody" },
    ],
    fails: [
      { words: ["login", "dmo"], exitCode: 2 },
      { words: ["login", address, "--token", "canary-1234567"], exitCode: 2 },
    ],
  },
  logout: {
    prints: [{ words: ["logout", address] }, { words: ["logout", "demo"] }],
    fails: [{ words: ["logout", "dmo"], exitCode: 2 }],
  },
  call: {
    prints: [
      { words: ["call", "demo.add", "a=2", "b=3"] },
      { words: ["call", address, "echo", "message=hi"] },
      { words: ["call", "demo.add", "--args", "-"], input: '{"a":2,"b":3}' },
    ],
    fails: [
      { words: ["call", "demo.ad", "a=2"], exitCode: 5 },
      { words: ["call", "demo.add", "a=2"], exitCode: 2 },
      { words: ["call", "demo.fail"], exitCode: 5 },
      { words: ["call", "notes.add", "a=2", "b=3"], exitCode: 6 },
      { words: ["call", "add", ...broken], exitCode: 4 },
    ],
  },
  list: {
    prints: [
      { words: ["list"] },
      { words: ["list", "--check"] },
      { words: ["list", "--config", "missing.json"], exitCode: 2 },
    ],
    fails: [{ words: ["list", "--chek"], exitCode: 2 }],
  },
  tools: {
    prints: [
      { words: ["tools"] },
      { words: ["tools", "demo", "--schema"] },
      { words: ["tools", "demo", "--remembered"] },
      { words: ["tools", address] },
      { words: ["tools", "--config", "failing.json"], exitCode: 4 },
    ],
    fails: [{ words: ["tools", "dmo"], exitCode: 2 }],
  },
  resources: {
    prints: [
      { words: ["resources"] },
      { words: ["resources", "demo"] },
      { words: ["resources", "demo", "file:///readme.txt"] },
      { words: ["resources", "demo", "file:///readme.txt", "-o", "readme.txt"] },
      { words: ["resources", ...everything] },
      { words: ["resources", "demo://resource/dynamic/blob/1", ...everything] },
      { words: ["resources", "--config", "failing.json"], exitCode: 4 },
    ],
    fails: [
      { words: ["resources", "dmo"], exitCode: 2 },
      { words: ["resources", "demo", "file:///none"], exitCode: 5 },
    ],
  },
  prompts: {
    prints: [
      { words: ["prompts"] },
      { words: ["prompts", "demo", "greeting", "name=Ada"] },
      { words: ["prompts", "demo", "greeting", "name=Ada", "-o", "greeting.txt"] },
      { words: ["prompts", ...everything] },
      { words: ["prompts", "--config", "failing.json"], exitCode: 4 },
    ],
    fails: [{ words: ["prompts", "demo", "greting"], exitCode: 2 }],
  },
  types: {
    prints: [{ words: ["types", "demo"] }, { words: ["types", "demo", "-o", "demo.ts"] }],
    fails: [{ words: ["types", "demo", "-o", "none/demo.ts"], exitCode: 2 }],
  },
  consent: {
    prints: [
      { words: ["consent", "list"] },
      { words: ["consent", "allow", "demo.add"] },
      { words: ["consent", "revoke"] },
    ],
    fails: [{ words: ["consent", "allow", "demo.ad"], exitCode: 5 }],
  },
  secret: {
    prints: [
      { words: ["secret", "list"] },
      { words: ["secret", "set", "fresh"], input: "canary-1234567\n" },
      { words: ["secret", "set", "github"], input: "canary-1234567\n" },
      { words: ["secret", "remove", "github"] },
      { words: ["secret", "forget", "demo"] },
      { words: ["secret", "rotate"] },
      { words: ["secret", "move", "file"] },
    ],
    fails: [
      { words: ["secret", "remove", "gone"], exitCode: 2 },
      { words: ["secret", "set", "fresh"], input: "", exitCode: 2 },
      { words: ["secret", "set"], exitCode: 2 },
      { words: ["secret", "move", "pocket"], exitCode: 2 },
      { words: ["secret", "forget", "dmo"], exitCode: 2 },
    ],
  },
  why: {
    prints: [
      { words: ["why", "main", "demo.add"] },
      { words: ["why", "main", "demo.nothing"], exitCode: 5 },
      { words: ["why", "main", "notes.add"], exitCode: 6 },
    ],
    fails: [{ words: ["why", "main", "dmo.add"], exitCode: 2 }],
  },
  logs: {
    prints: [
      { words: ["logs", "demo"] },
      { words: ["logs", "notes"] },
      { words: ["logs", "demo", "-f"], stays: true, exitCode: 130 },
    ],
    fails: [
      { words: ["logs", "dmo"], exitCode: 2 },
      { words: ["logs", "demo", "--since", "soon"], exitCode: 2 },
    ],
  },
  audit: {
    prints: [
      { words: ["audit"] },
      { words: ["audit", "--server", "none"] },
      { words: ["audit", "--export", "audit.ndjson"] },
      { words: ["audit", "-f"], stays: true, exitCode: 130 },
    ],
    fails: [
      { words: ["audit", "--type", "cal"], exitCode: 2 },
      { words: ["audit", "--export", "none/audit.ndjson"], exitCode: 2 },
    ],
  },
  test: {
    prints: [
      { words: ["test", "demo"] },
      { words: ["test", address] },
      { words: ["test", "--contract", "demo"] },
      { words: ["test", "--contract", ...broken], exitCode: 4 },
    ],
    fails: [
      { words: ["test", ...broken], exitCode: 4 },
      { words: ["test", "--contract", "notes"], exitCode: 6 },
    ],
  },
  approve: {
    prints: [
      { words: ["approve", "notes"], exitCode: 6 },
      { words: ["approve", "notes", "--revoke"] },
      { words: ["approve", "demo"] },
    ],
    fails: [{ words: ["approve", "notes", "--identity", "other"], exitCode: 6 }],
  },
  config: {
    prints: [
      { words: ["config", "check"] },
      { words: ["config", "check", "--config", "missing.json"], exitCode: 2 },
      { words: ["config", "convert", "failing.json", "--to", "servers"] },
      { words: ["config", "convert", "failing.json", "--to", "servers", "-o", "new.json"] },
    ],
    fails: [
      { words: ["config", "convert", "missing.json", "--to", "servers"], exitCode: 2 },
      { words: ["config", "convert", "failing.json"], exitCode: 2 },
      { words: ["config", "chek"], exitCode: 2 },
    ],
  },
  doctor: {
    prints: [
      { words: ["doctor"] },
      { words: ["doctor", "demo"] },
      { words: ["doctor", "--config", "failing.json"], exitCode: 4 },
    ],
    fails: [{ words: ["doctor", "dmo"], exitCode: 2 }],
  },
  completion: {
    prints: [
      { words: ["completion", "bash"] },
      { words: ["completion", "zsh"] },
      { words: ["completion", "fish"] },
    ],
    fails: [{ words: ["completion", "tcsh"], exitCode: 2 }],
  },
  "test-server": {
    prints: [
      { words: ["test-server", "http", "--port", "0"], stays: true },
      { words: ["test-server", "sse", "--port", "0"], stays: true },
      { words: ["test-server", "rest", "--port", "0"], stays: true },
    ],
    fails: [{ words: ["test-server", "pigeon"], exitCode: 2 }],
  },
};
