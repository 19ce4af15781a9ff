import { McpError } from "../../errors/mcp-error.ts";
import { isJsonObject, type JsonObject } from "../../text/json-object.ts";

export type RequestId = string | number;

export function isRequestId(value: unknown): value is RequestId {
  return typeof value === "string" || typeof value === "number";
}

/** The JSON of a request around that of its params. `method` is one of the specification's, in need of no escapes. */
export function requestText(id: number, method: string, paramsText: string): string {
  return `{"jsonrpc":"2.0","id":${id},"method":"${method}","params":${paramsText}}`;
}

/** `params` with further members in `_meta`; members that are there already win. */
export function withMeta(params: JsonObject, meta: JsonObject): JsonObject {
  const given = params["_meta"];
  return { ...params, _meta: isJsonObject(given) ? { ...meta, ...given } : meta };
}

/** The JSON-RPC code for a method that the other side does not have. */
export const methodNotFound = -32_601;

/** The code of the JSON-RPC error that the server answered with; undefined for every other failure. */
export function rpcCodeOf(error: unknown): number | undefined {
  if (!McpError.is(error)) return undefined;
  const { rpc } = error.details;
  const code = isJsonObject(rpc) ? rpc["code"] : undefined;
  return typeof code === "number" ? code : undefined;
}
