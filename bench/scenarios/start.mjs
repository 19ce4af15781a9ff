import { defineScenario } from "./scenario.mjs";
import { ofPlugboard, only } from "./variants.mjs";

const count = 20;
const eachEra = Array.from({ length: count }, (_, index) =>
  index % 2 === 0 ? "legacy" : "modern",
);

const detectingSdk = { name: "bare v2, auto", options: { client: "sdk-v2-auto" } };
const forgetful = {
  name: "plugboard, no store",
  options: { client: "plugboard", hasStore: false },
};
const secondTime = {
  name: "plugboard, second time",
  options: { client: "plugboard", isSecondTime: true },
};
const secondTimeAnswered = {
  name: "plugboard, second time, no silence",
  options: { ...secondTime.options, manners: ["legacy"] },
};

/** @param {"tiny" | "node"} server @param {string} title */
const many = (server, title) => ({
  name: `${server}-${count}`,
  title: `${count} ${title}, every other one of 2026-07-28`,
  measure: "start",
  options: { server, manners: eachEra },
  variants: [
    ...only("floor"),
    detectingSdk,
    ...only("plugboard", "plugboard connectClient"),
    forgetful,
    secondTime,
  ],
});

/** From the definitions of servers to their tools, when nobody has said what era they are of. */
export const start = defineScenario({
  name: "start",
  metrics: [
    { key: "listedMs", title: "listed ms", better: "lower", digits: 0 },
    { key: "listedCpuMs", title: "CPU ms", better: "lower", digits: 0 },
    {
      key: "usableMs",
      title: "usable ms",
      better: "lower",
      digits: 0,
      unit: "ms",
      isCompared: false,
    },
    { key: "readyCpuMs", title: "CPU from start ms", better: "lower", digits: 0 },
    { key: "readyMs", title: "from start ms", better: "lower", digits: 0, isCompared: false },
    {
      key: "startsWhenListed",
      title: "started when listed",
      better: "lower",
      digits: 0,
      isCompared: false,
    },
    {
      key: "startsPerServer",
      title: "started/server",
      better: "lower",
      digits: 2,
      isCompared: false,
    },
  ],
  references: ["floor", detectingSdk.name],
  paces: { full: {}, quick: {} },
  workloads: [
    many("tiny", "shell scripts"),
    many("node", "Node servers"),
    {
      name: "silent",
      title: "one server of 2025-11-25 that does not answer what it does not know",
      measure: "start",
      options: { server: "tiny", manners: ["silent"] },
      variants: [...only("floor", "plugboard"), secondTime, secondTimeAnswered],
    },
    {
      name: `silent-${count}`,
      title: `${count} such servers`,
      measure: "start",
      options: { server: "tiny", manners: Array.from({ length: count }, () => "silent") },
      variants: only("floor", "plugboard", "plugboard connectClient"),
    },
  ],
  budgets: ofPlugboard([
    {
      id: "P6",
      workload: "tiny-20",
      metric: "listedMs",
      against: ["floor"],
      atMost: 1.15,
      missedBecause:
        "a script is up before the client's own code is loaded and warm; see also node-20",
    },
    {
      id: "P6",
      workload: "node-20",
      metric: "listedMs",
      against: ["floor"],
      atMost: 1.15,
      missedBecause:
        "the first listed tools create the store while others start, and only 8 start at a time",
    },
    ...["tiny-20", "node-20"].flatMap((workload) => [
      { id: "P6", workload, metric: "startsPerServer", against: [], atMost: 1 },
      {
        id: "P6",
        workload,
        variant: secondTime.name,
        metric: "startsWhenListed",
        against: [],
        atMost: 0,
      },
    ]),
    {
      id: "P7",
      workload: "silent",
      metric: "usableMs",
      against: [],
      atMost: 1_500,
      missedBecause: "the server alone is given 1.5 s to answer before it counts as silent",
    },
    {
      id: "P7",
      workload: "silent",
      variant: secondTime.name,
      metric: "usableMs",
      against: [secondTimeAnswered.name],
      // A wait would make it ten times as long.
      atMost: 1.5,
    },
  ]),
});
