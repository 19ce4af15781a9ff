import { spawnSync } from "node:child_process";
import { existsSync, realpathSync } from "node:fs";
import path from "node:path";

import { isPlugboard } from "../scenarios/variants.mjs";
import { median, ratiosByRound } from "./summarize.mjs";

/**
 * @typedef {import("../scenarios/scenario.mjs").Scenario} Scenario
 * @typedef {import("../scenarios/scenario.mjs").Variant} Variant
 * @typedef {import("./run-scenario.mjs").Sample} Sample
 *
 * @typedef {object} Build another build of Plugboard
 * @property {string} name
 * @property {string} folder
 *
 * @typedef {Variant & { readonly reference: string }} OtherBuild the same as the variant of this name,
 *   with another build or a second time
 *
 * @typedef {object} Ratio of a figure to that of this build
 * @property {number} median of all rounds
 * @property {number} lowest
 * @property {number} highest
 * @property {boolean} isBeyondChance the median lies outside of all ratios of this build to itself
 *
 * @typedef {object} Comparison
 * @property {string} workload
 * @property {string} variant
 * @property {Readonly<Record<string, Ratio>>} ratios by metric
 */

/**
 * @param {readonly string[]} folders checkouts of Plugboard
 * @returns {readonly Build[]}
 * @throws when one is not built, or two have the same name
 */
export function readBuilds(folders) {
  const builds = folders.map((given) => {
    const folder = path.resolve(given);
    if (!existsSync(path.join(folder, "dist/index.js")))
      throw new Error(`${given} has no built dist/`);
    return { name: commitOf(folder) ?? path.basename(folder), folder };
  });
  const names = new Set(builds.map(({ name }) => name));
  if (names.size < builds.length) throw new Error("two of the builds have the same name");
  return builds;
}

/** The short commit of a checkout without changes. @param {string} folder */
function commitOf(folder) {
  /** @param {...string} args */
  const git = (...args) => {
    const { status, stdout } = spawnSync("git", ["-C", folder, ...args], { encoding: "utf8" });
    return status === 0 ? stdout.trim() : undefined;
  };
  // A folder without a repository of its own may lie in somebody else's.
  if (git("rev-parse", "--show-toplevel") !== realpathSync(folder)) return undefined;
  return git("status", "--porcelain") === "" ? git("rev-parse", "--short", "HEAD") : undefined;
}

/**
 * Adds to each variant of Plugboard the same variant with each of the builds, and once more with this
 * one: how far two runs of the same code lie apart says what a difference between two builds is worth.
 *
 * @param {Scenario} scenario
 * @param {readonly Build[]} builds without any the scenario stays as it is
 * @returns {Scenario}
 */
export function addBuilds(scenario, builds) {
  if (builds.length === 0) return scenario;
  /** @param {Variant} variant @returns {readonly (Variant | OtherBuild)[]} */
  const withBuilds = (variant) => {
    const { name: reference, options } = variant;
    return [
      variant,
      { name: `${reference}, again`, options, reference },
      ...builds.map(({ name, folder }) => ({
        name: `${reference}, ${name}`,
        options: { ...options, build: folder },
        reference,
      })),
    ];
  };
  return {
    ...scenario,
    workloads: scenario.workloads.map((workload) => ({
      ...workload,
      variants: workload.variants.flatMap((one) => (isPlugboard(one) ? withBuilds(one) : [one])),
    })),
  };
}

/**
 * @param {Scenario} scenario with the variants of `addBuilds`
 * @param {readonly Sample[]} samples
 * @param {number} soundRounds with fewer of them nothing is beyond chance
 * @returns {readonly Comparison[]} one for each of those variants
 */
export function compareBuilds({ metrics, workloads }, samples, soundRounds) {
  const keys = metrics.filter(({ isCompared = true }) => isCompared).map(({ key }) => key);
  return workloads.flatMap(({ name: workload, variants }) =>
    variants.filter(isOtherBuild).map(({ name: variant, reference }) => {
      /** @param {string} metric */
      const ratioOf = (metric) => {
        const ratios = ratiosByRound(samples, { workload, variant, metric, reference });
        const middle = median(ratios);
        if (middle === undefined) return [];
        const again = { workload, variant: `${reference}, again`, metric, reference };
        const chance = ratiosByRound(samples, again);
        const isOutside = middle < Math.min(1, ...chance) || middle > Math.max(1, ...chance);
        const isBeyondChance = isOutside && chance.length >= soundRounds;
        const [lowest, highest] = [Math.min(...ratios), Math.max(...ratios)];
        return [[metric, { median: middle, lowest, highest, isBeyondChance }]];
      };
      return { workload, variant, ratios: Object.fromEntries(keys.flatMap(ratioOf)) };
    }),
  );
}

/** @param {Variant | OtherBuild} variant @returns {variant is OtherBuild} */
function isOtherBuild(variant) {
  return "reference" in variant;
}
