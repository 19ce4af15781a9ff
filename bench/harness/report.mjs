/**
 * @typedef {import("../scenarios/scenario.mjs").Scenario} Scenario
 * @typedef {import("../scenarios/scenario.mjs").Metric} Metric
 * @typedef {import("./summarize.mjs").Summary} Summary
 * @typedef {import("./summarize.mjs").Verdict} Verdict
 */

/** @param {Scenario} scenario @param {readonly Summary[]} summaries */
export function formatTables({ metrics, references, workloads }, summaries) {
  const heads = [
    "",
    ...metrics.map(({ title }) => title),
    ...references.flatMap((reference) => metrics.map(({ title }) => `${title} vs ${reference}`)),
  ];
  return workloads
    .map(({ name, title }) => {
      const rows = summaries
        .filter(({ workload }) => workload === name)
        .map(({ variant, medians, ratios, error }) => [
          variant,
          ...metrics.map(({ key, digits }) => number(medians[key], digits)),
          ...references.flatMap((reference) =>
            metrics.map(({ key }) => number(ratios[reference]?.[key], 2)),
          ),
          ...(error === undefined ? [] : [`failed: ${error}`]),
        ]);
      return `${name} (${title})\n${formatRows([heads, ...rows])}`;
    })
    .join("\n\n");
}

/** @param {Scenario} scenario @param {readonly Verdict[]} verdicts */
export function formatBudgets({ metrics }, verdicts) {
  const rows = verdicts.map((verdict) => {
    const { id, workload, variant, metric, against, atLeast, atMost } = verdict;
    const { figure, isMet, missedBecause } = verdict;
    const title = metrics.find(({ key }) => key === metric)?.title ?? metric;
    const opponent = against.length === 1 ? against[0] : `best of ${against.join(", ")}`;
    const promise = atLeast === undefined ? `<= ${atMost}x` : `>= ${atLeast}x`;
    const word = isMet === undefined ? "NOT MEASURED" : isMet ? "met" : "MISSED";
    const reason = isMet === false && missedBecause !== undefined ? `: ${missedBecause}` : "";
    return [
      `${id}  ${workload}: ${title} of ${variant} vs ${opponent}`,
      promise,
      figure === undefined ? "-" : `${figure.toFixed(2)}x`,
      ` ${word}${reason}`,
    ];
  });
  return formatRows([["budget", "promised", "measured", ""], ...rows]);
}

/** @param {number | undefined} value @param {number} digits */
function number(value, digits) {
  return value === undefined ? "-" : value.toFixed(digits);
}

/**
 * The first column and whatever stands beyond the heads are texts; the rest are figures.
 *
 * @param {readonly (readonly string[])[]} rows
 */
function formatRows(rows) {
  const columns = rows[0]?.length ?? 0;
  const widths = Array.from({ length: columns }, (_, column) =>
    Math.max(...rows.map((row) => row[column]?.length ?? 0)),
  );
  return rows
    .map((row) =>
      row
        .map((cell, column) => {
          const width = widths[column] ?? 0;
          return column === 0 || cell.startsWith(" ") ? cell.padEnd(width) : cell.padStart(width);
        })
        .join("  ")
        .trimEnd(),
    )
    .join("\n");
}
