import type {
  CalledTool,
  Caller,
  CallTarget,
  ConsentCall,
  ToolArguments,
} from "../../call/call-contract.ts";
import type { McpError } from "../../errors/mcp-error.ts";
import type { ToolInvoked } from "../../events/host-event.ts";
import type { Human } from "../../human/human.ts";
import type { StateDraft } from "../state/state-draft.ts";

/** A session inside a call or a transaction: the same agent with the same rights, but what its tools write is a draft. */
export class DraftCaller implements Caller {
  readonly draft: StateDraft;
  readonly #session: Caller;

  constructor(session: Caller, draft: StateDraft) {
    this.#session = session;
    this.draft = draft;
  }

  get agent(): string {
    return this.#session.agent;
  }

  get sessionId(): string {
    return this.#session.sessionId;
  }

  get human(): Human | undefined {
    return this.#session.human;
  }

  get onInvoked(): ((event: ToolInvoked) => void) | undefined {
    return this.#session.onInvoked;
  }

  resolve(called: CalledTool, signal: AbortSignal | undefined): CallTarget | Promise<CallTarget> {
    return this.#session.resolve(called, signal);
  }

  askConsent(target: CallTarget, args: ToolArguments, call: ConsentCall): Promise<boolean> {
    return this.#session.askConsent(target, args, call);
  }
}

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
