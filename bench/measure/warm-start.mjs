import { mkdtemp, rm, stat } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";

import { runSample } from "../harness/run-sample.mjs";
import { tinyTarget } from "../servers/open-target.mjs";
import { startWatch } from "./stopwatch.mjs";

const toolsPerServer = 10;

/**
 * @typedef {object} WarmStartOptions
 * @property {string} client names Plugboard's, the only one with a store
 * @property {number} servers shell scripts of the older era
 */

/**
 * The CPU time of a program until it can offer tools that a program before it has listed: the import of the
 * package, a host with the same store, and its tools. No server is started for that.
 *
 * @param {WarmStartOptions & { folder?: string }} options with a folder, its store is warm
 */
export async function measure({ folder, ...options }) {
  if (folder !== undefined) return measureIn(folder, options);
  const fresh = await mkdtemp(path.join(tmpdir(), "plugboard-bench-warm-"));
  const manners = Array.from({ length: options.servers }, () => "legacy");
  try {
    await measureApart("start", { ...options, server: "tiny", manners, folder: fresh });
    return await measureApart("warm-start", { ...options, folder: fresh });
  } finally {
    await rm(fresh, { recursive: true, force: true });
  }
}

/** In a process of its own. @param {string} file of this folder @param {Record<string, unknown> & { folder: string }} options */
async function measureApart(file, options) {
  const outcome = await runSample({ measure: file, options }, options.folder);
  if ("error" in outcome) throw new Error(outcome.error);
  return outcome.figures;
}

/** @param {string} folder where `start` has left its store @param {WarmStartOptions} options */
async function measureIn(folder, { servers }) {
  const storeFile = path.join(folder, "plugboard.db");
  const startsFile = path.join(folder, "starts");
  const { size: startsBefore } = await stat(startsFile);
  const targets = Array.from({ length: servers }, (_, index) => tinyTarget(index, { startsFile }));

  const importing = startWatch();
  const { createEchoHost, openSession } = await import("../clients/plugboard.mjs");
  const { cpuMs: importCpuMs } = importing();
  const creating = startWatch();
  const host = await createEchoHost(targets, { storeFile });
  const { cpuMs: createCpuMs } = creating();
  const offering = startWatch();
  const { length: offered } = openSession(host).tools();
  const { cpuMs: toolsCpuMs } = offering();

  if (offered !== servers * toolsPerServer) throw new Error(`${offered} tools are known`);
  const { size: startsAfter } = await stat(startsFile);
  await host.close();
  return { importCpuMs, createCpuMs, toolsCpuMs, startsWhenListed: startsAfter - startsBefore };
}
