import type { JSONRPCMessage } from "@modelcontextprotocol/client";

import type { RequestId } from "./request-id.ts";

const methodNotFound = -32_601;

/** The answer to a request of the server: a `ping` is alive, everything else is not offered. */
export function answerServerRequest(request: {
  readonly id: RequestId;
  readonly method: string;
}): JSONRPCMessage {
  const { id, method } = request;
  if (method === "ping") return { jsonrpc: "2.0", id, result: {} };
  return { jsonrpc: "2.0", id, error: { code: methodNotFound, message: "Method not found" } };
}
