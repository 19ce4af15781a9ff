import { createEchoHost, failureOf, openSession } from "../clients/plugboard.mjs";
import { openFleet } from "../servers/open-target.mjs";
import { startWatch, timeOnce, watchLoop } from "./stopwatch.mjs";

/**
 * @typedef {object} FleetSize
 * @property {number} servers
 * @property {number} tools of each server
 * @property {number} scale of all counts: less than 1 for a quick look
 */

/**
 * Creates a host with many servers, connects them all, lists their tools, and gives them out once.
 *
 * @param {FleetSize} size
 * @param {import("../clients/client.mjs").HostOptions} [options]
 */
export async function listFleet({ servers, tools, scale }, options) {
  const fleet = await openFleet({
    servers: Math.ceil(servers * scale),
    tools: Math.max(Math.ceil(tools * scale), 20),
  });

  const creating = startWatch();
  const host = await createEchoHost(fleet.targets, options);
  const { cpuMs: createCpuMs } = creating();
  // An event that nobody wants is not even built.
  host.on("*", () => {});
  const session = openSession(host);
  const { result, hold } = await watchLoop(async () => {
    const connecting = startWatch();
    const states = await session.ready();
    const { ms: readyMs, cpuMs: readyCpuMs } = connecting();
    const failure = Object.values(states).map(failureOf).find(Boolean);
    if (failure !== undefined) throw failure;
    return { readyMs, readyCpuMs, firstToolsMs: timeOnce(() => session.tools()) };
  });

  const { length } = session.tools();
  if (length !== fleet.toolCount)
    throw new Error(`${length} of ${fleet.toolCount} tools are listed`);
  const figures = { createCpuMs, ...result, holdMs: hold.ms, holdBusyMs: hold.busyMs };
  return { fleet, host, session, figures };
}
