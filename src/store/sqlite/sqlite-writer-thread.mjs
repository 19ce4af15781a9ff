// @ts-check
// The one thread of a host that writes to its SQLite file: locks held by other processes and the disk's
// own pace are waited for here, never in the event loop.
import { parentPort, workerData } from "node:worker_threads";

import { WriteConnection } from "./sqlite-write-connection.mjs";

/** @typedef {import("./sqlite-write-connection.mjs").WriterData} WriterData */
/** @typedef {{ readonly id: number, readonly task: import("./sqlite-write-connection.mjs").WriterTask }} WriterJob */
/** @typedef {{ readonly errcode: number | undefined, readonly message: string }} WriterFailure */
/**
 * @typedef {{ readonly id: number, readonly value: unknown }
 *   | { readonly id: number, readonly failure: WriterFailure }} WriterAnswer
 */

const connection = new WriteConnection(/** @type {WriterData} */ (workerData));
parentPort?.on("message", (/** @type {WriterJob} */ { id, task }) => {
  /** @type {WriterAnswer} */
  let answer;
  try {
    answer = { id, value: connection.perform(task) };
  } catch (error) {
    const { errcode, message } = /** @type {Error & { errcode?: number }} */ (error);
    answer = { id, failure: { errcode, message } };
  }
  // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a thread, not a window
  parentPort?.postMessage(answer);
  if (task.kind === "close") parentPort?.close();
});
