import { callMetrics, callPaces, callWorkload, rate } from "./call-rate.mjs";
import { defineScenario } from "./scenario.mjs";
import { ofPlugboard, only, peers } from "./variants.mjs";

const compared = [...only("floor", "bare v2"), ...peers, ...only("plugboard")];
const against = peers.map(({ name }) => name);

/** The other ways to give an agent the tools of a server. */
export const peersScenario = defineScenario({
  name: "peers",
  metrics: callMetrics,
  references: ["floor", "plugboard"],
  paces: callPaces,
  workloads: [callWorkload("stdio", 64, compared), callWorkload("http", 64, compared)],
  budgets: ofPlugboard([
    { id: "P13", workload: "stdio-64", metric: rate, against, atLeast: 2 },
    { id: "P13", workload: "http-64", metric: rate, against, atLeast: 5 },
  ]),
});
