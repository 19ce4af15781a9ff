import { setTimeout as wait } from "node:timers/promises";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";

import { openHost } from "../clients/open-host.mjs";
import { openTarget, tinyTarget } from "../servers/open-target.mjs";
import { checkEcho } from "./check-echo.mjs";

const bytesPerMb = 1_000_000;
const atOnce = 10;

/**
 * @typedef {object} MemoryOptions
 * @property {string} client a file of `clients/` without its ending
 * @property {import("../servers/open-target.mjs").Target["kind"]} server
 * @property {number} connections
 */

/**
 * Memory of a process that knows many servers: with one of them connected, and what the others add.
 *
 * @param {MemoryOptions} options
 */
export async function measure({ client: file, server, connections }) {
  const { targets, close } = await openTargets(server, connections + 1);
  const host = await openHost(file, targets);
  await checkEcho(await host.connect(0));
  const base = await settledRss();
  for (let from = 1; from <= connections; from += atOnce) {
    const count = Math.min(atOnce, connections + 1 - from);
    const batch = Array.from({ length: count }, (_, index) => host.connect(from + index));
    const clients = await Promise.all(batch);
    const isLast = from + count > connections;
    if (isLast) await Promise.all(clients.map(checkEcho));
  }
  const full = await settledRss();
  await host.close();
  await close();
  return { baseMb: base / bytesPerMb, grownMb: (full - base) / bytesPerMb };
}

/** @param {MemoryOptions["server"]} kind @param {number} count */
async function openTargets(kind, count) {
  if (kind === "stdio")
    return {
      targets: Array.from({ length: count }, (_, index) => tinyTarget(index)),
      close: async () => {},
    };
  const { target, close } = await openTarget(kind);
  if (target.kind !== "http") throw new Error(`${kind} has no address`);
  const { url } = target;
  // Different addresses of one server: it answers the same under all of them.
  const targets = Array.from({ length: count }, (_, index) => ({ kind, url: `${url}/${index}` }));
  return { targets, close };
}

/**
 * The least of several readings, without what is only waiting to be collected or given back: when
 * that happens by itself is chance.
 */
async function settledRss() {
  setFlagsFromString("--expose-gc");
  const collect = runInNewContext("gc");
  let least = Infinity;
  for (let turn = 0; turn < 8; turn += 1) {
    await wait(100);
    collect();
    least = Math.min(least, process.memoryUsage.rss());
  }
  return least;
}
