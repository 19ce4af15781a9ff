import { spawn } from "node:child_process";
import { once } from "node:events";

import { firstText } from "./client.mjs";

const clientInfo = { name: "bench-floor", version: "1.0.0" };
const legacyVersion = "2025-11-25";
const modernVersion = "2026-07-28";
const initialize = { protocolVersion: legacyVersion, capabilities: {}, clientInfo };
const _meta = {
  "io.modelcontextprotocol/protocolVersion": modernVersion,
  "io.modelcontextprotocol/clientInfo": clientInfo,
  "io.modelcontextprotocol/clientCapabilities": {},
};

/**
 * The least that speaks the protocol: an id, a table of waiting calls, one write per call. No limits,
 * no deadlines, no cancellation, no checks.
 *
 * @type {import("./client.mjs").OpenEchoClient}
 */
export async function open(target, era = "legacy") {
  return greet(target.kind === "stdio" ? openPipe(target) : await openPool(target, era), era);
}

/**
 * Several servers of one origin, which share its connections as those of a host do.
 *
 * @param {readonly import("../servers/open-target.mjs").HttpTarget[]} targets at least one
 * @param {number} connections
 */
export async function openShared(targets, connections) {
  const { Pool } = await import("undici");
  const pool = new Pool(new URL(targets[0]?.url ?? "").origin, { connections });
  /** @type {import("./client.mjs").EchoClient<any>[]} */
  const clients = [];
  for (const target of targets)
    clients.push(await greet(await openPool(target, "legacy", pool), "legacy"));
  return { clients, close: () => pool.close() };
}

/** @param {ReturnType<typeof openPipe>} wire @param {import("./client.mjs").Era} era */
async function greet(wire, era) {
  if (era === "legacy") {
    await wire.request("initialize", initialize);
    await wire.notify("notifications/initialized");
    await wire.request("tools/list", {});
  } else {
    await wire.request("server/discover", { _meta });
    await wire.request("tools/list", { _meta });
  }
  return {
    call:
      era === "legacy"
        ? (/** @type {string} */ text) =>
            wire.request("tools/call", { name: "echo", arguments: { text } })
        : (/** @type {string} */ text) =>
            wire.request("tools/call", { name: "echo", arguments: { text }, _meta }),
    textOf: firstText,
    close: wire.close,
  };
}

/** @param {any} message */
function settle({ result, error }) {
  if (error !== undefined) throw new Error(error.message);
  return result;
}

/** @param {import("../servers/open-target.mjs").StdioTarget} target */
function openPipe({ command, args }) {
  // In a session of its own, as Plugboard starts it: Linux may share out CPU time by session, so on a
  // busy machine this decides how fast a server is.
  const detached = process.platform !== "win32";
  const server = spawn(command, args, { stdio: ["pipe", "pipe", "inherit"], detached });
  /** @type {Map<number, (message: any) => void>} */
  const waiting = new Map();
  let nextId = 0;
  let rest = "";
  server.stdout.setEncoding("utf8");
  server.stdout.on("data", (chunk) => {
    let start = 0;
    // Only what is new is searched: a long line comes in many chunks.
    for (let end = chunk.indexOf("\n"); end !== -1; end = chunk.indexOf("\n", start)) {
      const message = JSON.parse(rest + chunk.slice(start, end));
      rest = "";
      start = end + 1;
      waiting.get(message.id)?.(message);
      waiting.delete(message.id);
    }
    rest += chunk.slice(start);
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

/**
 * @param {import("../servers/open-target.mjs").HttpTarget} target
 * @param {import("./client.mjs").Era} era
 * @param {import("undici").Pool} [shared] one of its own without it
 */
async function openPool({ url }, era, shared) {
  // Here, because loading it takes longer than everything else a client does before its first call.
  const { Pool } = await import("undici");
  const { origin, pathname } = new URL(url);
  const pool = shared ?? new Pool(origin);
  const common = {
    "content-type": "application/json",
    accept: "application/json, text/event-stream",
  };
  const legacy = { ...common, "mcp-protocol-version": legacyVersion };
  const call = {
    ...common,
    "mcp-protocol-version": modernVersion,
    "mcp-method": "tools/call",
    "mcp-name": "echo",
  };
  /** @param {string} method */
  const headersOf = (method) => {
    if (era === "legacy") return legacy;
    if (method === "tools/call") return call;
    return { ...common, "mcp-protocol-version": modernVersion, "mcp-method": method };
  };
  let nextId = 0;
  /** @param {{ jsonrpc: string, id?: number, method: string, params?: object }} message */
  const post = async (message) => {
    const body = JSON.stringify(message);
    const headers = headersOf(message.method);
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
