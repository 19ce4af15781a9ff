import type { HostEvent, HostEventOf, HostEventType } from "../../events/host-event.ts";
import type { ServerRegistry } from "../../registry/server-registry.ts";
import type { ToolJudge } from "./tool-judge.ts";

/** The session that would hear of something. */
export interface Listener {
  readonly agent: string;
  readonly sessionId: string;
  readonly judge: Pick<ToolJudge, "sees">;
  readonly registry: Pick<ServerRegistry, "visibilityOf">;
}

type Rule<Event> = (event: Event, listener: Listener) => boolean;
type Part<Event> = (event: Event, listener: Listener) => Event | undefined;

/**
 * Gives what a session hears of an event, undefined for nothing. What other agents call, are allowed and
 * are asked is not told, nor is a server, or a connection to it, that only others have.
 */
export function partForSession(event: HostEvent, listener: Listener): HostEvent | undefined {
  const part = parts[event.type] as Part<HostEvent>;
  return part(event, listener);
}

const ofOwnSession: Rule<{ readonly sessionId: string }> = (event, { sessionId }) =>
  event.sessionId === sessionId;

const ofSeenServer: Rule<{ readonly serverName: string }> = ({ serverName }, { judge }) =>
  judge.sees(serverName);

/** Passes events of the connection that the agent uses; the owner null stands for the shared connection. */
const ofUsedConnection: Rule<{ readonly serverName: string; readonly owner: string | null }> = (
  { serverName, owner },
  { agent, judge, registry },
) => {
  const isOwner = registry.visibilityOf(serverName)?.isOwner(agent) === true;
  return judge.sees(serverName) && owner === (isOwner ? agent : null);
};

/** Null stands for all agents, or all servers. */
const ofRight: Rule<{ readonly agent: string | null; readonly serverName: string | null }> = (
  { agent, serverName },
  listener,
) =>
  (agent === null || agent === listener.agent) &&
  (serverName === null || listener.judge.sees(serverName));

/** Passes a question to the session of its call; without a call, to the agents that use its connection. */
const ofQuestion: Rule<HostEventOf<"request-asked" | "request-answered">> = (event, listener) =>
  event.sessionId === undefined
    ? ofUsedConnection(event, listener)
    : event.sessionId === listener.sessionId;

/** Passes warnings of the session or of a visible server; any other warning is the host's alone. */
const ofWarning: Rule<HostEventOf<"warning">> = ({ serverName, sessionId }, listener) => {
  if (sessionId !== undefined) return sessionId === listener.sessionId;
  return serverName !== undefined && listener.judge.sees(serverName);
};

const seenServers: Part<HostEventOf<"servers-changed">> = (event, { judge }) => {
  const seen = (names: readonly string[]) => names.filter((name) => judge.sees(name));
  const [added, removed, changed] = [seen(event.added), seen(event.removed), seen(event.changed)];
  const isNothing = added.length + removed.length + changed.length === 0;
  return isNothing ? undefined : { ...event, added, removed, changed };
};

function whole<Event>(
  rule: Rule<Event>,
): <It extends Event>(event: It, listener: Listener) => It | undefined {
  return (event, listener) => (rule(event, listener) ? event : undefined);
}

/** An event that is missing here does not compile: who hears it has to be decided. */
const parts: { readonly [Type in HostEventType]: Part<HostEventOf<Type>> } = {
  "server-state": whole(ofUsedConnection),
  "server-log": whole(ofUsedConnection),
  "servers-changed": seenServers,
  "tools-changed": whole(ofSeenServer),
  "tool-quarantined": whole(ofSeenServer),
  "tool-accepted": whole(ofSeenServer),
  "launch-asked": whole(ofSeenServer),
  "launch-approved": whole(ofSeenServer),
  "launch-denied": whole(ofSeenServer),
  "launch-revoked": whole(ofSeenServer),
  "signed-in": whole(ofSeenServer),
  "signed-out": whole(ofSeenServer),
  warning: whole(ofWarning),
  "call-start": whole(ofOwnSession),
  "call-progress": whole(ofOwnSession),
  "call-end": whole(ofOwnSession),
  "tool-invoked": whole(ofOwnSession),
  "consent-asked": whole(ofOwnSession),
  "consent-granted": whole(ofOwnSession),
  "consent-denied": whole(ofOwnSession),
  "consent-mode-set": whole(ofRight),
  "consent-ended": whole(ofRight),
  "grant-added": whole(ofRight),
  "grant-revoked": whole(ofRight),
  "request-asked": whole(ofQuestion),
  "request-answered": whole(ofQuestion),
  "state-changed": whole(ofOwnSession),
  "transaction-end": whole(ofOwnSession),
};
