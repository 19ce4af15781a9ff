import { openHost } from "../clients/open-host.mjs";
import { openTarget, tinyTarget } from "../servers/open-target.mjs";
import { checkEcho } from "./check-echo.mjs";
import { settledRssMb } from "./settled-rss.mjs";

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
  const base = await settledRssMb();
  for (let from = 1; from <= connections; from += atOnce) {
    const count = Math.min(atOnce, connections + 1 - from);
    const batch = Array.from({ length: count }, (_, index) => host.connect(from + index));
    const clients = await Promise.all(batch);
    const isLast = from + count > connections;
    if (isLast) await Promise.all(clients.map(checkEcho));
  }
  const full = await settledRssMb();
  await host.close();
  await close();
  return { baseMb: base, grownMb: full - base };
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
