import { defineScenario } from "./scenario.mjs";

/** @param {string} name @param {string} client a file of `clients/` without its ending */
const variant = (name, client = name) => ({ name, options: { client } });

const peers = ["mcporter", "@ai-sdk/mcp", "@langchain/mcp-adapters"];

const variants = [
  variant("floor"),
  variant("bare v2", "sdk-v2"),
  variant("mcporter"),
  variant("@ai-sdk/mcp", "ai-sdk"),
  variant("@langchain/mcp-adapters", "langchain"),
  variant("plugboard"),
  variant("plugboard connectClient", "plugboard-client"),
];
const modern = { name: "plugboard 2026-07-28", options: { client: "plugboard", era: "modern" } };

// Where the CPU time per call of the slowest variant stops falling.
const warmUpCalls = { stdio: 8_000, http: 3_000 };

/** @param {keyof typeof warmUpCalls} server @param {number} concurrency */
function workload(server, concurrency) {
  const isSequential = concurrency === 1;
  return {
    name: `${server}-${isSequential ? "sequential" : concurrency}`,
    title: `${server}, ${isSequential ? "one call after another" : `${concurrency} calls in flight`}, 100 B`,
    measure: "call-rate",
    options: { server, concurrency, textBytes: 100, warmUpCalls: warmUpCalls[server] },
    variants: server === "http" ? [...variants, modern] : variants,
  };
}

const rate = "callsPerSecond";
const cpu = "cpuMicrosPerCall";
const ofModern = { variant: modern.name };

/** Small calls to a server that answers as fast as it can. */
export const call = defineScenario({
  name: "call",
  metrics: [
    { key: rate, title: "calls/s", better: "higher", digits: 0 },
    { key: cpu, title: "CPU µs", better: "lower", digits: 1 },
  ],
  references: ["floor", "bare v2"],
  paces: {
    full: { warmUpShare: 1, measuredCpuMs: 500 },
    quick: { warmUpShare: 0.1, measuredCpuMs: 100 },
  },
  workloads: [
    workload("stdio", 1),
    workload("stdio", 64),
    workload("http", 1),
    workload("http", 64),
  ],
  budgets: [
    { id: "P1", workload: "stdio-64", metric: rate, against: ["bare v2"], atLeast: 4 },
    { id: "P1", workload: "stdio-64", metric: cpu, against: ["bare v2"], atMost: 0.2 },
    { id: "P2", workload: "stdio-sequential", metric: cpu, against: ["floor"], atMost: 1.3 },
    { id: "P3", workload: "http-64", metric: rate, against: ["bare v2"], atLeast: 5 },
    { id: "P3", workload: "http-64", metric: cpu, against: ["bare v2"], atMost: 0.2 },
    { id: "P3", workload: "http-64", metric: cpu, against: ["floor"], atMost: 1.4 },
    { id: "P3", workload: "http-64", metric: cpu, against: ["floor"], atMost: 2, ...ofModern },
    { id: "P13", workload: "stdio-64", metric: rate, against: peers, atLeast: 2 },
  ].map((budget) => ({ variant: "plugboard", ...budget })),
});
