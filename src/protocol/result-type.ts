import { type Exchange, invalidResult } from "./channel-failures.ts";
import type { JsonObject } from "./json-object.ts";
import { serverText } from "./server-text.ts";

/** Throws unless a result of the modern era says that it is the end of its request. */
export function checkIsComplete(result: JsonObject, exchange: Exchange): void {
  const { resultType } = result;
  if (resultType === "complete") return;
  if (typeof resultType !== "string")
    throw invalidResult("it does not say that it is complete", exchange);
  throw invalidResult(`its type "${serverText(resultType, 40)}" is unknown`, exchange);
}
