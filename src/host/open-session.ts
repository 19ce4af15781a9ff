import { guardMethods } from "../errors/check-arguments.ts";
import { keepAliveWhileAwaited } from "../ports/keep-alive.ts";
import { AgentSection } from "../session/agent-section.ts";
import { AgentSession, type SessionParts } from "../session/agent-session.ts";
import { AgentContent, type SessionContent } from "../session/content/session-content.ts";
import { contentMethods, sessionMethods } from "../session/session-arguments.ts";
import type { Section, Session } from "../session/session.ts";

guardMethods(AgentSession.prototype, "session", sessionMethods);
guardMethods(AgentContent.prototype, "session.content", contentMethods);

// The path of a call keeps the process alive by itself, without one more promise; `execute` and `dispatch` are calls.
keepAliveWhileAwaited<Omit<Session, "call" | "execute" | "dispatch">>(AgentSession.prototype, {
  ready: true,
  loadTools: true,
  transaction: true,
  promptTemplate: true,
});
keepAliveWhileAwaited<SessionContent>(AgentContent.prototype, {
  resources: true,
  resourceTemplates: true,
  prompts: true,
  readResource: true,
  watchResource: true,
  prompt: true,
  complete: true,
});
keepAliveWhileAwaited<Section>(AgentSection.prototype, {
  loadTools: true,
  connect: true,
  disconnect: true,
  open: true,
});

/**
 * Makes a session that answers wrong types with `invalid_arguments`, and whose methods keep the process alive while they
 * are awaited. The only way from a host to the code of sessions, which commands without one do not load.
 */
export function openSession(
  options: ConstructorParameters<typeof AgentSession>[0],
  parts: SessionParts,
): AgentSession {
  return new AgentSession(options, parts);
}
