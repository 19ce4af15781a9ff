import type { JSONRPCMessage, Transport, TransportSendOptions } from "@modelcontextprotocol/client";

import type { RequestId } from "./incoming-message.ts";
import type { JsonObject } from "./json-object.ts";
import type { Progress } from "./protocol-client.ts";
import type { RpcAnswer, RpcChannel } from "./rpc-channel.ts";

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
  readonly #wireIds = new Map<RequestId, RequestId>();
  #onProgress: ((report: Progress) => void) | undefined;

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

  async send(message: JSONRPCMessage, options?: TransportSendOptions): Promise<void> {
    if (!("method" in message)) return;
    const { method, params = {} } = message;
    if ("id" in message) {
      if (method === "initialize")
        this.#deliver(message.id, { ok: true, result: this.#initializeResult });
      else this.#request(message.id, method, params, options?.requestSignal);
    } else if (method === "notifications/cancelled") {
      await this.#cancel(params);
    } else if (method !== "notifications/initialized") {
      await this.#channel.notify(method, params);
    }
  }

  close(): Promise<void> {
    return this.#channel.close();
  }

  /**
   * Progress of the one request that `send` makes. The SDK sends before its `request` returns; its
   * own progress callbacks come too late when the answer arrives in the same turn.
   */
  reportingTo<T>(onProgress: ((report: Progress) => void) | undefined, send: () => T): T {
    this.#onProgress = onProgress;
    try {
      return send();
    } finally {
      this.#onProgress = undefined;
    }
  }

  #request(
    id: RequestId,
    method: string,
    params: JsonObject,
    requestSignal: AbortSignal | undefined,
  ): void {
    const wireId = this.#channel.nextId();
    this.#wireIds.set(id, wireId);
    // Modern HTTP is cancelled by closing the request's stream, with no message that names the id.
    requestSignal?.addEventListener("abort", () => this.#abandon(id), { once: true });
    const settle = (answer: RpcAnswer) => {
      this.#wireIds.delete(id);
      this.#deliver(id, answer);
    };
    const wireMethod = method.startsWith(alias) ? method.slice(alias.length) : method;
    const onProgress = this.#onProgress;
    this.#channel.request(wireId, { method: wireMethod, params, settle, onProgress });
  }

  async #cancel(params: JsonObject): Promise<void> {
    const wireId = this.#abandon(params["requestId"] as RequestId);
    if (wireId !== undefined)
      await this.#channel.notify("notifications/cancelled", { ...params, requestId: wireId });
  }

  #abandon(id: RequestId): RequestId | undefined {
    const wireId = this.#wireIds.get(id);
    if (wireId === undefined) return undefined;
    this.#wireIds.delete(id);
    this.#channel.abandon(wireId);
    return wireId;
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
