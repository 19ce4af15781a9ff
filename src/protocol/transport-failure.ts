import type { JSONRPCMessage } from "@modelcontextprotocol/client";

import type { McpError } from "../errors/mcp-error.ts";

/** JSON-RPC's "internal error", for whoever reads such a message without knowing `failureOf`. */
const internalError = -32_603;

// Kept beside the message, not in it: no server can send one that is taken for ours.
const failures = new WeakMap<object, McpError>();

/**
 * An answer to request `id` that the transport makes up because the server's will never come. For
 * transports whose `send` has already succeeded by then; the others simply reject it.
 */
export function transportFailure(id: string | number, failure: McpError): JSONRPCMessage {
  const { code, message } = failure;
  const answer: JSONRPCMessage = {
    jsonrpc: "2.0",
    id,
    error: { code: internalError, message, data: { plugboard: code } },
  };
  failures.set(answer, failure);
  return answer;
}

/** The failure behind an answer made by `transportFailure`; undefined for everything a server sent. */
export function failureOf(message: unknown): McpError | undefined {
  return typeof message === "object" && message !== null ? failures.get(message) : undefined;
}
