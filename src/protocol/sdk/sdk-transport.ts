import type { JSONRPCMessage, Transport } from "@modelcontextprotocol/client";

import type { McpError } from "../../errors/mcp-error.ts";
import type { Logger } from "../../ports/logger.ts";
import type { JsonObject } from "../../text/json-object.ts";
import { type Exchange, malformedAnswer, sendFailure } from "../channel/channel-failures.ts";
import {
  CallbackRequest,
  type OutgoingRequest,
  type PendingRequest,
  type RpcAnswer,
} from "../channel/pending-requests.ts";
import type { RpcChannel } from "../channel/rpc-channel.ts";
import { runHandler } from "../channel/run-handler.ts";
import type { RequestId } from "../wire/json-rpc.ts";

/**
 * The SDK checks modern results of methods it knows against schemas that lose a whole list to one
 * bad tool. Under a name it does not know it passes results through; the wire never sees the name.
 */
const alias = "plugboard:";

export function aliasOf(method: string): string {
  return `${alias}${method}`;
}

/** A result as the SDK passed it on, with the text that only the channel had. */
export interface SdkAnswer {
  readonly result: JsonObject;
  readonly raw: string | undefined;
}

export interface SdkTransportOptions {
  readonly serverName: string;
  readonly logger: Logger;
  /** Answers the client's sdkRequest handshake, which the server has seen already. */
  readonly initializeResult: JsonObject;
  /** The SDK refuses results of the modern era that do not say what they are. */
  readonly isModern: boolean;
}

/**
 * The negotiated channel as the transport of an SDK `Client`. Requests get ids of the channel. Their
 * callers depend on the SDK for results alone: a failure reaches them without it. Notifications and
 * requests of the server never pass: the channel has bounded and handled them already.
 */
export class SdkTransport implements Transport {
  onmessage?: Transport["onmessage"];
  onclose?: Transport["onclose"];
  onerror?: Transport["onerror"];

  readonly #channel: RpcChannel;
  readonly #options: SdkTransportOptions;
  /** The request that the SDK is about to send. */
  #sending: SdkRequest | undefined;

  constructor(channel: RpcChannel, options: SdkTransportOptions) {
    this.#channel = channel;
    this.#options = options;
  }

  get hasPerRequestStream(): boolean {
    return this.#channel.hasPerRequestStream;
  }

  start(): Promise<void> {
    return Promise.resolve();
  }

  async send(message: JSONRPCMessage): Promise<void> {
    if (!("method" in message)) return;
    const { method, params = {} } = message;
    if (!("id" in message)) {
      if (method !== "notifications/initialized") await this.#channel.notify(method, params);
    } else if (method === "initialize") {
      this.#deliver(message.id, { ok: true, result: this.#options.initializeResult });
    } else {
      this.#request(message.id, method, params);
    }
  }

  close(): Promise<void> {
    return this.#channel.close();
  }

  /**
   * Settles as the promise of `ask`, which makes the SDK send `request` before it returns. Rejects with
   * an `McpError` when the channel says why there is no result or the SDK drops what it is given, and
   * else with what the SDK says.
   */
  exchange(request: OutgoingRequest, ask: () => Promise<JsonObject>): Promise<SdkAnswer> {
    const sdkRequest = new SdkRequest(request);
    this.#sending = sdkRequest;
    try {
      ask().then(
        (result) => sdkRequest.succeed(result),
        (error: unknown) => sdkRequest.fail(error),
      );
    } catch (error) {
      sdkRequest.fail(error);
    } finally {
      this.#sending = undefined;
    }
    if (sdkRequest.sent === undefined)
      sdkRequest.failUnlessOverSoon(() =>
        sendFailure(new Error("the SDK did not send it"), this.#exchangeOf(request)),
      );
    return sdkRequest.promise;
  }

  #request(id: RequestId, aliased: string, params: JsonObject): void {
    const sdkRequest = this.#sending;
    const method = aliased.startsWith(alias) ? aliased.slice(alias.length) : aliased;
    const request = { method, params, options: sdkRequest?.request.options ?? {} };
    const sent = new CallbackRequest(request, (answer) => {
      if (sdkRequest !== undefined) this.#settle(sdkRequest, id, answer);
      this.#deliver(id, answer);
    });
    if (sdkRequest !== undefined) sdkRequest.sent = sent;
    this.#channel.request(sent);
  }

  /** From here on the channel's deadline no longer holds: the request has been answered. */
  #settle(sdkRequest: SdkRequest, id: RequestId, answer: RpcAnswer): void {
    if (!answer.ok) return sdkRequest.fail(answer.error);
    const { logger, serverName } = this.#options;
    sdkRequest.failUnlessOverSoon(() => {
      const reason = "the SDK's client does not accept it";
      const error = malformedAnswer(reason, this.#exchangeOf(sdkRequest.request));
      // Otherwise the SDK would wait on, and its timer would keep the process alive.
      runHandler(() => this.#deliver(id, { ok: false, error }), logger, serverName);
      return error;
    });
  }

  #exchangeOf({ method }: OutgoingRequest): Exchange {
    return { serverName: this.#options.serverName, method };
  }

  #deliver(id: RequestId, answer: RpcAnswer): void {
    if (!answer.ok) {
      const error = { code: -32_000, message: answer.error.message };
      this.onmessage?.({ jsonrpc: "2.0", id, error });
      return;
    }
    const { result } = answer;
    const typed = this.#options.isModern ? { resultType: "complete", ...result } : result;
    this.onmessage?.({ jsonrpc: "2.0", id, result: typed });
  }
}

/** A request on its way through the SDK, and the promise that its caller holds. */
class SdkRequest {
  readonly request: OutgoingRequest;
  readonly promise: Promise<SdkAnswer>;
  /** The request as the channel keeps it; undefined until the SDK has sent it. */
  sent: PendingRequest | undefined;
  #resolve!: (answer: SdkAnswer) => void;
  #reject!: (error: unknown) => void;
  #isOver = false;

  constructor(request: OutgoingRequest) {
    this.request = request;
    this.promise = new Promise((resolve, reject) => {
      this.#resolve = resolve;
      this.#reject = reject;
    });
  }

  succeed(result: JsonObject): void {
    this.#isOver = true;
    this.#resolve({ result, raw: this.sent?.raw });
  }

  fail(error: unknown): void {
    this.#isOver = true;
    this.#reject(error);
  }

  /**
   * The SDK handles a request or an answer at once or in promises: when the event loop turns and the
   * request has not been settled, it never will be.
   */
  failUnlessOverSoon(failure: () => McpError): void {
    setImmediate(() => {
      if (!this.#isOver) this.fail(failure());
    });
  }
}
