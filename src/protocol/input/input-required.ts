import { createError } from "../../errors/families.ts";
import type { McpError } from "../../errors/mcp-error.ts";
import { isJsonObject, type JsonObject } from "../../text/json-object.ts";
import { type Exchange, invalidResult } from "../channel/channel-failures.ts";
import { findHandler, type InputHandler, type InputHandlers } from "../wire/input-handlers.ts";

/** More questions at once than any sensible tool asks. */
export const maxInputRequests = 32;

export interface InputQuestion {
  /** The server's name for the question; the answer goes back under it. */
  readonly key: string;
  readonly handler: InputHandler;
  readonly params: JsonObject;
}

/** The input that an unfinished result asks for before the request is repeated. */
export interface InputRequired {
  readonly questions: readonly InputQuestion[];
  /** Goes back exactly as it came. */
  readonly requestState: string | undefined;
}

export function isInputRequired(result: JsonObject): boolean {
  return result["resultType"] === "input_required";
}

/** Throws, before anybody is asked, when the result makes no sense or asks for what this client did not offer. */
export function readInputRequired(
  result: JsonObject,
  handlers: InputHandlers,
  exchange: Exchange,
): InputRequired {
  const { inputRequests = {}, requestState } = result;
  if (!isJsonObject(inputRequests))
    throw invalidResult("the input it asks for is not an object", exchange);
  if (requestState !== undefined && typeof requestState !== "string")
    throw invalidResult("its state is not a string", exchange);
  const entries = Object.entries(inputRequests);
  if (entries.length === 0 && requestState === undefined)
    throw invalidResult("it asks for input and names none", exchange);
  if (entries.length > maxInputRequests)
    throw invalidResult(`it asks for more than ${maxInputRequests} inputs at once`, exchange);
  const questions = entries.map(([key, entry]): InputQuestion => {
    const { method, params } = isJsonObject(entry) ? entry : {};
    const handler = findHandler(handlers, method);
    if (handler === undefined) throw notOffered(exchange);
    return { key, handler, params: isJsonObject(params) ? params : {} };
  });
  return { questions, requestState };
}

function notOffered({ serverName, method }: Exchange): McpError {
  return createError(
    "protocol_violation",
    `the server asks for input to finish ${method}, which this client did not offer`,
    { serverName, details: { method, resultType: "input_required" } },
  );
}
