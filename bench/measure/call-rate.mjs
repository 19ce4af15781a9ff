import { echoOf } from "../servers/echo-answers.mjs";
import { openTarget } from "../servers/open-target.mjs";
import { measureCalls } from "./measure-calls.mjs";

/**
 * @typedef {object} CallRateOptions
 * @property {string} client a file of `clients/` without its ending
 * @property {import("../servers/open-target.mjs").Target["kind"]} server
 * @property {import("../servers/echo-answers.mjs").Era} [era]
 * @property {number} concurrency
 * @property {number} textBytes of what is sent
 * @property {number} [answerBytes] of what comes back; the same by default
 * @property {boolean} [needsToken] whether the server asks for a token
 */

/**
 * What a call costs and how many there are in a second.
 *
 * @param {CallRateOptions & import("./measure-calls.mjs").Duration} options
 */
export async function measure({ client: file, server, era, answerBytes, needsToken, ...options }) {
  /** @type {{ open: import("../clients/client.mjs").OpenEchoClient }} */
  const { open } = await import(`../clients/${file}.mjs`);
  const { target, close: closeTarget } = await openTarget(server, { era, answerBytes, needsToken });
  const client = await open(target, era);
  const text = "x".repeat(options.textBytes);
  const load = { text, expected: echoOf(text, answerBytes), concurrency: options.concurrency };
  const figures = await measureCalls(client, load, options);
  await client.close();
  await closeTarget();
  return figures;
}
