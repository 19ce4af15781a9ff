import { floodTarget } from "../servers/open-target.mjs";
import { cpuMicrosSince } from "./measure-calls.mjs";

/** A client that reads slowly on purpose uses up no CPU time. */
const limitMs = 10_000;

/**
 * @typedef {object} FloodOptions
 * @property {string} client a file of `clients/` without its ending
 * @property {number} warmUpNotifications
 * @property {number} measuredCpuMs
 * @property {number} share of both: less than 1 for a quick look
 */

/**
 * What a notification costs when a server sends nothing else, as fast as it is read. The answer of a
 * call says how many the server wrote before it and comes behind them: when it is here, the client
 * has taken or dropped that many.
 *
 * @param {FloodOptions} options
 */
export async function measure({ client: file, warmUpNotifications, measuredCpuMs, share }) {
  /** @type {{ open: import("../clients/client.mjs").OpenEchoClient }} */
  const { open } = await import(`../clients/${file}.mjs`);
  const client = await open(floodTarget);
  const written = async () => {
    const count = Number(client.textOf(await client.call("")));
    if (Number.isNaN(count)) throw new Error("a call did not return a count");
    return count;
  };

  await written();
  const warmUpUntil = performance.now() + limitMs;
  let before = 0;
  while (before < warmUpNotifications * share && performance.now() < warmUpUntil)
    before = await written();
  const cpuBefore = process.cpuUsage();
  const since = performance.now();
  const isSpent = () =>
    cpuMicrosSince(cpuBefore) >= measuredCpuMs * 1_000 * share ||
    performance.now() - since > limitMs;
  let after = before;
  while (after === before || !isSpent()) after = await written();
  const notifications = after - before;
  const figures = {
    notifications,
    notificationsPerSecond: (notifications / (performance.now() - since)) * 1_000,
    cpuMicrosPerNotification: cpuMicrosSince(cpuBefore) / notifications,
  };
  await client.close();
  return figures;
}
