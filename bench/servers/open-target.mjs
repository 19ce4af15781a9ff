import { spawn } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";

/**
 * How a client reaches a server: a command it starts itself, or the address of one that runs.
 *
 * @typedef {{ readonly kind: "stdio", readonly command: string, readonly args: string[] }} StdioTarget
 * @typedef {{ readonly kind: "http", readonly url: string }} HttpTarget
 * @typedef {StdioTarget | HttpTarget} Target
 * @typedef {import("./echo-answers.mjs").EchoOptions} EchoOptions
 */

/** @param {string} file */
const path = (file) => fileURLToPath(new URL(file, import.meta.url));

/**
 * The echo server.
 *
 * @param {Target["kind"]} kind
 * @param {EchoOptions & { needsToken?: boolean | undefined }} [options] a token is for HTTP alone
 * @returns {Promise<{ target: Target, close: () => Promise<void> }>}
 */
export async function openTarget(kind, options = {}) {
  const json = JSON.stringify(options);
  if (kind === "stdio") {
    const args = [path("echo-stdio.mjs"), json];
    return { target: { kind, command: process.execPath, args }, close: async () => {} };
  }
  const { url, close } = await startHttp("echo-http.mjs", json);
  return { target: { kind, url }, close };
}

/** Starts a server that writes its address to stdout. @param {string} file of this folder @param {string} argument */
async function startHttp(file, argument) {
  const server = spawn(process.execPath, [path(file), argument], {
    stdio: ["pipe", "pipe", "inherit"],
  });
  const [line] = await once(server.stdout, "data");
  return {
    url: String(line).trim(),
    stdin: server.stdin,
    close: async () => {
      const exit = once(server, "exit");
      server.stdin.end();
      await exit;
    },
  };
}

/**
 * @typedef {object} Fleet many servers over HTTP that one process answers for
 * @property {readonly HttpTarget[]} targets
 * @property {number} toolCount of all of them; the first lacks its last tool
 * @property {() => void} addTool adds that one
 * @property {() => Promise<void>} close
 */

/**
 * @param {{ servers: number, tools: number }} counts the tools are those of each server
 * @returns {Promise<Fleet>}
 */
export async function openFleet({ servers, tools }) {
  const { url, stdin, close } = await startHttp("fleet-http.mjs", String(tools));
  const targets = Array.from({ length: servers }, (_, index) => ({
    kind: /** @type {const} */ ("http"),
    url: `${url}/${index}`,
  }));
  const toolCount = servers * tools - 1;
  return { targets, toolCount, addTool: () => void stdin.write("\n"), close };
}

/** @type {StdioTarget} */
export const floodTarget = {
  kind: "stdio",
  command: process.execPath,
  args: [path("flood-stdio.mjs")],
};

/**
 * One of several servers. It differs from the next one: clients may share a connection between servers
 * that are the same.
 *
 * @typedef {import("./echo-answers.mjs").Era | "silent"} Manner how it takes a question of the newer era:
 *   refuses it, answers it, or (the shell script alone) does not answer at all
 *
 * @typedef {object} NumberedOptions
 * @property {Manner} [manner]
 * @property {string} [startsFile] gets one byte longer with each start
 */

/**
 * The shell script of ten tools.
 *
 * @param {number} index
 * @param {NumberedOptions} [options]
 * @returns {StdioTarget}
 */
export const tinyTarget = (index, { manner = "legacy", startsFile = "" } = {}) => ({
  kind: "stdio",
  command: "sh",
  args: [path("tiny-stdio.sh"), String(index), manner, startsFile],
});

/**
 * The echo server, with Node's own start.
 *
 * @param {number} index
 * @param {NumberedOptions} [options]
 * @returns {StdioTarget}
 */
export const nodeTarget = (index, { manner: era, startsFile } = {}) => ({
  kind: "stdio",
  command: process.execPath,
  args: [path("echo-stdio.mjs"), JSON.stringify({ era, startsFile }), String(index)],
});
