import type { McpError } from "../../errors/mcp-error.ts";
import type { JsonObject } from "../../text/json-object.ts";
import type { RequestOptions } from "../protocol-client.ts";
import type { ChainLink } from "./chain.ts";
import type { RequestStream } from "./request-stream.ts";

export interface RpcRequestOptions extends RequestOptions {
  /** On top of what the transport sends by itself, where each request has a stream of its own. */
  readonly headers?: Readonly<Record<string, string>> | undefined;
  /**
   * `handshake`: nothing is said about it when it is given up, because a server that has not been
   * greeted expects no such message. `subscription`: it stays open for as long as the server likes.
   */
  readonly purpose?: "handshake" | "subscription" | undefined;
}

/** What is asked of a server. */
export interface OutgoingRequest {
  readonly method: string;
  readonly params: JsonObject;
  readonly options: RpcRequestOptions;
  /** The JSON of `params`, where it is known. */
  readonly paramsText?: string | undefined;
}

/**
 * One request and all the channel keeps about it while it is unanswered. Exactly one of `succeed` and
 * `fail` is called, once, possibly before `RpcChannel.request` returns; neither after `abandon`.
 */
export abstract class RpcRequest implements OutgoingRequest, ChainLink<RpcRequest> {
  readonly method: string;
  readonly params: JsonObject;
  readonly options: RpcRequestOptions;
  readonly paramsText: string | undefined;
  // From here on the channel's own.
  id = 0;
  /** Its neighbours among those that wait. */
  previous: RpcRequest | undefined = undefined;
  next: RpcRequest | undefined = undefined;
  sentAt = 0;
  deadlineAt = Number.POSITIVE_INFINITY;
  lastProgress = Number.NEGATIVE_INFINITY;
  /** How many unhandled notifications had come before it was sent. */
  noiseBefore = 0;
  /** Its own, on a transport that has one for each request. */
  stream: RequestStream | AbortController | undefined = undefined;
  onAbort: (() => void) | undefined = undefined;
  /** The response as it came; only with `keepRaw`, where the transport can tell. */
  raw: string | undefined = undefined;

  constructor({ method, params, options, paramsText }: OutgoingRequest) {
    this.method = method;
    this.params = params;
    this.options = options;
    this.paramsText = paramsText;
  }

  abstract succeed(result: JsonObject): void;
  abstract fail(error: McpError): void;
}
