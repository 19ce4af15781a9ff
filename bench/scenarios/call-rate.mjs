/** What the scenarios that count calls have in common. */

export const rate = "callsPerSecond";
export const cpu = "cpuMicrosPerCall";

/** @type {readonly import("./scenario.mjs").Metric[]} */
export const callMetrics = [
  { key: rate, title: "calls/s", better: "higher", digits: 0 },
  { key: cpu, title: "CPU µs", better: "lower", digits: 1 },
];

export const callPaces = { full: { share: 1 }, quick: { share: 0.1 } };

// Warm-up: where the CPU time per call of every variant stops falling. One call after another takes long,
// and falls by less.
const durations = {
  stdio: { sequential: 10_000, parallel: 40_000, measuredCpuMs: 1_000 },
  http: { sequential: 3_000, parallel: 10_000, measuredCpuMs: 1_000 },
};

/**
 * Small calls.
 *
 * @param {keyof typeof durations} server
 * @param {number} concurrency
 * @param {readonly import("./scenario.mjs").Variant[]} variants
 * @returns {import("./scenario.mjs").Workload}
 */
export function callWorkload(server, concurrency, variants) {
  const isSequential = concurrency === 1;
  const { sequential, parallel, measuredCpuMs } = durations[server];
  const warmUpCalls = isSequential ? sequential : parallel;
  return {
    name: `${server}-${isSequential ? "sequential" : concurrency}`,
    title: `${server}, ${isSequential ? "one call after another" : `${concurrency} calls in flight`}, 100 B`,
    measure: "call-rate",
    options: { server, concurrency, textBytes: 100, warmUpCalls, measuredCpuMs },
    variants,
  };
}
