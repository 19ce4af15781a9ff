import type { Human } from "../../human/human.ts";

/**
 * On whose behalf a request is made. The protocol reads nothing of it: it hands the owner to the handler
 * that answers a question of the server about the request.
 */
export interface RequestOwner {
  /** Undefined for anything but the call of a tool. */
  readonly callId: string | undefined;
  readonly caller: {
    readonly agent: string;
    readonly sessionId: string;
    /** Who answers for this session; undefined when nobody does. */
    readonly human: Human | undefined;
  };
  /** What the request is about. */
  readonly target:
    | {
        /** Undefined for anything but the call of a tool. */
        readonly tool: { readonly originalName: string } | undefined;
        /** Absent where no registry knows the server. */
        readonly server?: { readonly consent: ConsentEpochs } | undefined;
      }
    | undefined;
  /** Set by `endSignal` and `endRequest`, and by nobody else; undefined at first. */
  end: AbortController | undefined;
}

interface ConsentEpochs {
  /** Changes when consent that the agent gave the server before no longer counts. */
  epoch(agent: string): number;
}

let ended: AbortController | undefined;

/** The signal that aborts when the request is over. It is made for the first question: most requests have none. */
export function endSignal(owner: RequestOwner): AbortSignal {
  owner.end ??= new AbortController();
  return owner.end.signal;
}

/**
 * Withdraws the questions about a request. Whoever made the request calls it when the request is over:
 * in the legacy era the server does not withdraw them itself.
 */
export function endRequest(owner: RequestOwner): void {
  if (owner.end !== undefined) owner.end.abort();
  else if (ended === undefined) {
    ended = owner.end = new AbortController();
    ended.abort();
  } else owner.end = ended;
}
