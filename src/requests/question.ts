import { createError } from "../errors/families.ts";
import type { McpError } from "../errors/mcp-error.ts";
import type { Human } from "../human/human.ts";
import type { RequestOwner } from "../protocol/wire/request-owner.ts";

/** One question on its way to an answer. */
export interface Asking {
  readonly serverName: string;
  /** Undefined when the question belongs to no call, or to one of several. */
  readonly owner: RequestOwner | undefined;
  /** The person of the owner's session; without an owner, the host's. */
  readonly human: Human | undefined;
  /** Aborted when the answer is no longer wanted, when its time is up and when its call is over. */
  readonly signal: AbortSignal;
}

/** Tells a person where a question comes from. */
export function questionOrigin({ serverName, owner }: Asking): {
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
