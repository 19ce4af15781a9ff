import type { JsonObject } from "../../text/json-object.ts";
import { type Exchange, invalidResult } from "../channel/channel-failures.ts";
import { serverText } from "../wire/server-text.ts";

/**
 * Throws unless a result of the modern era is the end of its request. Servers must say so; one that
 * says nothing means the same, as it did in every earlier revision.
 */
export function checkIsComplete(result: JsonObject, exchange: Exchange): void {
  const { resultType = "complete" } = result;
  if (resultType === "complete") return;
  if (typeof resultType !== "string") throw invalidResult("its type is not a text", exchange);
  throw invalidResult(`its type "${serverText(resultType, 40)}" is unknown`, exchange);
}
