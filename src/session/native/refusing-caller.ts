import type { Caller } from "../../call/call-contract.ts";
import type { McpError } from "../../errors/mcp-error.ts";

/** A session none of whose calls begins: each ends as the outcome of `error`, with the events of every call. */
export function refusingCaller(session: Caller, error: McpError): Caller {
  return {
    agent: session.agent,
    sessionId: session.sessionId,
    human: session.human,
    onInvoked: session.onInvoked,
    resolve() {
      throw error;
    },
    askConsent: (target, args, call) => session.askConsent(target, args, call),
  };
}
