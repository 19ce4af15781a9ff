import { spawnSync } from "node:child_process";
import { accessSync, constants } from "node:fs";
import { createRequire } from "node:module";
import path from "node:path";

import type { ServerEntry } from "plugboard";

const external = path.resolve(import.meta.dirname, "..");
const packages = path.join(external, "node_modules");
const require = createRequire(import.meta.url);
const stubbornServer = path.join(import.meta.dirname, "stubborn-server.py");
/** What the command line of the process begins with that `stubborn-server.py` starts. */
export const unlinkedName = "unlinked-child";

const env = {
  // Into every process of Node's, however it is started.
  NODE_OPTIONS: `--require=${path.join(external, "offline.cjs")}`,
  GITLAB_PERSONAL_ACCESS_TOKEN: "glpat-none",
  PRIVATE_APP_ACCESS_TOKEN: "none",
  ES_URL: "http://127.0.0.1:9",
  ES_API_KEY: "none",
};

const node = process.execPath;
const gitlab = path.join(packages, "@modelcontextprotocol/server-gitlab/dist/index.js");
const hubspot = path.join(packages, "@hubspot/mcp-server/dist/index.js");
const thinking = path.join(
  packages,
  "@modelcontextprotocol/server-sequential-thinking/dist/index.js",
);

/** A devDependency of the package itself. */
function ownDependency(name: string): string {
  const manifest = require.resolve(`@modelcontextprotocol/${name}/package.json`);
  return path.join(path.dirname(manifest), "dist/index.js");
}
const everything = ownDependency("server-everything");
const filesystem = ownDependency("server-filesystem");
const memory = ownDependency("server-memory");

function run(command: string, ...args: readonly string[]): ServerEntry {
  return { command, args: [...args], env, cwd: external };
}

type Entries = Readonly<Record<string, ServerEntry>>;

/** Servers from npm in the forms in which users write them down. */
const fromNpm: Entries = {
  gitlab: run(node, gitlab),
  hubspot: run(node, hubspot),
  nx: run(node, path.join(packages, "nx-mcp/main.js")),
  "desktop-commander": run(
    node,
    path.join(packages, "@wonderwhy-er/desktop-commander/dist/index.js"),
  ),
  elasticsearch: run(node, path.join(packages, "@elastic/mcp-server-elasticsearch/dist/index.js")),
  everything: run(node, everything),
  filesystem: run(node, filesystem, external),
  memory: run(node, memory),
  "npx-thinking": run("npx", "--no-install", "mcp-server-sequential-thinking"),
  "npx-context7": run("npx", "--no-install", "context7-mcp"),
  "npx-gitlab": run("npx", "--no-install", "mcp-server-gitlab"),
  "bin-thinking": run(path.join(packages, ".bin/mcp-server-sequential-thinking")),
  // A shell that stays, because it has something to do afterwards.
  "sh-memory": run("sh", "-c", `"${node}" "${memory}" 2>/dev/null; exit $?`),
  "sh-in-sh": run("sh", "-c", `sh -c '"${node}" "${gitlab}"; exit $?'; exit $?`),
  "sh-pipe": run("sh", "-c", `tee /dev/null | "${node}" "${filesystem}" "${external}" | cat`),
  "sh-background": run("sh", "-c", `sleep 300 & "${node}" "${hubspot}"; wait`),
  "sh-exec": run("sh", "-c", `cd / && exec "${node}" "${gitlab}"`),
  // Neither the variables nor the session of what was started.
  "env-setsid": run("env", "-i", "setsid", "--wait", node, thinking),
};

/** Looks up a program as a shell does. */
function findProgram(...names: readonly string[]): string | undefined {
  const folders = (process.env["PATH"] ?? "").split(path.delimiter);
  return names
    .flatMap((name) => folders.map((folder) => path.join(folder, name)))
    .find((file) => isProgram(file));
}

function isProgram(file: string): boolean {
  try {
    accessSync(file, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}

function pythonServers(): Entries {
  const python = findProgram("python3");
  return python === undefined ? {} : { python: run(python, stubbornServer, unlinkedName) };
}

const browserOptions = ["--headless", "--no-sandbox", "--disable-gpu"];

function findBrowser(): string | undefined {
  const browser = findProgram("chromium", "chromium-browser", "google-chrome");
  if (browser === undefined) return undefined;
  const words = [...browserOptions, "--dump-dom", "about:blank"];
  const { status } = spawnSync(browser, words, { stdio: "ignore", timeout: 30_000 });
  return status === 0 ? browser : undefined;
}

/** Starts the browser when a tool is called. */
function drivingServer(browser: string): ServerEntry {
  const server = path.join(packages, "chrome-devtools-mcp/build/src/bin/chrome-devtools-mcp.js");
  const options = ["--headless", "--isolated", "--chromeArg=--no-sandbox"];
  return run(node, server, `--executablePath=${browser}`, ...options);
}

/** Its wrapper starts the browser, for somebody who calls no tool. */
function serverBesideBrowser(browser: string): ServerEntry {
  const words = [browser, ...browserOptions, "--remote-debugging-port=0"].join(" ");
  const background = `${words} --user-data-dir="$HOME/profile" >/dev/null 2>&1 &`;
  return run("sh", "-c", `${background} "${node}" "${thinking}"; wait`);
}

export interface RealServers {
  /** For a program that calls `list_pages` of the server `browser`, if there is one. */
  readonly ofProgram: Entries;
  /** For one that calls nothing. */
  readonly ofCommand: Entries;
}

/** The servers that this machine can start: `python` and `browser` are among them where those are installed. */
export function findRealServers(): RealServers {
  const entries = { ...fromNpm, ...pythonServers() };
  const browser = findBrowser();
  if (browser === undefined) return { ofProgram: entries, ofCommand: entries };
  return {
    ofProgram: { ...entries, browser: drivingServer(browser) },
    ofCommand: { ...entries, browser: serverBesideBrowser(browser) },
  };
}
