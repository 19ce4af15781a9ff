import { existsSync } from "node:fs";
import { mkdir, readdir, rm, writeFile } from "node:fs/promises";
import path from "node:path";

import { commandFile } from "../clients/build.mjs";

const bench = path.resolve(import.meta.dirname, "..");
const newerNodeFolder = path.join(bench, "newer-node", "node_modules");

/**
 * What a command line is asked to do. `list` starts no server; `remembered` lists the tools of one that a command before
 * it has listed, and `complete` offers them to a shell.
 *
 * @typedef {"version" | "list" | "complete" | "remembered" | "tools" | "call"} Task
 * @typedef {import("../servers/open-target.mjs").StdioTarget} StdioTarget
 *
 * @typedef {object} CommandLine
 * @property {(task: Task, server: StdioTarget) => readonly string[]} words behind the name of Node
 * @property {(project: string, home: string, server: StdioTarget) => Promise<void>} [configure] writes the server
 *   down as `echo`, where the command line has a place for it
 * @property {(home: string) => Promise<void>} [forget] deletes what it knows of the server, and not its compiled code
 * @property {RegExp} [answer] what it prints whatever the task is
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
      }[task],
    ],
    configure: (_, home, server) =>
      writeServers(path.join(home, ".plugboard", "mcp.json"), "servers", server),
    forget: async (home) => {
      const folder = path.join(home, ".plugboard");
      const files = (await readdir(folder)).filter((name) => name.startsWith("plugboard.db"));
      for (const name of files) await rm(path.join(folder, name));
    },
  },
  mcporter: {
    words: (task) => [
      path.join(bench, "node_modules/mcporter/dist/cli.js"),
      ...{
        version: ["--version"],
        list: ["config", "list"],
        // It completes no words.
        complete: [],
        remembered: ["list", "echo"],
        tools: ["list", "echo"],
        call: ["call", "echo.echo", "text=x"],
      }[task],
    ],
    configure: (project, _, server) =>
      writeServers(path.join(project, "config", "mcporter.json"), "mcpServers", server),
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

/** @param {string} file @param {string} key @param {StdioTarget} server */
async function writeServers(file, key, { command, args }) {
  await mkdir(path.dirname(file), { recursive: true });
  await writeFile(file, JSON.stringify({ [key]: { echo: { command, args } } }));
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
