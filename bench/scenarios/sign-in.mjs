import { callMetrics, callPaces, callWorkload, cpu } from "./call-rate.mjs";
import { defineScenario } from "./scenario.mjs";
import { only, signedIn } from "./variants.mjs";

const compared = [...only("floor", "plugboard"), signedIn];

/** What a sign-in adds to small calls over HTTP: the same server with and without one. */
export const signIn = defineScenario({
  name: "sign-in",
  metrics: callMetrics,
  references: ["plugboard"],
  paces: callPaces,
  workloads: [callWorkload("http", 1, compared), callWorkload("http", 64, compared)],
  budgets: ["http-sequential", "http-64"].map((workload) => ({
    id: "P3",
    workload,
    variant: signedIn.name,
    metric: cpu,
    against: ["plugboard"],
    atMost: 1.1,
  })),
});
