import type { Naming } from "../catalog/tool-names.ts";
import type { Human } from "../human/human.ts";
import { AgentSession, type SessionParts } from "../session/agent-session.ts";
import type { SessionOptions } from "./host.ts";

/** What a session takes from its host where its own options say nothing. */
export interface SessionHome extends SessionParts {
  readonly naming: Naming;
  readonly human: Human | undefined;
}

export function openSession(options: SessionOptions, home: SessionHome): AgentSession {
  home.requests.introduce(options.human);
  return new AgentSession(
    {
      agent: options.agent ?? "main",
      level: options.level,
      capabilities: options.capabilities,
      human: options.human ?? home.human,
      naming: options.naming ?? home.naming,
      pending: options.pending ?? "list",
      resourceTools: options.resourceTools ?? false,
      history: options.history ?? false,
    },
    home,
  );
}
