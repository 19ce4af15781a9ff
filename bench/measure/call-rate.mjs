import { openTarget } from "../servers/echo-target.mjs";

/**
 * @typedef {object} CallRateOptions
 * @property {string} client a file of `clients/` without its ending
 * @property {import("../servers/echo-target.mjs").Target["kind"]} server
 * @property {import("../servers/echo-answers.mjs").Era} [era]
 * @property {number} concurrency calls in flight at any time
 * @property {number} textBytes
 * @property {number} warmUpCalls
 * @property {number} warmUpShare of those calls: less than 1 for a quick look
 * @property {number} measuredCpuMs
 */

/**
 * Calls `echo`, first until the compiler has done its work (which depends on the number of calls and
 * not on time), then until this process has used its share of CPU (which takes a slow client as long
 * as a fast one, and is the same on a busy machine).
 *
 * @param {CallRateOptions} options
 */
export async function measure({ client: file, concurrency, textBytes, ...options }) {
  /** @type {{ open: import("../clients/client.mjs").OpenEchoClient }} */
  const { open } = await import(`../clients/${file}.mjs`);
  const { target, close: closeTarget } = await openTarget(options.server, options.era ?? "legacy");
  const client = await open(target);
  const load = { text: "x".repeat(textBytes), concurrency };

  const warmUpCalls = options.warmUpCalls * options.warmUpShare;
  await callUntil((calls) => calls >= warmUpCalls, client, load);

  const cpuBefore = process.cpuUsage();
  const since = performance.now();
  const isSpent = () => cpuMicrosSince(cpuBefore) >= options.measuredCpuMs * 1_000;
  const calls = await callUntil(isSpent, client, load);
  const elapsedMs = performance.now() - since;
  const cpuMicros = cpuMicrosSince(cpuBefore);

  await client.close();
  await closeTarget();
  return {
    calls,
    callsPerSecond: (calls / elapsedMs) * 1_000,
    cpuMicrosPerCall: cpuMicros / calls,
  };
}

/**
 * @param {(calls: number) => boolean} isDone
 * @param {import("../clients/client.mjs").EchoClient<any>} client
 * @param {{ text: string, concurrency: number }} load
 * @returns {Promise<number>} how many calls were answered
 */
async function callUntil(isDone, { call, textOf }, { text, concurrency }) {
  const progress = { calls: 0, isOver: false };
  // Asked from outside of the loop: reading the CPU time costs as much as several calls.
  const timer = setInterval(() => {
    progress.isOver = isDone(progress.calls);
  }, 50);
  const lane = async () => {
    while (!progress.isOver) {
      const got = textOf(await call(text));
      if (got !== text) throw new Error("a call did not return its text", { cause: got });
      progress.calls += 1;
    }
  };
  await Promise.all(Array.from({ length: concurrency }, lane));
  clearInterval(timer);
  return progress.calls;
}

/** @param {NodeJS.CpuUsage} before */
function cpuMicrosSince(before) {
  const { user, system } = process.cpuUsage(before);
  return user + system;
}
