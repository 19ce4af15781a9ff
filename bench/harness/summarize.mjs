/**
 * @typedef {import("../scenarios/scenario.mjs").Scenario} Scenario
 * @typedef {import("../scenarios/scenario.mjs").Budget} Budget
 * @typedef {import("./run-scenario.mjs").Sample} Sample
 *
 * @typedef {object} Summary one row of a table
 * @property {string} workload
 * @property {string} variant
 * @property {Readonly<Record<string, number | undefined>>} medians by metric
 * @property {Readonly<Record<string, Readonly<Record<string, number | undefined>>>>} ratios
 *   by reference, then by metric
 * @property {string} [error] of the first sample that failed
 *
 * @typedef {Budget & { readonly figure: number | undefined, readonly isMet: boolean | undefined }} Verdict
 */

/**
 * @param {Scenario} scenario
 * @param {readonly Sample[]} samples
 * @returns {readonly Summary[]}
 */
export function summarize({ metrics, references, workloads }, samples) {
  const keys = metrics.map(({ key }) => key);
  /** @param {(key: string) => number | undefined} figureOf */
  const byMetric = (figureOf) => Object.fromEntries(keys.map((key) => [key, figureOf(key)]));
  return workloads.flatMap(({ name: workload, variants }) =>
    variants.map(({ name: variant }) => {
      const own = samplesOf(samples, { workload, variant });
      const error = own.find((one) => one.error !== undefined)?.error;
      return {
        workload,
        variant,
        medians: byMetric((key) => median(own.map((sample) => sample.figures?.[key]))),
        ratios: Object.fromEntries(
          references.map((reference) => [
            reference,
            byMetric((metric) => ratio(samples, { workload, variant, metric, reference })),
          ]),
        ),
        ...(error === undefined ? {} : { error }),
      };
    }),
  );
}

/**
 * @param {Scenario} scenario
 * @param {readonly Sample[]} samples
 * @returns {readonly Verdict[]} of the budgets whose workload was run
 */
export function judge({ metrics, workloads, budgets }, samples) {
  return budgets
    .filter((budget) => workloads.some(({ name }) => name === budget.workload))
    .map((budget) => {
      const { workload, variant, metric, against } = budget;
      const { atLeast = -Infinity, atMost = Infinity } = budget;
      const ratios = against
        .map((reference) => ratio(samples, { workload, variant, metric, reference }))
        .filter((one) => one !== undefined);
      // The best of several opponents is the one that leaves us the worst ratio.
      const isHigherBetter = metrics.find(({ key }) => key === metric)?.better === "higher";
      const worst = () =>
        ratios.length < against.length
          ? undefined
          : (isHigherBetter ? Math.min : Math.max)(...ratios);
      const figure =
        against.length === 0
          ? median(samplesOf(samples, budget).map(({ figures }) => figures?.[metric]))
          : worst();
      const isMet = figure === undefined ? undefined : figure >= atLeast && figure <= atMost;
      return { ...budget, figure, isMet };
    });
}

/** @param {readonly Sample[]} samples @param {{ workload: string, variant: string }} of */
function samplesOf(samples, { workload, variant }) {
  return samples.filter((one) => one.workload === workload && one.variant === variant);
}

/**
 * @typedef {{ workload: string, variant: string, metric: string, reference: string }} Compared
 */

/**
 * The median of the ratios within each round: what slows down a whole round falls out of it.
 *
 * @param {readonly Sample[]} samples
 * @param {Compared} what
 */
function ratio(samples, what) {
  return median(ratiosByRound(samples, what));
}

/**
 * The figure of a variant divided by that of the reference, for each round that has both.
 *
 * @param {readonly Sample[]} samples
 * @param {Compared} what
 * @returns {readonly number[]}
 */
export function ratiosByRound(samples, { workload, variant, metric, reference }) {
  const others = new Map(
    samplesOf(samples, { workload, variant: reference }).map((one) => [one.round, one.figures]),
  );
  return samplesOf(samples, { workload, variant }).flatMap(({ round, figures }) => {
    const own = figures?.[metric];
    const other = others.get(round)?.[metric];
    return own === undefined || other === undefined ? [] : [own / other];
  });
}

/**
 * @param {readonly (number | undefined)[]} values those that are missing do not count
 * @returns {number | undefined}
 */
export function median(values) {
  const sorted = values.filter((value) => value !== undefined).toSorted((a, b) => a - b);
  const upper = sorted[Math.floor(sorted.length / 2)];
  const lower = sorted[Math.ceil(sorted.length / 2) - 1];
  return upper === undefined || lower === undefined ? undefined : (lower + upper) / 2;
}
