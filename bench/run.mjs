import { mkdir, writeFile } from "node:fs/promises";
import { parseArgs } from "node:util";

import { addBuilds, compareBuilds, readBuilds } from "./harness/beside.mjs";
import { formatBudgets, formatComparisons, formatTables } from "./harness/report.mjs";
import { runScenario } from "./harness/run-scenario.mjs";
import { judge, summarize } from "./harness/summarize.mjs";
import { readMachine, readVersions } from "./harness/surroundings.mjs";
import { scenarios } from "./scenarios/all.mjs";

const usage = `node bench/run.mjs [scenario …] [--rounds N] [--quick] [--only text] [--beside folder …]

  scenario   ${scenarios.map(({ name }) => name).join(", ")}; without one, all of them
  --rounds   samples of each variant (5)
  --quick    one short round, which shows that everything runs and proves no figure
  --only     only workloads with this text in their name
  --beside   another checkout of Plugboard with a built dist/, measured in the same rounds
`;

/** Fewer rounds give no median to trust. */
const soundRounds = 5;

const plan = parsePlan(process.argv.slice(2));
if (plan === undefined) {
  process.stderr.write(usage);
  process.exitCode = 2;
} else {
  for (const scenario of plan.chosen) await benchmark(scenario, plan);
}

/**
 * @typedef {import("./scenarios/scenario.mjs").Scenario} Scenario
 *
 * @typedef {object} Plan
 * @property {readonly Scenario[]} chosen
 * @property {number} rounds
 * @property {boolean} quick
 * @property {string} only
 * @property {readonly import("./harness/beside.mjs").Build[]} builds to measure beside this one
 */

/** @param {string[]} args @returns {Plan | undefined} nothing when they make no sense */
function parsePlan(args) {
  const options = /** @type {const} */ ({
    rounds: { type: "string" },
    quick: { type: "boolean", default: false },
    only: { type: "string", default: "" },
    beside: { type: "string", multiple: true, default: [] },
  });
  let parsed;
  let builds;
  try {
    parsed = parseArgs({ args, allowPositionals: true, options });
    builds = readBuilds(parsed.values.beside);
  } catch (error) {
    process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n\n`);
    return undefined;
  }
  const { positionals: names } = parsed;
  const { quick, only } = parsed.values;
  const rounds = Number(parsed.values.rounds ?? (quick ? 1 : soundRounds));
  const isKnown = names.every((name) => scenarios.some((scenario) => scenario.name === name));
  const chosen = scenarios
    .filter(({ name }) => names.length === 0 || names.includes(name))
    .map((scenario) => ({
      ...scenario,
      workloads: scenario.workloads.filter(({ name }) => name.includes(only)),
    }))
    .filter(({ workloads }) => workloads.length > 0)
    .map((scenario) => addBuilds(scenario, builds));
  if (!isKnown || chosen.length === 0 || !Number.isInteger(rounds) || rounds < 1) return undefined;
  return { chosen, rounds, quick, only, builds };
}

/** @param {Scenario} scenario @param {Plan} plan */
async function benchmark(scenario, { rounds, quick, only, builds }) {
  const { name } = scenario;
  const date = new Date().toISOString();
  const machine = readMachine();
  const samples = await runScenario(scenario, {
    rounds,
    pace: quick ? "quick" : "full",
    onSample: ({ round, workload, variant, error }) => {
      const words = [name, `${round}/${rounds}`, workload, variant, error ?? "✓"];
      process.stderr.write(`${words.join("  ")}\n`);
    },
  });
  const hasFailed = samples.some(({ error }) => error !== undefined);
  if (hasFailed) process.exitCode = 1;

  const summaries = summarize(scenario, samples);
  const budgets = quick ? [] : judge(scenario, samples);
  process.stdout.write(`\n${formatTables(scenario, summaries)}\n\n`);
  process.stdout.write(
    quick
      ? "A quick run measures code that is still cold: no budget is judged by it.\n"
      : `${formatBudgets(scenario, budgets)}\n`,
  );

  const beside = compareBuilds(scenario, samples, soundRounds);
  if (beside.length > 0) process.stdout.write(`\n${formatComparisons(scenario, beside)}\n`);

  // Only a run that keeps to the method may replace what the last one found.
  const isWhole = only === "" && builds.length === 0;
  const isSound = !quick && !hasFailed && isWhole && rounds >= soundRounds;
  const file = `results/${name}${isSound ? "" : ".tmp"}.json`;
  const command = ["node bench/run.mjs", ...process.argv.slice(2)].join(" ");
  const compared = beside.length > 0 ? { beside } : {};
  const head = { scenario: name, date, command, versions: readVersions(), machine, rounds };
  await mkdir(new URL("results/", import.meta.url), { recursive: true });
  await writeFile(
    new URL(file, import.meta.url),
    `${JSON.stringify({ ...head, budgets, ...compared, summaries, samples }, null, 2)}\n`,
  );
  process.stdout.write(`\nwritten to bench/${file}\n`);
}
