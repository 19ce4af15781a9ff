import { McpError } from "../../errors/mcp-error.ts";
import { isJsonObject } from "../../text/json-object.ts";

/** The JSON-RPC code for a method that the other side does not have. */
export const methodNotFound = -32_601;

/** The code of the JSON-RPC error that the server answered with; undefined for every other failure. */
export function rpcCodeOf(error: unknown): number | undefined {
  if (!McpError.is(error)) return undefined;
  const { rpc } = error.details;
  const code = isJsonObject(rpc) ? rpc["code"] : undefined;
  return typeof code === "number" ? code : undefined;
}
