import { callMetrics, callPaces, callWorkload, rate } from "./call-rate.mjs";
import { defineScenario } from "./scenario.mjs";
import { ofPlugboard, only, peers } from "./variants.mjs";

const compared = [...only("floor", "bare v2"), ...peers, ...only("plugboard")];
const against = peers.map(({ name }) => name);

/** The other ways to give an agent the tools of a server. */
export const peersScenario = defineScenario({
  name: "peers",
  metrics: [
    ...callMetrics,
    { key: "readyMs", title: "ready ms", better: "lower", digits: 0 },
    { key: "importedReadyMs", title: "from import ms", better: "lower", digits: 0 },
    { key: "readyCpuMs", title: "ready CPU ms", better: "lower", digits: 0 },
  ],
  references: ["floor", "plugboard"],
  paces: callPaces,
  workloads: [
    callWorkload("stdio", 64, compared),
    callWorkload("http", 64, compared),
    {
      name: "ready",
      title: "from the start of the process until the tools of a stdio server are listed",
      measure: "ready",
      options: {},
      variants: compared,
    },
  ],
  budgets: ofPlugboard([
    { id: "P13", workload: "stdio-64", metric: rate, against, atLeast: 2 },
    { id: "P13", workload: "http-64", metric: rate, against, atLeast: 5 },
    // CPU time of the client alone: the start of the server takes everybody the same time.
    { id: "P13", workload: "ready", metric: "readyCpuMs", against, atMost: 0.4 },
  ]),
});
