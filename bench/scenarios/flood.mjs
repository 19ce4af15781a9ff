import { callMetrics, callPaces, rate } from "./call-rate.mjs";
import { defineScenario } from "./scenario.mjs";
import { ofPlugboard, only } from "./variants.mjs";

const cpuPerNotification = "cpuMicrosPerNotification";
const compared = only("floor", "bare v2", "plugboard");

/** @param {number} concurrency */
const callsBesideFlood = (concurrency) => ({
  name: concurrency === 1 ? "beside-sequential" : `beside-${concurrency}`,
  title: `calls of another server, ${concurrency === 1 ? "one after another" : `${concurrency} in flight`}, without and with a flood`,
  measure: "calls-beside-flood",
  options: { concurrency, textBytes: 100, warmUpCalls: 8_000, measuredCpuMs: 500 },
  variants: compared.flatMap(({ name, options }) => [
    { name, options: { ...options, isFlooded: false } },
    { name: `${name}, flooded`, options: { ...options, isFlooded: true } },
  ]),
});

/** A server that writes notifications as fast as they are read. */
export const flood = defineScenario({
  name: "flood",
  metrics: [
    { key: cpuPerNotification, title: "CPU µs/notification", better: "lower", digits: 2 },
    { key: "notificationsPerSecond", title: "notifications/s", better: "higher", digits: 0 },
    ...callMetrics,
  ],
  references: ["bare v2"],
  paces: callPaces,
  workloads: [
    {
      name: "notifications",
      title: "log messages of one server, without an end",
      measure: "flood",
      options: { warmUpNotifications: 50_000, measuredCpuMs: 1_000 },
      variants: compared,
    },
    callsBesideFlood(1),
    callsBesideFlood(64),
  ],
  budgets: ofPlugboard([
    {
      id: "P8",
      workload: "notifications",
      metric: cpuPerNotification,
      against: ["bare v2"],
      atMost: 0.1,
    },
    ...["beside-sequential", "beside-64"].map((workload) => ({
      id: "P8",
      workload,
      variant: "plugboard, flooded",
      metric: rate,
      against: ["plugboard"],
      atLeast: 0.8,
    })),
  ]),
});
