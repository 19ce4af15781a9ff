import { callMetrics, callPaces, callWorkload, cpu, rate } from "./call-rate.mjs";
import { defineScenario } from "./scenario.mjs";
import { ofPlugboard, variants } from "./variants.mjs";

/** @param {string} client */
const modern = (client) => ({
  name: `${client} 2026-07-28`,
  options: { client, era: "modern" },
});
const modernFloor = modern("floor");
const modernPlugboard = modern("plugboard");
const bothEras = [...variants, modernFloor, modernPlugboard];

const ofModern = { variant: modernPlugboard.name };

/** Small calls over HTTP to a server that answers with JSON as fast as it can. */
export const http = defineScenario({
  name: "http",
  metrics: callMetrics,
  references: ["floor", "bare v2", modernFloor.name],
  paces: callPaces,
  workloads: [callWorkload("http", 1, bothEras), callWorkload("http", 64, bothEras)],
  budgets: ofPlugboard([
    { id: "P3", workload: "http-64", metric: rate, against: ["bare v2"], atLeast: 5 },
    { id: "P3", workload: "http-64", metric: cpu, against: ["bare v2"], atMost: 0.25 },
    { id: "P3", workload: "http-64", metric: cpu, against: ["floor"], atMost: 1.4 },
    // Against the floor of the older era, which has less to say and costs less.
    { id: "P3", workload: "http-64", metric: cpu, against: ["floor"], atMost: 2, ...ofModern },
  ]),
});
