import type { McpError } from "../../errors/mcp-error.ts";
import { isJsonObject, type JsonObject } from "../../text/json-object.ts";
import { type Exchange, invalidResult, malformedAnswer, rpcFailure } from "./channel-failures.ts";

/**
 * Tells a response, whatever is wrong with it, from junk. Some serializers write null for an absent
 * `error`; a `result` of null is a result.
 */
export function isResponse(message: JsonObject): boolean {
  return (message["error"] ?? null) !== null || Object.hasOwn(message, "result");
}

/** The plain and by far most frequent case: `result` is an object and nothing else is said. */
export function isPlainResult(
  message: JsonObject,
): message is JsonObject & { readonly result: JsonObject } {
  return (
    message["error"] === undefined &&
    message["jsonrpc"] === "2.0" &&
    isJsonObject(message["result"])
  );
}

/** Why a response brings no result; undefined when its `result` is an object. */
export function answerFailure(message: JsonObject, exchange: Exchange): McpError | undefined {
  const { jsonrpc, result } = message;
  const error = message["error"] ?? undefined;
  if (jsonrpc !== "2.0") return malformedAnswer('"jsonrpc" is not "2.0"', exchange);
  if (error === undefined) {
    if (!Object.hasOwn(message, "result"))
      return malformedAnswer("it has neither a result nor an error", exchange);
    return isJsonObject(result) ? undefined : invalidResult("it is not an object", exchange);
  }
  if ((result ?? undefined) !== undefined)
    return malformedAnswer("it has both a result and an error", exchange);
  if (!isJsonObject(error) || typeof error["code"] !== "number")
    return malformedAnswer("its error has no code", exchange);
  const text = typeof error["message"] === "string" ? error["message"] : "";
  const data = error["data"] === undefined ? {} : { data: error["data"] };
  return rpcFailure({ code: error["code"], message: text, ...data }, exchange);
}
