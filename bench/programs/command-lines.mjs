import { existsSync } from "node:fs";
import { mkdir, readdir, rm, writeFile } from "node:fs/promises";
import path from "node:path";

import { commandFile } from "../clients/build.mjs";

const bench = path.resolve(import.meta.dirname, "..");
const mcporterFile = path.join(bench, "node_modules/mcporter/dist/cli.js");
const newerNodeFolder = path.join(bench, "newer-node", "node_modules");

/**
 * What a command line is asked to do. `list` starts no server; `remembered` lists the tools of one that a command before
 * it has listed, and `complete` offers them to a shell; `resident` is a call while a process keeps the server running.
 *
 * @typedef {"version" | "list" | "complete" | "remembered" | "tools" | "call" | "resident"} Task
 * @typedef {import("../servers/open-target.mjs").StdioTarget} StdioTarget
 *
 * @typedef {object} CommandLine
 * @property {(task: Task, server: StdioTarget) => readonly string[]} words behind the name of Node
 * @property {(project: string, home: string, server: StdioTarget, isResident: boolean) => Promise<void>} [configure]
 *   writes the server down as `echo`, where the command line has a place for it
 * @property {(home: string) => Promise<void>} [forget] deletes what it knows of the server, and not its compiled code
 * @property {RegExp} [answer] what it prints whatever the task is
 * @property {Resident} [resident] how a server is kept running for others
 *
 * @typedef {object} Resident
 * @property {readonly string[]} words that start it, behind the name of Node
 * @property {RegExp} ready what it prints when it can be used
 * @property {readonly string[]} [stop] words that end it, where it goes on without the process that started it
 */

/** The words that each program documents for a task. @type {Readonly<Record<string, CommandLine>>} */
export const commandLines = {
  node: { words: () => ["-e", "0"], answer: /^$/ },
  "one-reply": {
    answer: /bench-echo/,
    words: (_, { command, args }) => [program("one-reply.mjs"), command, ...args],
  },
  "sdk-v2": {
    words: (task, { command, args }) => [program("sdk-v2.mjs"), task, command, ...args],
  },
  plugboard: {
    words: (task) => [
      commandFile(),
      ...{
        version: ["--version"],
        list: ["list"],
        complete: ["__complete", "bash", " =:", "plugboard call ec"],
        remembered: ["tools", "echo", "--remembered"],
        tools: ["tools", "echo"],
        call: ["call", "echo.echo", "text=x"],
        resident: ["call", "echo.echo", "text=x"],
      }[task],
    ],
    resident: { words: [commandFile(), "up"], ready: /1 of 1 servers connected/ },
    configure: (_, home, server) =>
      writeServers(path.join(home, ".plugboard", "mcp.json"), "servers", server),
    forget: async (home) => {
      const folder = path.join(home, ".plugboard");
      const files = (await readdir(folder)).filter((name) => name.startsWith("plugboard.db"));
      for (const name of files) await rm(path.join(folder, name));
    },
  },
  mcporter: {
    resident: {
      words: [mcporterFile, "daemon", "start"],
      ready: /(?:)/,
      stop: [mcporterFile, "daemon", "stop"],
    },
    words: (task) => [
      mcporterFile,
      ...{
        version: ["--version"],
        list: ["config", "list"],
        // It completes no words.
        complete: [],
        remembered: ["list", "echo"],
        tools: ["list", "echo"],
        call: ["call", "echo.echo", "text=x"],
        resident: ["call", "echo.echo", "text=x"],
      }[task],
    ],
    configure: (project, _, server, isResident) =>
      writeServers(path.join(project, "config", "mcporter.json"), "mcpServers", {
        ...server,
        ...(isResident ? { lifecycle: "keep-alive" } : {}),
      }),
  },
  inspector: {
    words: (task, { command, args }) => [
      path.join(newerNodeFolder, "@modelcontextprotocol/inspector/clients/launcher/build/index.js"),
      ...(task === "version" ? ["--version"] : ["--cli", command, ...args, "--method"]),
      ...(task === "tools" ? ["tools/list"] : []),
      ...(task === "call" ? ["tools/call", "--tool-name", "echo", "--tool-arg", "text=x"] : []),
    ],
  },
};

/** @param {string} file of this folder */
function program(file) {
  return path.join(import.meta.dirname, file);
}

/** @param {string} file @param {string} key @param {StdioTarget & { lifecycle?: string }} server */
async function writeServers(file, key, { command, args, lifecycle }) {
  await mkdir(path.dirname(file), { recursive: true });
  await writeFile(file, JSON.stringify({ [key]: { echo: { command, args, lifecycle } } }));
}

/** The Node that the peers ask for, where the manifest beside it has one for this machine. */
export function newerNode() {
  const machine = `${process.platform}-${process.arch}`;
  const files = [`node-${machine}`, `node-bin-${machine}`].map((name) =>
    path.join(newerNodeFolder, name, "bin", "node"),
  );
  const found = files.find((file) => existsSync(file));
  if (found === undefined) throw new Error(`bench/newer-node has no Node for ${machine}`);
  return found;
}
