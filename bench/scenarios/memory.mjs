import { defineScenario } from "./scenario.mjs";
import { ofPlugboard, only } from "./variants.mjs";

const connections = 100;

/** @param {"stdio" | "http"} server @param {string} title */
const workload = (server, title) => ({
  name: `${server}-${connections}`,
  title,
  measure: "memory",
  options: { server, connections },
  variants: only("floor", "bare v2", "plugboard"),
});

/** Memory of an application that is connected to one server, and what a hundred more add to it. */
export const memory = defineScenario({
  name: "memory",
  metrics: [
    { key: "baseMb", title: "RSS MB", better: "lower", digits: 1, unit: "MB" },
    { key: "grownMb", title: `+${connections} MB`, better: "lower", digits: 1, unit: "MB" },
  ],
  references: ["bare v2"],
  paces: { full: {}, quick: {} },
  workloads: [
    workload("stdio", `${connections} more servers over stdio, 10 tools each`),
    workload("http", `${connections} more servers over HTTP, 5 tools each`),
  ],
  // Over HTTP the base is that of the HTTP library, also for the floor.
  budgets: ofPlugboard([
    { id: "P12", workload: "stdio-100", metric: "baseMb", against: ["bare v2"], atMost: 0.8 },
    { id: "P12", workload: "stdio-100", metric: "grownMb", against: [], atMost: 10 },
    { id: "P12", workload: "http-100", metric: "grownMb", against: [], atMost: 10 },
  ]),
});
