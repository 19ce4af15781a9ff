import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";

import { runSample } from "./run-sample.mjs";

/**
 * @typedef {import("../scenarios/scenario.mjs").Scenario} Scenario
 * @typedef {import("../scenarios/scenario.mjs").Workload} Workload
 *
 * @typedef {object} Sample
 * @property {number} round from 1
 * @property {string} workload
 * @property {string} variant
 * @property {import("./run-sample.mjs").Figures} [figures]
 * @property {string} [error] why there are no figures
 */

/**
 * Takes one sample of every variant of every workload per round, in turn, never two at once. Every
 * other round goes backwards, so that a machine that slows down or speeds up favours nobody.
 *
 * @param {Scenario} scenario
 * @param {object} options
 * @param {number} options.rounds
 * @param {import("../scenarios/scenario.mjs").Pace} options.pace
 * @param {(sample: Sample) => void} options.onSample
 * @returns {Promise<readonly Sample[]>}
 */
export async function runScenario({ workloads, paces }, { rounds, pace, onSample }) {
  const turns = workloads.flatMap((workload) =>
    workload.variants.map((variant) => ({ workload, variant })),
  );
  /** @type {Sample[]} */
  const samples = [];
  const failed = new Set();
  const home = await mkdtemp(path.join(tmpdir(), "plugboard-bench-"));
  try {
    for (let round = 1; round <= rounds; round += 1) {
      for (const turn of round % 2 === 1 ? turns : turns.toReversed()) {
        // One that hangs costs minutes, and one that fails once has no median to show anyway.
        if (failed.has(turn)) continue;
        const { workload, variant } = turn;
        const options = { ...paces[pace], ...workload.options, ...variant.options };
        const outcome = await runSample({ measure: workload.measure, options }, home);
        const sample = { round, workload: workload.name, variant: variant.name, ...outcome };
        samples.push(sample);
        if ("error" in outcome) failed.add(turn);
        onSample(sample);
      }
    }
  } finally {
    await rm(home, { recursive: true, force: true });
  }
  return samples;
}
