import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";

import { openHost } from "../clients/open-host.mjs";
import { openTarget } from "../servers/open-target.mjs";

/**
 * How long it takes from the start of this process, and from the import of the client, until the
 * tools of a server that the client starts are listed.
 *
 * @param {{ client: string }} options a file of `clients/` without its ending
 */
export async function measure({ client: file }) {
  const { target } = await openTarget("stdio");
  const folder = await mkdtemp(path.join(tmpdir(), "plugboard-bench-ready-"));
  try {
    const cpuBefore = process.cpuUsage();
    const since = performance.now();
    const host = await openHost(file, [target], { storeFile: path.join(folder, "plugboard.db") });
    await host.connect(0);
    host.countTools?.();
    // The clock of `performance` starts with the process.
    const readyMs = performance.now();
    const { user, system } = process.cpuUsage(cpuBefore);
    await host.close();
    return { readyMs, importedReadyMs: readyMs - since, readyCpuMs: (user + system) / 1_000 };
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}
