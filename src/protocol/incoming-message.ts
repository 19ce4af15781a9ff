import type { RpcError } from "../errors/mcp-error.ts";
import { isJsonObject, type JsonObject } from "./json-object.ts";

export type RequestId = string | number;

/** What a response says; `malformed` is an answer all the same, so that whoever waits can stop waiting. */
export type ResponseBody =
  | { readonly kind: "result"; readonly result: unknown }
  | { readonly kind: "error"; readonly error: RpcError }
  | { readonly kind: "malformed"; readonly reason: string };

export type IncomingMessage =
  | { readonly kind: "request"; readonly id: RequestId; readonly method: string }
  | {
      readonly kind: "notification";
      readonly method: string;
      readonly params?: JsonObject;
    }
  /** `id` is null when the server could not tell which request it answers. */
  | { readonly kind: "response"; readonly id: RequestId | null; readonly body: ResponseBody }
  | { readonly kind: "junk" };

const junk: IncomingMessage = { kind: "junk" };

/** Sorts one decoded message by its shape alone; it never throws and never looks into payloads. */
export function readIncoming(message: unknown): IncomingMessage {
  if (!isJsonObject(message)) return junk;
  const { method, id, params } = message;
  if (method === undefined) return readResponse(message);
  if (typeof method !== "string" || message["jsonrpc"] !== "2.0") return junk;
  if (id === undefined)
    return { kind: "notification", method, ...(isJsonObject(params) ? { params } : {}) };
  return isRequestId(id) ? { kind: "request", id, method } : junk;
}

function readResponse(message: JsonObject): IncomingMessage {
  const { id } = message;
  // Null stands for absent in what some serializers write; a null result alone is a result.
  const hasError = (message["error"] ?? null) !== null;
  const hasResult = hasError
    ? (message["result"] ?? null) !== null
    : Object.hasOwn(message, "result");
  if (!hasError && !hasResult) return junk;
  return {
    kind: "response",
    id: isRequestId(id) ? id : null,
    body: readBody(message, hasResult, hasError),
  };
}

function readBody(message: JsonObject, hasResult: boolean, hasError: boolean): ResponseBody {
  if (message["jsonrpc"] !== "2.0") return { kind: "malformed", reason: '"jsonrpc" is not "2.0"' };
  if (hasResult && hasError)
    return { kind: "malformed", reason: "it has both a result and an error" };
  if (hasResult) return { kind: "result", result: message["result"] };
  const { error } = message;
  if (!isJsonObject(error) || typeof error["code"] !== "number")
    return { kind: "malformed", reason: "its error has no code" };
  const text = typeof error["message"] === "string" ? error["message"] : "";
  const data = error["data"] === undefined ? {} : { data: error["data"] };
  return { kind: "error", error: { code: error["code"], message: text, ...data } };
}

export function isRequestId(value: unknown): value is RequestId {
  return typeof value === "string" || typeof value === "number";
}
