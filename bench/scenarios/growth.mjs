import { defineScenario } from "./scenario.mjs";

/** @typedef {import("./scenario.mjs").Metric} Metric */

/** @param {string} key @param {string} title @param {Partial<Metric>} [more] @returns {Metric} */
const metric = (key, title, more) => ({ key, title, better: "lower", digits: 1, ...more });

/** @param {string} name @param {import("./scenario.mjs").Options} options */
const size = (name, options) => ({ name, options: { client: "plugboard", ...options } });

const one = size("1 server", { servers: 1 });
const thousand = size("1,000 servers", { servers: 1_000 });
const longList = size("1 server, 5,000 tools", { servers: 1, tools: 5_000 });
const atThousand = { id: "P14", workload: "servers", variant: thousand.name };
const atLongList = { id: "P14", workload: "kept", variant: longList.name, against: [] };

/** What a host costs as there is more of everything: servers, tools of a server, sessions. */
export const growth = defineScenario({
  name: "growth",
  metrics: [
    metric("createCpuMs", "create CPU ms"),
    metric("readyMs", "ready ms", { digits: 0, isCompared: false }),
    metric("readyCpuMs", "ready CPU ms", { digits: 0 }),
    metric("holdMs", "hold ms", { unit: "ms", isCompared: false }),
    metric("holdBusyMs", "hold CPU ms", { unit: "ms" }),
    metric("firstToolsMs", "first tools() ms", { digits: 2 }),
    metric("otherSessionsMs", "other sessions ms"),
    metric("toolsMicros", "tools() µs", { unit: "µs" }),
    metric("firstServersMs", "first servers() ms", { digits: 2, unit: "ms" }),
    metric("serversMs", "servers() ms", { digits: 2, unit: "ms" }),
    metric("changedToolsMs", "changed tools() ms", { digits: 2 }),
    metric("changedServersMs", "changed servers() ms", { digits: 2 }),
    metric("changeCpuMs", "change CPU ms"),
    metric("cpuMicrosPerCall", "CPU µs/call"),
    metric("spreadCpuMicrosPerCall", "CPU µs/call, spread"),
    metric("writeCpuMs", "write CPU ms", { digits: 0 }),
    metric("writeHoldMs", "write hold ms", { unit: "ms", isCompared: false }),
    metric("writeHoldBusyMs", "write hold CPU ms", { unit: "ms" }),
    metric("rssMb", "RSS MB"),
  ],
  references: [],
  paces: { full: { share: 1, scale: 1 }, quick: { share: 0.05, scale: 0.02 } },
  workloads: [
    {
      name: "servers",
      title: "servers over HTTP, 20 tools each",
      measure: "growth",
      options: { tools: 20, measuredCpuMs: 400 },
      variants: [
        one,
        size("10 servers", { servers: 10 }),
        size("100 servers", { servers: 100 }),
        thousand,
      ],
    },
    {
      // How much of the growth of a call is not ours. In profiles of both it is next to nothing, so P14 is judged
      // by our own ratio.
      name: "servers, floor",
      title: "calls to the same servers by hand, without a host",
      measure: "spread-floor",
      options: { tools: 20, measuredCpuMs: 400 },
      variants: [
        size(one.name, { servers: 1, client: "floor" }),
        size(thousand.name, { servers: 1_000, client: "floor" }),
      ],
    },
    {
      name: "tools",
      title: "tools of one server",
      measure: "growth",
      options: {},
      variants: [longList],
    },
    {
      name: "kept",
      title: "tools that are listed and kept in a store",
      measure: "kept-tools",
      options: {},
      variants: [longList],
    },
    {
      name: "sessions",
      title: "sessions of one host with 10 servers of 20 tools",
      measure: "growth",
      options: { servers: 10, tools: 20 },
      variants: [size("100 sessions", { sessions: 100 })],
    },
  ],
  budgets: [
    { ...atThousand, metric: "toolsMicros", against: [], atMost: 20 },
    { ...atThousand, metric: "firstServersMs", against: [], atMost: 10 },
    { ...atThousand, metric: "serversMs", against: [], atMost: 10 },
    { ...atThousand, metric: "cpuMicrosPerCall", against: [one.name], atMost: 1.1 },
    {
      ...atThousand,
      metric: "spreadCpuMicrosPerCall",
      against: [one.name],
      atMost: 1.1,
      missedBecause:
        "a call reads objects of its server that no call has read for a thousand calls (decision 28)",
    },
    ...["holdMs", "holdBusyMs", "writeHoldMs", "writeHoldBusyMs"].map((hold) => ({
      ...atLongList,
      metric: hold,
      atMost: 50,
    })),
  ],
});
