import { mkdtemp, rm, stat, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";

import { openHost } from "../clients/open-host.mjs";
import { runSample } from "../harness/run-sample.mjs";
import { nodeTarget, tinyTarget } from "../servers/open-target.mjs";
import { checkEcho } from "./check-echo.mjs";
import { cpuMicrosSince } from "./measure-calls.mjs";

/** How to reach one of several servers, and how many tools it has. */
const kinds = {
  tiny: { targetOf: tinyTarget, tools: 10 },
  node: { targetOf: nodeTarget, tools: 5 },
};

/**
 * @typedef {object} StartOptions
 * @property {string} client a file of `clients/` without its ending
 * @property {keyof typeof kinds} server
 * @property {readonly import("../servers/open-target.mjs").Manner[]} manners one server for each
 * @property {boolean} [hasStore] false: nothing is kept for the next time
 * @property {boolean} [isSecondTime] a process before this one has used the same servers
 */

/**
 * How long it takes until the tools of several servers are listed, and until each has answered a call,
 * and how many processes that took.
 *
 * @param {StartOptions & { folder?: string }} options with a folder, what was learnt in it is known
 */
export async function measure({ folder, isSecondTime = false, ...options }) {
  if (folder !== undefined) return measureIn(folder, options);
  const fresh = await mkdtemp(path.join(tmpdir(), "plugboard-bench-start-"));
  try {
    if (!isSecondTime) return await measureIn(fresh, options);
    await measureApart(fresh, options);
    return await measureApart(fresh, options);
  } finally {
    await rm(fresh, { recursive: true, force: true });
  }
}

/** In a process of its own, whose clock starts with it. @param {string} folder @param {StartOptions} options */
async function measureApart(folder, options) {
  const outcome = await runSample({ measure: "start", options: { ...options, folder } }, folder);
  if ("error" in outcome) throw new Error(outcome.error);
  return outcome.figures;
}

/** @param {string} folder @param {StartOptions} options */
async function measureIn(folder, { client: file, server, manners, hasStore = true }) {
  const { targetOf, tools } = kinds[server];
  const storeFile = path.join(folder, "plugboard.db");
  const startsFile = path.join(folder, "starts");
  await writeFile(startsFile, "", { flag: "a" });
  const startsBefore = (await stat(startsFile)).size;
  const countStarts = async () => (await stat(startsFile)).size - startsBefore;
  const targets = manners.map((manner, index) => targetOf(index, { manner, startsFile }));

  // Loaded before the clock starts: what that takes is in the figure from the start of the process.
  await import(`../clients/${file}.mjs`);
  const cpuBefore = process.cpuUsage();
  const since = performance.now();
  const host = await openHost(file, targets, hasStore ? { storeFile } : {});
  const clients = await Promise.all(
    manners.map((manner, index) => host.connect(index, manner === "modern" ? "modern" : "legacy")),
  );
  const listed = host.countTools?.() ?? clients.length * tools;
  const readyMs = performance.now();
  const cpuMicros = cpuMicrosSince(cpuBefore);
  const readyCpuMicros = cpuMicrosSince({ user: 0, system: 0 });
  const startsWhenListed = await countStarts();
  if (listed !== clients.length * tools) throw new Error(`${listed} tools are listed`);

  const calledFrom = performance.now();
  await Promise.all(clients.map(checkEcho));
  const firstCallsMs = performance.now() - calledFrom;
  const starts = await countStarts();
  await host.close();
  return {
    readyMs,
    readyCpuMs: readyCpuMicros / 1_000,
    listedMs: readyMs - since,
    listedCpuMs: cpuMicros / 1_000,
    usableMs: readyMs - since + firstCallsMs,
    startsWhenListed,
    startsPerServer: starts / clients.length,
  };
}
