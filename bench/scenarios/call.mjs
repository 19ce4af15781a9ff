import { callMetrics, callPaces, callWorkload, cpu, rate } from "./call-rate.mjs";
import { defineScenario } from "./scenario.mjs";
import { ofPlugboard, variants } from "./variants.mjs";

/**
 * A short question with a long answer.
 *
 * @param {string} name @param {string} title
 * @param {{ answerBytes: number, warmUpCalls: number, measuredCpuMs: number }} options
 */
const longAnswer = (name, title, options) => ({
  name,
  title,
  measure: "call-rate",
  options: { server: "stdio", concurrency: 1, textBytes: 100, ...options },
  variants,
});

/** Calls over stdio to a server that answers as fast as it can. */
export const call = defineScenario({
  name: "call",
  metrics: callMetrics,
  references: ["floor", "bare v2"],
  paces: callPaces,
  workloads: [
    callWorkload("stdio", 1, variants),
    callWorkload("stdio", 64, variants),
    longAnswer("stdio-1MB", "stdio, one call after another, 1 MB comes back", {
      answerBytes: 1_000_000,
      warmUpCalls: 200,
      measuredCpuMs: 1_000,
    }),
    // Just below 10 MiB, where both Plugboard and the SDK refuse a line.
    longAnswer("stdio-10MB", "stdio, one call after another, a line of 10.4 MB comes back", {
      answerBytes: 10_400_000,
      warmUpCalls: 10,
      measuredCpuMs: 2_000,
    }),
  ],
  budgets: ofPlugboard([
    { id: "P1", workload: "stdio-64", metric: rate, against: ["bare v2"], atLeast: 3.5 },
    { id: "P1", workload: "stdio-64", metric: cpu, against: ["bare v2"], atMost: 0.25 },
    { id: "P2", workload: "stdio-sequential", metric: cpu, against: ["floor"], atMost: 1.3 },
    { id: "P4", workload: "stdio-1MB", metric: cpu, against: ["floor"], atMost: 1.15 },
    { id: "P4", workload: "stdio-10MB", metric: cpu, against: ["bare v2"], atMost: 0.3 },
  ]),
});
