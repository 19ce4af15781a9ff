import { defineScenario } from "./scenario.mjs";
import { ofPlugboard, variants } from "./variants.mjs";

/** What a client leaves to the first call of a tool. */
export const firstcall = defineScenario({
  name: "firstcall",
  metrics: [
    { key: "firstMs", title: "first ms", better: "lower", digits: 2 },
    { key: "firstCpuMs", title: "first CPU ms", better: "lower", digits: 2 },
    { key: "secondMs", title: "second ms", better: "lower", digits: 2 },
  ],
  references: ["floor", "bare v2"],
  paces: { full: {}, quick: {} },
  workloads: [
    {
      name: "output-schemas-200",
      title: "stdio, after listing 200 tools with output schemas",
      measure: "first-call",
      options: { outputSchemas: 200 },
      variants,
    },
  ],
  budgets: ofPlugboard([
    {
      id: "P11",
      workload: "output-schemas-200",
      metric: "firstMs",
      against: ["bare v2"],
      atMost: 0.05,
    },
  ]),
});
