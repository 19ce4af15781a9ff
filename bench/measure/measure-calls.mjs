/**
 * @typedef {object} Load
 * @property {string} text
 * @property {string} expected what `echo` makes of it
 * @property {number} concurrency calls in flight at any time
 *
 * @typedef {object} Duration
 * @property {number} warmUpCalls
 * @property {number} measuredCpuMs
 * @property {number} share of both: less than 1 for a quick look
 *
 * @typedef {import("../clients/client.mjs").EchoClient<any>} EchoClient
 */

/**
 * Calls `echo`, first until the compiler has done its work (which depends on the number of calls and
 * not on time), then until this process has used its share of CPU (which takes a slow client as long
 * as a fast one, and is the same on a busy machine).
 *
 * @param {EchoClient} client
 * @param {Load} load
 * @param {Duration} duration
 */
export async function measureCalls(client, load, duration) {
  await warmUp(client, load, duration);
  return measureWarm(client, load, duration);
}

/** @param {EchoClient} client @param {Load} load @param {Duration} duration */
export async function warmUp(client, load, { warmUpCalls, share }) {
  await callUntil((calls) => calls >= warmUpCalls * share, client, load);
}

/** @param {EchoClient} client @param {Load} load @param {Duration} duration */
export async function measureWarm(client, load, { measuredCpuMs, share }) {
  const cpuBefore = process.cpuUsage();
  const since = performance.now();
  const isSpent = () => cpuMicrosSince(cpuBefore) >= measuredCpuMs * 1_000 * share;
  const calls = await callUntil(isSpent, client, load);
  const elapsedMs = performance.now() - since;
  const cpuMicros = cpuMicrosSince(cpuBefore);
  return {
    calls,
    callsPerSecond: (calls / elapsedMs) * 1_000,
    cpuMicrosPerCall: cpuMicros / calls,
  };
}

/** User and system time of this process. @param {NodeJS.CpuUsage} before */
export function cpuMicrosSince(before) {
  const { user, system } = process.cpuUsage(before);
  return user + system;
}

/**
 * @param {(calls: number) => boolean} isDone
 * @param {EchoClient} client
 * @param {Load} load
 * @returns {Promise<number>} how many calls were answered
 */
async function callUntil(isDone, { call, textOf }, { text, expected, concurrency }) {
  const progress = { calls: 0, isOver: false };
  // Asked from outside of the loop: reading the CPU time costs as much as several calls.
  const timer = setInterval(() => {
    progress.isOver = isDone(progress.calls);
  }, 50);
  const lane = async () => {
    while (!progress.isOver) {
      const got = textOf(await call(text));
      if (got !== expected) throw new Error("a call did not return its text", { cause: got });
      progress.calls += 1;
    }
  };
  await Promise.all(Array.from({ length: concurrency }, lane));
  clearInterval(timer);
  return progress.calls;
}
