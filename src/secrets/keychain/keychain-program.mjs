// @ts-check
// The process that talks to the keychain: a call of its library blocks the thread, and no thread that is blocked
// in native code can be ended, not even by the end of its process. A process can be killed.
// Plain JavaScript, because Node 20 cannot load TypeScript. Reads a `KeychainTask` from stdin, and writes a
// `KeychainReport` to stdout.
import { readFileSync, writeSync } from "node:fs";
import { createRequire } from "node:module";
import { Worker } from "node:worker_threads";

/**
 * @typedef {{ readonly action: "set", readonly account: string, readonly secret: string }
 *   | { readonly action: "get" | "remove", readonly account: string }} KeychainStep
 */
/**
 * @typedef {{
 *   readonly library: string,
 *   readonly service: string,
 *   readonly parent: number,
 *   readonly steps: readonly KeychainStep[],
 * }} KeychainTask
 */
/**
 * What each step found, null for nothing, or why one failed.
 *
 * @typedef {{ readonly found: readonly (string | null)[] } | { readonly failure: string }} KeychainReport
 */
/**
 * @typedef {{
 *   setSecret(secret: Uint8Array): void,
 *   getSecret(): readonly number[] | null,
 *   deleteCredential(): boolean,
 * }} Entry
 */
/** @typedef {new (service: string, account: string, options: object) => Entry} EntryClass */

/** Ends this process when its parent is gone, whatever the main thread is blocked by. Windows sees to that itself. */
const guard = `
  const parent = require("node:worker_threads").workerData;
  setInterval(() => process.ppid === parent || process.kill(process.pid, "SIGKILL"), 100);
`;

/** @type {KeychainTask} */
const task = JSON.parse(readFileSync(0, "utf8"));
new Worker(guard, { eval: true, execArgv: [], workerData: task.parent }).unref();
writeSync(1, JSON.stringify(perform(task)));

/**
 * @param {KeychainTask} task
 * @returns {KeychainReport}
 */
function perform({ library, service, steps }) {
  try {
    const { Entry } = /** @type {{ Entry: EntryClass }} */ (createRequire(library)(library));
    // Without this, Linux falls back to a keyring of the kernel, which forgets everything with the session.
    const options = { linux: { store: "secret-service" } };
    return {
      found: steps.map((step) => take(step, new Entry(service, step.account, options))),
    };
  } catch (error) {
    return { failure: error instanceof Error ? error.message : String(error) };
  }
}

/**
 * @param {KeychainStep} step
 * @param {Entry} entry
 * @returns {string | null}
 */
function take(step, entry) {
  switch (step.action) {
    case "set":
      entry.setSecret(Buffer.from(step.secret, "utf8"));
      return null;
    case "get": {
      // Not `getPassword`, which says of a keychain that cannot be read that there is nothing in it.
      const secret = entry.getSecret();
      return secret === null ? null : Buffer.from(secret).toString("utf8");
    }
    case "remove":
      entry.deleteCredential();
      return null;
  }
}
