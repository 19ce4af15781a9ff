import { spawn } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";

/**
 * How a client reaches the echo server: a command it starts itself, or the address of one that runs.
 *
 * @typedef {{ readonly kind: "stdio", readonly command: string, readonly args: string[] }} StdioTarget
 * @typedef {{ readonly kind: "http", readonly url: string }} HttpTarget
 * @typedef {StdioTarget | HttpTarget} Target
 */

/** @param {string} file */
const path = (file) => fileURLToPath(new URL(file, import.meta.url));

/**
 * @param {Target["kind"]} kind
 * @param {import("./echo-answers.mjs").Era} era the one era the server speaks
 * @returns {Promise<{ target: Target, close: () => Promise<void> }>}
 */
export async function openTarget(kind, era) {
  if (kind === "stdio") {
    const args = [path("echo-stdio.mjs"), era];
    return { target: { kind, command: process.execPath, args }, close: async () => {} };
  }
  const server = spawn(process.execPath, [path("echo-http.mjs"), era], {
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
