/**
 * A scenario is data: what is measured, for whom, and which figures are promised. One sample is one
 * run of `measure(options)` of a file of `measure/` in a fresh process; it resolves to a record of
 * numbers. The options are those of the pace, the workload and the variant, put together. With `build`
 * among them, a folder, the clients load the build of Plugboard in it instead of this checkout's.
 *
 * @typedef {Readonly<Record<string, unknown>>} Options
 * @typedef {"full" | "quick"} Pace
 *
 * @typedef {object} Metric
 * @property {string} key the field of a sample
 * @property {string} title
 * @property {"higher" | "lower"} better
 * @property {number} digits after the point
 * @property {string} [unit] for budgets about the figure itself
 * @property {boolean} [isCompared] false for a figure whose ratios say nothing
 *
 * @typedef {object} Variant
 * @property {string} name
 * @property {Options} options
 *
 * @typedef {object} Workload
 * @property {string} name
 * @property {string} title
 * @property {string} measure a file of `measure/` without its ending
 * @property {Options} options
 * @property {readonly Variant[]} variants in the order of the table
 *
 * @typedef {object} Budget one promise about one figure
 * @property {string} id
 * @property {string} workload
 * @property {string} variant
 * @property {string} metric
 * @property {readonly string[]} against the variants to compare with; the best of them counts. Without
 *   any the figure itself is promised and not a ratio
 * @property {number} [atLeast]
 * @property {number} [atMost]
 * @property {string} [missedBecause] the reason, if it is known; printed while the budget is missed
 *
 * @typedef {object} Scenario
 * @property {string} name
 * @property {readonly Metric[]} metrics
 * @property {readonly string[]} references the variants that all others are compared with
 * @property {Readonly<Record<Pace, Options>>} paces how long a sample takes
 * @property {readonly Workload[]} workloads
 * @property {readonly Budget[]} budgets
 */

/**
 * Refuses a budget about something the scenario does not measure: it would never be judged.
 *
 * @param {Scenario} scenario
 */
export function defineScenario(scenario) {
  for (const { id, workload: workloadName, variant, metric, against } of scenario.budgets) {
    const workload = scenario.workloads.find(({ name }) => name === workloadName);
    const known = new Set([
      ...scenario.metrics.map(({ key }) => key),
      ...(workload?.variants.map(({ name }) => name) ?? []),
    ]);
    const stray = [metric, variant, ...against].filter((name) => !known.has(name));
    if (workload === undefined || stray.length > 0)
      throw new Error(`${id}: ${workloadName} does not measure ${stray.join(", ")}`);
  }
  return scenario;
}
