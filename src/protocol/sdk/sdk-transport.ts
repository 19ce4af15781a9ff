import type { JSONRPCMessage, Transport } from "@modelcontextprotocol/client";

import type { Logger } from "../../ports/logger.ts";
import type { JsonObject } from "../../text/json-object.ts";
import { CallbackRequest, type RpcAnswer } from "../channel/callback-request.ts";
import { type Exchange, malformedAnswer, sendFailure } from "../channel/channel-failures.ts";
import type { RpcChannel } from "../channel/rpc-channel.ts";
import type { OutgoingRequest } from "../channel/rpc-request.ts";
import { contain } from "../channel/run-handler.ts";
import type { JsonObject } from "../wire/json-object.ts";
import type { RequestId } from "../wire/request-id.ts";
import { type SdkAnswer, SdkErrand } from "./sdk-errand.ts";

/**
 * The SDK checks modern results of methods it knows against schemas that lose a whole list to one
 * bad tool. Under a name it does not know it passes results through; the wire never sees the name.
 */
const alias = "plugboard:";

export function aliasOf(method: string): string {
  return `${alias}${method}`;
}

export interface SdkTransportOptions {
  readonly serverName: string;
  readonly logger: Logger;
  /** Answers the client's own handshake, which the server has seen already. */
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
  /** Whose request the SDK sends next. */
  #errand: SdkErrand | undefined;

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
    const errand = new SdkErrand(request);
    this.#errand = errand;
    try {
      ask().then(
        (result) => errand.succeed(result),
        (error: unknown) => errand.fail(error),
      );
    } catch (error) {
      errand.fail(error);
    } finally {
      this.#errand = undefined;
    }
    if (errand.sent === undefined)
      errand.failUnlessOverSoon(() =>
        sendFailure(new Error("the SDK did not send it"), this.#exchangeOf(request)),
      );
    return errand.promise;
  }

  #request(id: RequestId, aliased: string, params: JsonObject): void {
    const errand = this.#errand;
    const method = aliased.startsWith(alias) ? aliased.slice(alias.length) : aliased;
    const request = { method, params, options: errand?.request.options ?? {} };
    const sent = new CallbackRequest(request, (answer) => {
      if (errand !== undefined) this.#settle(errand, id, answer);
      this.#deliver(id, answer);
    });
    if (errand !== undefined) errand.sent = sent;
    this.#channel.request(sent);
  }

  /** From here on the channel's deadline no longer holds: the request has been answered. */
  #settle(errand: SdkErrand, id: RequestId, answer: RpcAnswer): void {
    if (!answer.ok) return errand.fail(answer.error);
    const { logger, serverName } = this.#options;
    errand.failUnlessOverSoon(() => {
      const reason = "the SDK's client does not accept it";
      const error = malformedAnswer(reason, this.#exchangeOf(errand.request));
      // Else the SDK would wait on, and its timer keep the process alive.
      contain(() => this.#deliver(id, { ok: false, error }), logger, serverName);
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
