import { setTimeout as wait } from "node:timers/promises";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";

const bytesPerMb = 1_000_000;

/**
 * The least of several readings of this process's memory, without what is only waiting to be collected
 * or given back: when that happens by itself is chance.
 *
 * @param {number} [readings] ten in a second
 */
export async function settledRssMb(readings = 8) {
  setFlagsFromString("--expose-gc");
  const collect = runInNewContext("gc");
  let least = Infinity;
  for (let reading = 0; reading < readings; reading += 1) {
    await wait(100);
    collect();
    least = Math.min(least, process.memoryUsage.rss());
  }
  return least / bytesPerMb;
}
