import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";

import { importBuilt } from "./build.mjs";

/** @type {import("../../dist/index.js")} */
const { createHost } = await importBuilt("index.js");

/**
 * @typedef {import("../../dist/index.js").McpHost} McpHost
 * @typedef {import("./client.mjs").EchoHost & { readonly audit: import("../../dist/index.js").Audit }} AuditedHost
 */

/**
 * A host that knows these servers as `echo0`, `echo1` and so on, and has connected none of them. With a
 * file to keep things in, every call is also written down.
 *
 * @param {readonly import("./client.mjs").Target[]} targets
 * @param {import("./client.mjs").HostOptions} [options]
 * @returns {Promise<McpHost>}
 */
export function createEchoHost(targets, { storeFile, auth } = {}) {
  const servers = Object.fromEntries(
    targets.map((target, index) => [
      `echo${index}`,
      target.kind === "stdio"
        ? { command: target.command, args: target.args }
        : { url: target.url, ...(auth && { auth }) },
    ]),
  );
  return createHost({
    config: false,
    store: storeFile ?? false,
    servers,
  });
}

/** @param {McpHost} host */
export const openSession = (host) => host.session({ agent: "bench", level: "yolo" });

/**
 * One of the host's servers as a session calls it.
 *
 * @param {McpHost} host
 * @param {ReturnType<typeof openSession>} session
 * @param {number} index
 * @returns {import("./client.mjs").EchoClient<any>}
 */
export function echoClient(host, session, index) {
  const echo = `mcp__echo${index}__echo`;
  return {
    call: (text) => session.call(echo, { text }),
    textOf: (outcome) => (outcome.ok ? outcome.text : outcome.error),
    close: () => host.disconnect(`echo${index}`),
  };
}

/**
 * The whole host path: name, policy, validation, deadline, bounded result, events. Someone listens to
 * every event, because an event that nobody wants is not even built.
 *
 * @param {readonly import("./client.mjs").Target[]} targets
 * @param {import("./client.mjs").HostOptions} [options]
 * @returns {Promise<AuditedHost>}
 */
export async function openHost(targets, options) {
  const host = await createEchoHost(targets, options);
  let events = 0;
  host.on("*", () => {
    events += 1;
  });
  const session = openSession(host);
  const close = async () => {
    await host.close();
    if (events === 0) throw new Error("the sample published no event");
  };
  return {
    connect: async (index) => {
      const server = `echo${index}`;
      const states = await session.ready({ servers: [server] });
      const failure = failureOf(states[server]);
      if (failure !== undefined) throw failure;
      return echoClient(host, session, index);
    },
    countTools: () => session.tools().length,
    audit: host.audit,
    close,
  };
}

/**
 * Why a server is not ready. Builds of early 0.1.0 say only whether it is.
 *
 * @param {boolean | { readonly error?: Error | undefined } | undefined} state
 */
export function failureOf(state) {
  if (typeof state === "object") return state.error;
  return state === true ? undefined : new Error("the server did not become ready");
}

/** With the audit trail on, as it is by default. @type {import("./client.mjs").OpenEchoClient} */
export async function open(target) {
  const folder = await mkdtemp(path.join(tmpdir(), "bench-"));
  const host = await openHost([target], { storeFile: path.join(folder, "plugboard.db") });
  const close = async () => {
    await host.close();
    await rm(folder, { recursive: true });
  };
  const client = await host.connect(0);
  // Opening the store is part of a start, not of a call.
  await host.audit.query({ limit: 1 });
  return { ...client, close };
}
