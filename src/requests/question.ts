import { createError } from "../errors/families.ts";
import type { McpError } from "../errors/mcp-error.ts";
import type { Human } from "../human/human.ts";
import type { ServerUsers } from "../registry/server-users.ts";

/** The request on whose behalf a server asks, as far as whoever answers has to know it. */
export interface QuestionOwner {
  /** Undefined for anything but the call of a tool. */
  readonly callId: string | undefined;
  readonly caller: {
    readonly agent: string;
    readonly sessionId: string;
    /** Who answers for this session; undefined when nobody does. */
    readonly human: Human | undefined;
  };
  readonly target: QuestionTarget | undefined;
  /**
   * Whether the call is over. Where it is known, it tells two calls apart that were given the same id: an
   * event only says that one of them is.
   */
  readonly isOver?: boolean;
  /** Aborted when the request is over; needed where there is no event to tell that. */
  readonly over?: AbortSignal;
}

/** What the request is about. */
export interface QuestionTarget {
  /** Undefined for anything but the call of a tool. */
  readonly tool: { readonly originalName: string } | undefined;
  /** Absent where there is no registry that knows it. */
  readonly server?: { readonly users: Pick<ServerUsers, "consentEpoch"> } | undefined;
}

/** One question on its way to an answer. */
export interface Asking {
  readonly serverName: string;
  /** Undefined when the question belongs to no call, or to one of several. */
  readonly owner: QuestionOwner | undefined;
  /** Who is to answer: the one of the call's session, else the host's. */
  readonly human: Human | undefined;
  /** Aborted when the answer is no longer wanted, and when its time is over. */
  readonly signal: AbortSignal;
}

/** What a person is told about where a question comes from. */
export function originOf({ serverName, owner }: Asking): {
  readonly serverName: string;
  readonly agent?: string;
  readonly toolName?: string;
} {
  if (owner === undefined) return { serverName };
  const { caller, target } = owner;
  const toolName = target?.tool?.originalName;
  return { serverName, agent: caller.agent, ...(toolName !== undefined && { toolName }) };
}

/**
 * The error of a malformed question, which nobody is asked. A server of the legacy era is told that its
 * parameters are invalid, in the modern era the call fails. `reason` must be safe to show.
 */
export function refuseQuestion(method: string, reason: string): McpError {
  return createError("protocol_violation", `${method} of the server was refused: ${reason}`, {
    details: { method, reason },
  });
}
