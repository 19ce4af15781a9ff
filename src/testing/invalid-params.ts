import { ProtocolError, ProtocolErrorCode } from "@modelcontextprotocol/server";

/** The JSON-RPC error -32602, for what a request names and the server does not have. */
export function invalidParams(message: string): ProtocolError {
  return new ProtocolError(ProtocolErrorCode.InvalidParams, message);
}
