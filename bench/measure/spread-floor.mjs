import { openShared } from "../clients/floor.mjs";
import { openFleet } from "../servers/open-target.mjs";
import { measureEachCall } from "./growth.mjs";

/** As many as a host has to one origin, so that calls wait for a connection just as often. */
const connections = 40;

/**
 * What the kernel, Node and undici take of calls to one server and to all of them in turn: a hand-written loop
 * without a host.
 *
 * @param {import("./list-fleet.mjs").FleetSize & { measuredCpuMs: number, share: number }} options
 */
export async function measure({ servers, tools, scale, ...duration }) {
  const fleet = await openFleet({ servers: Math.ceil(servers * scale), tools });
  const { clients, close } = await openShared(fleet.targets, connections);
  const figures = await measureEachCall(clients, duration);
  await close();
  await fleet.close();
  return figures;
}
