import { execFileSync } from "node:child_process";
import { cpSync, mkdirSync, rmSync, writeFileSync } from "node:fs";
import path from "node:path";

import { createTestServer } from "../../src/testing/index.ts";
import { type HttpServer, serveHttp } from "../../src/testing/serve/serve-http.ts";
import { DatabaseSync } from "../fixtures/store/database-sync.ts";
import { withNpx } from "./npx-stand-in.ts";
import { CliSandbox, demoEntry, type RunOptions } from "./run-cli.ts";

const program = path.resolve(import.meta.dirname, "../../bin/plugboard.js");

/** The address in examples and in runs; it stands for a server that is there while a test runs. */
export const exampleAddress = "https://example.com/mcp";

/**
 * The place in which the examples of the help and the runs with `--json` are tried, the same before each of them:
 *
 * - `demo`, the user's own server, whose tools were listed and called before;
 * - `notes`, a server of the project that waits for approval;
 * - a file of Cursor with one server, one of Claude Desktop, a database of Kuse Cowork, and a file of the project for
 *   VS Code that cannot be read;
 * - `github`, a secret of the user, and `token.txt` with another one;
 * - `notes.md`, `entry.json`, `team.json` with one server, and `failing.json`, a configuration whose servers cannot start, in the current folder;
 * - the folder that fish reads completions from;
 * - an `npx` that runs the packages of this repository, without the network;
 * - a server behind `exampleAddress`.
 */
export class PreparedPlace {
  readonly sandbox: CliSandbox;
  readonly #server: HttpServer;
  /** Everything as it was prepared. */
  readonly #copy: string;
  readonly #searchPath: string;

  private constructor(sandbox: CliSandbox, server: HttpServer) {
    this.sandbox = sandbox;
    this.#server = server;
    this.#copy = `${sandbox.root}-prepared`;
    this.#searchPath = withNpx(sandbox);
  }

  static async create(): Promise<PreparedPlace> {
    const place = new PreparedPlace(new CliSandbox(), await serveHttp(createTestServer()));
    place.#prepare();
    return place;
  }

  /** Brings back what earlier runs have changed. */
  restore(): void {
    for (const folder of ["home", "project"]) {
      rmSync(path.join(this.sandbox.root, folder), { recursive: true });
      cpSync(path.join(this.#copy, folder), path.join(this.sandbox.root, folder), {
        recursive: true,
      });
    }
  }

  /** The words or the line, with the address of the server that is there. */
  addressed(text: string): string {
    return text.replaceAll(exampleAddress, this.#server.url);
  }

  get env(): NonNullable<RunOptions["env"]> {
    return {
      PATH: this.#searchPath,
      DOCS_TOKEN: "docs-token",
      MEMORY_FILE_PATH: path.join(this.sandbox.home, "memory.json"),
    };
  }

  async close(): Promise<void> {
    await this.#server.close();
    for (const folder of [this.#copy, this.sandbox.root])
      rmSync(folder, { recursive: true, force: true });
  }

  #prepare(): void {
    const { sandbox } = this;
    sandbox.configureUser({ demo: demoEntry }).configureProject({ notes: demoEntry });
    const gone = { command: "no-such-command" };
    const files = {
      "notes.md": "# Notes\n",
      "token.txt": "token-of-a-file\n",
      "entry.json": JSON.stringify(demoEntry),
      "team.json": JSON.stringify({ mcpServers: { files: demoEntry } }),
      "failing.json": JSON.stringify({ mcpServers: { one: gone, two: gone } }),
    };
    for (const [name, text] of Object.entries(files))
      writeFileSync(path.join(sandbox.cwd, name), text);
    const cursor = { mcpServers: { theirs: { ...demoEntry, env: { API_KEY: "canary-1234567" } } } };
    this.#writeAt(path.join(sandbox.home, ".cursor/mcp.json"), JSON.stringify(cursor));
    const desktop = { mcpServers: { drive: demoEntry } };
    const desktopFile = path.join(sandbox.home, ".config/Claude/claude_desktop_config.json");
    this.#writeAt(desktopFile, JSON.stringify(desktop));
    this.#writeDatabase(path.join(sandbox.home, ".kuse-cowork/settings.db"));
    this.#writeAt(path.join(sandbox.cwd, ".vscode/mcp.json"), '{ "servers": {');
    mkdirSync(path.join(sandbox.home, ".config/fish/completions"), { recursive: true });
    this.#run(["call", "demo.add", "a=2", "b=3", "--quiet"]);
    this.#run(["secret", "set", "github"], "token-that-is-kept\n");
    // Whatever starts as a process is lent its code, and the copy stays small.
    rmSync(path.join(sandbox.home, ".plugboard", "cache"), { recursive: true, force: true });
    cpSync(sandbox.root, this.#copy, { recursive: true, verbatimSymlinks: true });
  }

  #writeAt(file: string, text: string): void {
    mkdirSync(path.dirname(file), { recursive: true });
    writeFileSync(file, text);
  }

  #writeDatabase(file: string): void {
    mkdirSync(path.dirname(file), { recursive: true });
    const database = new DatabaseSync(file);
    database.exec("CREATE TABLE mcp_servers (id TEXT, name TEXT, config TEXT, status TEXT)");
    const config = JSON.stringify({ name: "kept", ...demoEntry });
    database.prepare("INSERT INTO mcp_servers VALUES (?, ?, ?, ?)").run("1", "kept", config, "");
    database.close();
  }

  #run(words: readonly string[], input = ""): void {
    execFileSync(process.execPath, [program, ...words], {
      cwd: this.sandbox.cwd,
      env: { ...this.sandbox.environment, ...this.env },
      input,
      stdio: ["pipe", "ignore", "inherit"],
    });
  }
}
