import { openTarget } from "../servers/open-target.mjs";

/**
 * How long it takes from the start of this process, and from the import of the client, until the
 * tools of a server that the client starts are listed.
 *
 * @param {{ client: string }} options a file of `clients/` without its ending
 */
export async function measure({ client: file }) {
  const { target } = await openTarget("stdio");
  const cpuBefore = process.cpuUsage();
  const since = performance.now();
  /** @type {{ open: import("../clients/client.mjs").OpenEchoClient }} */
  const { open } = await import(`../clients/${file}.mjs`);
  const client = await open(target);
  // The clock of `performance` starts with the process.
  const readyMs = performance.now();
  const { user, system } = process.cpuUsage(cpuBefore);
  await client.close();
  return { readyMs, importedReadyMs: readyMs - since, readyCpuMs: (user + system) / 1_000 };
}
