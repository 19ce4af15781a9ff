/**
 * @typedef {import("../scenarios/scenario.mjs").Scenario} Scenario
 * @typedef {import("../scenarios/scenario.mjs").Metric} Metric
 * @typedef {import("./summarize.mjs").Summary} Summary
 * @typedef {import("./summarize.mjs").Verdict} Verdict
 * @typedef {import("./beside.mjs").Comparison} Comparison
 */

/** @param {Scenario} scenario @param {readonly Summary[]} summaries */
export function formatTables({ metrics, references, workloads }, summaries) {
  return workloads
    .map(({ name, title }) => {
      const own = summaries.filter(({ workload }) => workload === name);
      const measured = metrics.filter(({ key }) =>
        own.some(({ medians }) => medians[key] !== undefined),
      );
      const compared = measured.filter(({ isCompared = true }) => isCompared);
      // A scenario may compare with a variant that only some of its workloads have.
      const present = references.filter((reference) =>
        own.some(({ variant }) => variant === reference),
      );
      const heads = [
        "",
        ...measured.map((metric) => metric.title),
        ...present.flatMap((reference) =>
          compared.map((metric) => `${metric.title} vs ${reference}`),
        ),
      ];
      const rows = own.map(({ variant, medians, ratios, error }) => [
        variant,
        ...measured.map(({ key, digits }) => number(medians[key], digits)),
        ...present.flatMap((reference) =>
          compared.map(({ key }) => number(ratios[reference]?.[key], 2)),
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
    const { title = metric, digits = 2, unit } = metrics.find(({ key }) => key === metric) ?? {};
    const isRatio = against.length > 0;
    const opponent = against.length > 1 ? `best of ${against.join(", ")}` : against[0];
    const measure = isRatio ? "x" : ` ${unit ?? ""}`.trimEnd();
    const word = isMet === undefined ? "NOT MEASURED" : isMet ? "met" : "MISSED";
    const reason = isMet === false && missedBecause !== undefined ? `: ${missedBecause}` : "";
    return [
      `${id}  ${workload}: ${title} of ${variant}${isRatio ? ` vs ${opponent}` : ""}`,
      atLeast === undefined ? `<= ${atMost}${measure}` : `>= ${atLeast}${measure}`,
      figure === undefined ? "-" : `${figure.toFixed(isRatio ? 2 : digits)}${measure}`,
      ` ${word}${reason}`,
    ];
  });
  return formatRows([["budget", "promised", "measured", ""], ...rows]);
}

/** @param {Scenario} scenario @param {readonly Comparison[]} comparisons */
export function formatComparisons({ metrics, workloads }, comparisons) {
  const tables = workloads.flatMap(({ name }) => {
    const own = comparisons.filter(({ workload }) => workload === name);
    const compared = metrics.filter(({ key }) => own.some(({ ratios }) => key in ratios));
    const heads = [`${name}, beside this build`, ...compared.map(({ title }) => `${title} `)];
    const rows = own.map(({ variant, ratios }) => [
      variant,
      ...compared.map(({ key }) => {
        const found = ratios[key];
        if (found === undefined) return "- ";
        const { median, lowest, highest, isBeyondChance } = found;
        const range = `(${number(lowest, 2)}–${number(highest, 2)})`;
        return `${number(median, 3)} ${range}${isBeyondChance ? "*" : " "}`;
      }),
    ]);
    return own.length === 0 ? [] : [`${formatRows([heads, ...rows])}\n`];
  });
  return [
    ...tables,
    "Each figure is divided by the one of this build in the same round: the median of the rounds (lowest–highest).",
    "* outside of everything that this build showed when it was measured a second time (again)",
  ].join("\n");
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
