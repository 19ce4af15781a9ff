import { spawn } from "node:child_process";
import { once } from "node:events";

import { Pool } from "undici";

import { firstText } from "./client.mjs";

const clientInfo = { name: "bench-floor", version: "1.0.0" };
const initialize = { protocolVersion: "2025-11-25", capabilities: {}, clientInfo };

/**
 * The least that speaks the protocol: an id, a table of waiting calls, one write per call. No limits,
 * no deadlines, no cancellation, no checks.
 *
 * @type {import("./client.mjs").OpenEchoClient}
 */
export async function open(target) {
  const wire = target.kind === "stdio" ? openPipe(target) : openPool(target);
  await wire.request("initialize", initialize);
  await wire.notify("notifications/initialized");
  await wire.request("tools/list", {});
  return {
    call: (text) => wire.request("tools/call", { name: "echo", arguments: { text } }),
    textOf: firstText,
    close: wire.close,
  };
}

/** @param {any} message */
function settle({ result, error }) {
  if (error !== undefined) throw new Error(error.message);
  return result;
}

/** @param {import("../servers/echo-target.mjs").StdioTarget} target */
function openPipe({ command, args }) {
  const server = spawn(command, args, { stdio: ["pipe", "pipe", "inherit"] });
  /** @type {Map<number, (message: any) => void>} */
  const waiting = new Map();
  let nextId = 0;
  let rest = "";
  server.stdout.setEncoding("utf8");
  server.stdout.on("data", (chunk) => {
    const text = rest + chunk;
    let start = 0;
    for (let end = text.indexOf("\n"); end !== -1; end = text.indexOf("\n", start)) {
      const message = JSON.parse(text.slice(start, end));
      start = end + 1;
      waiting.get(message.id)?.(message);
      waiting.delete(message.id);
    }
    rest = text.slice(start);
  });
  return {
    /** @param {string} method @param {object} params @returns {Promise<any>} */
    request: (method, params) =>
      new Promise((resolve, reject) => {
        const id = nextId++;
        waiting.set(id, ({ result, error }) =>
          error === undefined ? resolve(result) : reject(new Error(error.message)),
        );
        server.stdin.write(`${JSON.stringify({ jsonrpc: "2.0", id, method, params })}\n`);
      }),
    /** @param {string} method */
    notify: async (method) => {
      server.stdin.write(`${JSON.stringify({ jsonrpc: "2.0", method })}\n`);
    },
    close: async () => {
      const exit = once(server, "exit");
      server.stdin.end();
      await exit;
    },
  };
}

/** @param {import("../servers/echo-target.mjs").HttpTarget} target */
function openPool({ url }) {
  const { origin, pathname } = new URL(url);
  const pool = new Pool(origin);
  const headers = {
    "content-type": "application/json",
    accept: "application/json, text/event-stream",
    "mcp-protocol-version": initialize.protocolVersion,
  };
  let nextId = 0;
  /** @param {object} message */
  const post = async (message) => {
    const body = JSON.stringify(message);
    const response = await pool.request({ path: pathname, method: "POST", headers, body });
    return response.body.text();
  };
  return {
    /** @param {string} method @param {object} params @returns {Promise<any>} */
    request: async (method, params) =>
      settle(JSON.parse(await post({ jsonrpc: "2.0", id: nextId++, method, params }))),
    /** @param {string} method */
    notify: async (method) => {
      await post({ jsonrpc: "2.0", method });
    },
    close: () => pool.close(),
  };
}
