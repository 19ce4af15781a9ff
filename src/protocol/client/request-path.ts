import { createError } from "../../errors/families.ts";
import type { McpError } from "../../errors/mcp-error.ts";
import { type JsonObject, isJsonObject } from "../../text/json-object.ts";
import { serverText } from "../../text/untrusted/bounded-text.ts";
import { type Exchange, closedFailure, invalidResult } from "../channel/channel-failures.ts";
import type {
  OutgoingRequest,
  PendingRequest,
  ReadResult,
  SentRequest,
} from "../channel/pending-requests.ts";
import type { RpcChannel } from "../channel/rpc-channel.ts";
import type { Negotiated } from "../era/negotiate-era.ts";
import { isInputRequired } from "../input/input-required.ts";
import { InputRounds } from "../input/input-rounds.ts";
import { offersUrls, readUrlRequired } from "../input/url-required.ts";
import type { ProtocolOptions } from "../protocol-client.ts";

/** Brings messages to the channel; each implementation of the protocol has its own. */
export interface RequestSender {
  /** Resolves to what `read` makes of the result; rejects with an `McpError`. Never throws. */
  request<T>(request: OutgoingRequest, read: ReadResult<T>): Promise<T>;
  notify(method: string, params: JsonObject): Promise<void>;
}

export interface RequestPathParts {
  readonly channel: RpcChannel;
  readonly negotiated: Negotiated;
  readonly sender: RequestSender;
  readonly options: ProtocolOptions;
}

/**
 * The way of every request: nothing is sent that the server cannot do or after the end, and a result
 * is read when it is the end of the request, after all the input that takes.
 */
export class RequestPath {
  readonly #channel: RpcChannel;
  readonly #sender: RequestSender;
  readonly #serverName: string;
  readonly #isModern: boolean;
  readonly #rounds: InputRounds;
  /** The capability that the server lacks, for each method that cannot be used. */
  readonly #missing: ReadonlyMap<string, string>;

  constructor({ channel, negotiated, sender, options }: RequestPathParts) {
    const { serverName, limits, clock, inputHandlers: handlers = {} } = options;
    this.#channel = channel;
    this.#sender = sender;
    this.#serverName = serverName;
    this.#isModern = negotiated.era === "modern";
    this.#missing = missingCapabilities(negotiated.capabilities);
    const send = (leg: OutgoingRequest) => sender.request(leg, (result) => result);
    this.#rounds = new InputRounds({ serverName, limits, clock, handlers, send });
    if (!this.#isModern && offersUrls(handlers))
      channel.onrefusal = (request, error) => this.#refused(request, error);
  }

  isMissing(method: string): boolean {
    return this.#missing.has(method);
  }

  /**
   * A reader for `send` that hands `read` the end of a request: the result that is complete, with its
   * type in the modern era. To be made once, not for each request.
   */
  reader<T>(read: ReadResult<T>): ReadResult<T> {
    if (!this.#isModern) return read;
    const readEnd = (result: JsonObject, request: SentRequest): T | Promise<T> => {
      checkIsComplete(result, this.exchange(request.method));
      return read(result, request);
    };
    return (result, request) => {
      if (!isInputRequired(result)) return readEnd(result, request);
      const { method, params, options, sentAt } = request;
      const ended = { method, params, options, sentAt, tookInput: true };
      return this.#rounds.finish(result, request).then((last) => readEnd(last, ended));
    };
  }

  /** Never throws. */
  send<T>(request: OutgoingRequest, reader: ReadResult<T>): Promise<T> {
    const { method } = request;
    if (this.#channel.end !== undefined) return Promise.reject(this.#channel.end);
    const capability = this.#missing.get(method);
    if (capability !== undefined)
      return Promise.reject(unsentFailure(capability, this.exchange(method)));
    return this.#sender.request(request, reader);
  }

  /** Undefined unless a person can do something about the error. */
  #refused(request: PendingRequest, error: McpError): Promise<McpError> | undefined {
    const pages = request.options.purpose === undefined ? readUrlRequired(error) : undefined;
    return pages && this.#rounds.visit(error, pages, request);
  }

  exchange(method: string): Exchange {
    return { serverName: this.#serverName, method };
  }

  /** The connection is over. */
  end(error: McpError | undefined): void {
    this.#rounds.end(error ?? closedFailure(this.#serverName));
  }
}

/**
 * Throws unless a result of the modern era is the end of its request. Servers must say so; one that
 * says nothing means the same, as it did in every earlier revision.
 */
function checkIsComplete(result: JsonObject, exchange: Exchange): void {
  const { resultType = "complete" } = result;
  if (resultType === "complete") return;
  if (typeof resultType !== "string") throw invalidResult("its type is not a text", exchange);
  throw invalidResult(`its type "${serverText(resultType, 40)}" is unknown`, exchange);
}

const capabilityOfMethod: ReadonlyMap<string, string> = new Map([
  ["completion/complete", "completions"],
  ["logging/setLevel", "logging"],
  ["prompts/get", "prompts"],
  ["prompts/list", "prompts"],
  ["resources/list", "resources"],
  ["resources/read", "resources"],
  ["resources/subscribe", "resources"],
  ["resources/templates/list", "resources"],
  ["resources/unsubscribe", "resources"],
  ["tools/call", "tools"],
  ["tools/list", "tools"],
]);

/** For every method that needs something the server did not declare: what that is. */
function missingCapabilities(capabilities: JsonObject): ReadonlyMap<string, string> {
  const missing = new Map<string, string>();
  for (const [method, name] of capabilityOfMethod) {
    const declared = Object.hasOwn(capabilities, name) ? capabilities[name] : undefined;
    if (!isJsonObject(declared)) missing.set(method, name);
    else if (method === "resources/subscribe" && declared["subscribe"] !== true)
      missing.set(method, "resources.subscribe");
  }
  return missing;
}

/** The request was never sent: the server said at the start that it has no such thing. */
function unsentFailure(capability: string, { serverName, method }: Exchange): McpError {
  return createError(
    "rpc_error",
    `${method} was not sent: the server does not offer ${capability}`,
    { serverName, details: { method, capability } },
  );
}
