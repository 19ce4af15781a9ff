import { setTimeout as wait } from "node:timers/promises";

import { median } from "../harness/summarize.mjs";
import { cpuMicrosSince } from "./measure-calls.mjs";

/**
 * @typedef {object} Elapsed
 * @property {number} ms by the clock
 * @property {number} cpuMs of all threads of this process
 * @property {number} busyMs of synchronous work: the lesser of both, without the time in which other
 *   processes had the core
 */

/** CPU time is not counted finely enough for less. */
const leastCpuMs = 1;

/** @returns {() => Elapsed} reads how long it is since then */
export function startWatch() {
  const cpuBefore = process.cpuUsage();
  const since = performance.now();
  return () => {
    const ms = performance.now() - since;
    const cpuMs = cpuMicrosSince(cpuBefore) / 1_000;
    return { ms, cpuMs, busyMs: ms < leastCpuMs ? ms : Math.min(ms, cpuMs) };
  };
}

/** How long synchronous work takes that is done once. @param {() => unknown} work */
export function timeOnce(work) {
  const elapsed = startWatch();
  work();
  return elapsed().busyMs;
}

/** How long synchronous work takes when it is done again and again; seldom, if it takes long. @param {() => unknown} work */
export function timeRepeated(work) {
  const atLeast = 3;
  const atMost = 1_000;
  const enoughMs = 50;
  /** @type {number[]} */
  const times = [];
  const elapsed = startWatch();
  while (times.length < atLeast || (times.length < atMost && elapsed().ms < enoughMs)) {
    times.push(timeOnce(work));
  }
  return median(times) ?? 0;
}

/**
 * The longest time for which some work kept everything else from the event loop, whether in one piece or
 * in many callbacks without a turn between them: how long a timer of one millisecond had to wait.
 *
 * @template Result
 * @param {() => Promise<Result>} work
 * @returns {Promise<{ result: Result, hold: { ms: number, busyMs: number } }>}
 */
export async function watchLoop(work) {
  const hold = { ms: 0, busyMs: 0 };
  let elapsed = startWatch();
  const timer = setInterval(() => {
    const { ms, busyMs } = elapsed();
    hold.ms = Math.max(hold.ms, ms);
    hold.busyMs = Math.max(hold.busyMs, busyMs);
    elapsed = startWatch();
  }, 1);
  const result = await work();
  // The last piece of it counts at the next turn.
  await wait(2);
  clearInterval(timer);
  return { result, hold };
}
