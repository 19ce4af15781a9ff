import { randomUUID } from "node:crypto";

import { checkArguments, either, number, object, text } from "../../errors/check-arguments.ts";
import { createError } from "../../errors/families.ts";
import type { McpError, RpcError } from "../../errors/mcp-error.ts";
import { isJsonObject, type JsonObject } from "../../text/json-object.ts";
import { isRequestId } from "./json-rpc.ts";

const messageId = either(text, number);

interface MessageFields {
  readonly method?: string;
  readonly params?: JsonObject;
  readonly result?: unknown;
  readonly error?: RpcError;
  readonly id?: string | number;
}

/**
 * One JSON-RPC 2.0 message as a value. A field that is absent is no property at all, so a response
 * with `result: null` still is one, and `toJson` writes exactly what is there.
 */
export class TransportMessage implements MessageFields {
  readonly jsonrpc = "2.0";
  declare readonly method?: string;
  declare readonly params?: JsonObject;
  declare readonly result?: unknown;
  declare readonly error?: RpcError;
  declare readonly id?: string | number;

  private constructor(fields: MessageFields) {
    for (const [name, value] of Object.entries(fields))
      Object.defineProperty(this, name, { value, enumerable: true });
  }

  /** A request with a fresh UUID; servers of the first days fail without `params`, so it is always there. */
  static request(method: string, params: JsonObject = {}): TransportMessage {
    checkArguments("TransportMessage.request", { method: text, params: object }, [method, params]);
    return new TransportMessage({ method, params, id: randomUUID() });
  }

  static response(id: string | number, result: unknown): TransportMessage {
    checkArguments("TransportMessage.response", { id: messageId }, [id]);
    return new TransportMessage({ result: result ?? null, id });
  }

  static errorResponse(
    id: string | number,
    code: number,
    message: string,
    data?: unknown,
  ): TransportMessage {
    const shapes = { id: messageId, code: number, message: text };
    checkArguments("TransportMessage.errorResponse", shapes, [id, code, message]);
    const error = data === undefined ? { code, message } : { code, message, data };
    return new TransportMessage({ error, id });
  }

  /** Empty `params` are left out: some servers refuse `notifications/initialized` with any. */
  static notification(method: string, params: JsonObject = {}): TransportMessage {
    const shapes = { method: text, params: object };
    checkArguments("TransportMessage.notification", shapes, [method, params]);
    return new TransportMessage(Object.keys(params).length === 0 ? { method } : { method, params });
  }

  /** Throws `protocol_violation` for a text that is not one JSON-RPC 2.0 message; unknown members are dropped. */
  static fromJson(raw: string): TransportMessage {
    checkArguments("TransportMessage.fromJson", { raw: text }, [raw]);
    let value: unknown;
    try {
      value = JSON.parse(raw);
    } catch (cause) {
      throw notAMessage("it is not JSON", cause);
    }
    if (!isJsonObject(value)) throw notAMessage("it is not an object");
    if (value["jsonrpc"] !== "2.0") throw notAMessage('"jsonrpc" is not "2.0"');
    return new TransportMessage({
      ...readMember(value, "method", (method) => typeof method === "string"),
      ...readMember(value, "params", isJsonObject),
      ...(Object.hasOwn(value, "result") ? { result: value["result"] } : {}),
      ...readMember(value, "error", isRpcError),
      ...readMember(value, "id", isRequestId),
    });
  }

  get isRequest(): boolean {
    return Object.hasOwn(this, "method") && Object.hasOwn(this, "id");
  }

  get isResponse(): boolean {
    return Object.hasOwn(this, "result") || Object.hasOwn(this, "error");
  }

  /** One line: a line break inside a string is escaped by JSON itself. Throws `invalid_arguments` for what JSON cannot hold. */
  toJson(): string {
    try {
      return JSON.stringify(this);
    } catch (cause) {
      throw createError("invalid_arguments", "the message cannot be written as JSON", { cause });
    }
  }
}

/** Null means absent: serializers that cannot leave a member out write it that way. */
function readMember(
  message: JsonObject,
  name: string,
  isValid: (value: unknown) => boolean,
): MessageFields {
  const value = Object.hasOwn(message, name) ? message[name] : null;
  if (value === null) return {};
  if (!isValid(value)) throw notAMessage(`"${name}" has the wrong type`);
  return { [name]: value };
}

function isRpcError(value: unknown): boolean {
  return (
    isJsonObject(value) && typeof value["code"] === "number" && typeof value["message"] === "string"
  );
}

function notAMessage(reason: string, cause?: unknown): McpError {
  return createError("protocol_violation", `this is no JSON-RPC 2.0 message: ${reason}`, { cause });
}
