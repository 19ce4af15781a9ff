import type { Caller } from "../call/call-path.ts";
import type { HostEvent } from "../events/host-event.ts";
import type { ServerRegistry } from "../registry/server-registry.ts";

/**
 * Whether an event is any of this session's business. What other agents call, are allowed and are asked
 * is not, nor is a server, or a connection to it, that only others have.
 */
export function concerns(
  event: HostEvent,
  { agent, sessionId }: Pick<Caller, "agent" | "sessionId">,
  registry: ServerRegistry,
): boolean {
  if ("sessionId" in event && event.sessionId !== undefined) return event.sessionId === sessionId;
  if ("agent" in event && event.agent !== null && event.agent !== agent) return false;
  if (!("serverName" in event) || typeof event.serverName !== "string") return true;
  const owner = "owner" in event ? event.owner : undefined;
  const users = registry.find(event.serverName)?.users;
  // One that has just been removed is still spoken of.
  if (users === undefined) return owner === undefined || owner === null || owner === agent;
  return users.isVisibleTo(agent) && (owner === undefined || owner === users.ownerFor(agent));
}
