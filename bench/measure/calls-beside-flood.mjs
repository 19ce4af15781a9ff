import { openHost } from "../clients/open-host.mjs";
import { floodTarget, openTarget } from "../servers/open-target.mjs";
import { measureWarm, warmUp } from "./measure-calls.mjs";

/**
 * @typedef {object} BesideFloodOptions
 * @property {string} client a file of `clients/` without its ending
 * @property {boolean} isFlooded whether the second server floods or merely stands there
 * @property {number} concurrency
 * @property {number} textBytes
 */

/**
 * Calls of one server while another one floods the same process.
 *
 * @param {BesideFloodOptions & import("./measure-calls.mjs").Duration} options
 */
export async function measure({ client: file, isFlooded, textBytes, concurrency, ...duration }) {
  const { target } = await openTarget("stdio");
  const host = await openHost(file, [target, floodTarget]);
  const client = await host.connect(0);
  const flooder = await host.connect(1);
  const written = async () => Number(flooder.textOf(await flooder.call("")));

  const text = "x".repeat(textBytes);
  const load = { text, expected: text, concurrency };
  await warmUp(client, load, duration);
  if (!isFlooded) {
    const figures = await measureWarm(client, load, duration);
    await host.close();
    return figures;
  }
  const since = performance.now();
  await written();
  // Once unmeasured, until the flood is no longer new to the compiler either.
  await measureWarm(client, load, duration);
  const figures = await measureWarm(client, load, duration);
  // The answer comes behind what was written before it, so that many have arrived.
  const notifications = await written();
  if (!(notifications > 0)) throw new Error("there was no flood");
  const notificationsPerSecond = (notifications / (performance.now() - since)) * 1_000;
  await host.close();
  return { ...figures, notificationsPerSecond };
}
