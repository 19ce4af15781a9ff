import type { JSONRPCMessage, Transport } from "@modelcontextprotocol/client";

import { CallbackRequest, type RpcAnswer } from "./callback-request.ts";
import type { JsonObject } from "./json-object.ts";
import type { RequestId } from "./request-id.ts";
import type { RpcChannel } from "./rpc-channel.ts";
import type { RpcRequestOptions } from "./rpc-request.ts";

/**
 * The SDK checks modern results of methods it knows against schemas that lose a whole list to one
 * bad tool. Under a name it does not know it passes results through; the wire never sees the name.
 */
const alias = "plugboard:";

export function aliasOf(method: string): string {
  return `${alias}${method}`;
}

/**
 * The negotiated channel as the transport of an SDK `Client`. Requests get ids of the channel; answers
 * come back typed, a failure as an error response with the `McpError` in `data`. Notifications and
 * requests of the server never pass: the channel has bounded and handled them already.
 */
export class SdkTransport implements Transport {
  onmessage?: Transport["onmessage"];
  onclose?: Transport["onclose"];
  onerror?: Transport["onerror"];

  readonly #channel: RpcChannel;
  readonly #initializeResult: JsonObject;
  #options: RpcRequestOptions = {};

  /** `initializeResult` answers the client's own handshake, which the server has seen already. */
  constructor(channel: RpcChannel, initializeResult: JsonObject) {
    this.#channel = channel;
    this.#initializeResult = initializeResult;
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
      this.#deliver(message.id, { ok: true, result: this.#initializeResult });
    } else {
      this.#request(message.id, method, params);
    }
  }

  close(): Promise<void> {
    return this.#channel.close();
  }

  /**
   * Options of the one request that `send` makes, which the channel keeps and not the SDK: it sends
   * before its `request` returns.
   */
  sendingWith<T>(options: RpcRequestOptions, send: () => T): T {
    this.#options = options;
    try {
      return send();
    } finally {
      this.#options = {};
    }
  }

  #request(id: RequestId, aliased: string, params: JsonObject): void {
    const method = aliased.startsWith(alias) ? aliased.slice(alias.length) : aliased;
    const request = { method, params, options: this.#options };
    this.#channel.request(new CallbackRequest(request, (answer) => this.#deliver(id, answer)));
  }

  #deliver(id: RequestId, answer: RpcAnswer): void {
    this.onmessage?.(
      answer.ok
        ? { jsonrpc: "2.0", id, result: answer.result }
        : {
            jsonrpc: "2.0",
            id,
            error: { code: -32_000, message: answer.error.message, data: answer.error },
          },
    );
  }
}
