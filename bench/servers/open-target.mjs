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
 * @param {EchoOptions} [options]
 * @returns {Promise<{ target: Target, close: () => Promise<void> }>}
 */
export async function openTarget(kind, options = {}) {
  const json = JSON.stringify(options);
  if (kind === "stdio") {
    const args = [path("echo-stdio.mjs"), json];
    return { target: { kind, command: process.execPath, args }, close: async () => {} };
  }
  const server = spawn(process.execPath, [path("echo-http.mjs"), json], {
    stdio: ["pipe", "pipe", "inherit"],
  });
  const [line] = await once(server.stdout, "data");
  return {
    target: { kind, url: String(line).trim() },
    close: async () => {
      const exit = once(server, "exit");
      server.stdin.end();
      await exit;
    },
  };
}

/** @type {StdioTarget} */
export const floodTarget = {
  kind: "stdio",
  command: process.execPath,
  args: [path("flood-stdio.mjs")],
};

/**
 * Differs from the next one: clients may share a connection between servers that are the same.
 *
 * @param {number} index
 * @returns {StdioTarget}
 */
export const tinyTarget = (index) => ({
  kind: "stdio",
  command: "sh",
  args: [path("tiny-stdio.sh"), String(index)],
});
