import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";

import { listFleet } from "./list-fleet.mjs";
import { startWatch, watchLoop } from "./stopwatch.mjs";

/**
 * What it costs to list many tools and to write them to a store. The host is closed at once, which writes
 * everything: otherwise it is written a second later, behind whatever is measured then.
 *
 * @param {import("./list-fleet.mjs").FleetSize} size
 */
export async function measure(size) {
  const folder = await mkdtemp(path.join(tmpdir(), "plugboard-bench-kept-"));
  const { fleet, host, figures } = await listFleet(size, {
    storeFile: path.join(folder, "plugboard.db"),
  });
  const writing = startWatch();
  const { hold } = await watchLoop(() => host.close());
  const { cpuMs: writeCpuMs } = writing();
  await fleet.close();
  await rm(folder, { recursive: true });
  return { ...figures, writeCpuMs, writeHoldMs: hold.ms, writeHoldBusyMs: hold.busyMs };
}
