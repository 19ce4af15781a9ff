import type { McpError } from "../errors/mcp-error.ts";
import type { Exchange } from "./channel-failures.ts";
import { checkToolPage, checkToolResult } from "./checked-results.ts";
import { collectPages } from "./collect-pages.ts";
import type { JsonObject } from "./json-object.ts";
import type { Negotiated } from "./negotiate-era.ts";
import type { ReadResult, SentRequest } from "./pending-request.ts";
import type {
  ProtocolClient,
  ProtocolEra,
  ProtocolOptions,
  RawToolResult,
  RequestOptions,
  ServerIdentity,
  ServerNotification,
  ToolListing,
} from "./protocol-client.ts";
import { missingCapabilities, unsentFailure } from "./required-capability.ts";
import { checkIsComplete } from "./result-type.ts";
import type { RpcChannel } from "./rpc-channel.ts";

/** How messages reach the channel: what an implementation of the protocol adds to it. */
export interface RequestSender {
  /** Resolves to what `read` makes of the result; rejects with an `McpError`. Never throws. */
  request<T>(request: SentRequest, read: ReadResult<T>): Promise<T>;
  notify(method: string, params: JsonObject): Promise<void>;
}

export interface NegotiatedClientOptions {
  readonly channel: RpcChannel;
  readonly negotiated: Negotiated;
  readonly sender: RequestSender;
  readonly options: ProtocolOptions;
}

/** Everything a protocol client does that does not depend on who writes the messages. */
export class NegotiatedClient implements ProtocolClient {
  readonly #channel: RpcChannel;
  readonly #negotiated: Negotiated;
  readonly #sender: RequestSender;
  readonly #options: ProtocolOptions;
  /** What each method lacks that the server cannot do. */
  readonly #missing: ReadonlyMap<string, string>;
  #onclose: ((error: Error | undefined) => void) | undefined;
  #ended: { readonly error: McpError | undefined } | undefined;

  constructor({ channel, negotiated, sender, options }: NegotiatedClientOptions) {
    this.#channel = channel;
    this.#negotiated = negotiated;
    this.#sender = sender;
    this.#options = options;
    this.#missing = missingCapabilities(negotiated.capabilities);
    channel.onend = (error) => {
      this.#ended = { error };
      this.#reportEnd();
    };
  }

  get era(): ProtocolEra {
    return this.#negotiated.era;
  }

  get protocolVersion(): string {
    return this.#negotiated.protocolVersion;
  }

  get serverInfo(): ServerIdentity {
    return this.#negotiated.serverInfo;
  }

  get capabilities(): JsonObject {
    return this.#negotiated.capabilities;
  }

  get instructions(): string | undefined {
    return this.#negotiated.instructions;
  }

  get onnotification(): ((notification: ServerNotification) => void) | undefined {
    return this.#channel.onnotification;
  }

  set onnotification(handler: ((notification: ServerNotification) => void) | undefined) {
    this.#channel.onnotification = handler;
  }

  get onclose(): ((error: Error | undefined) => void) | undefined {
    return this.#onclose;
  }

  /** The connection may have ended before anyone could listen: then the handler hears of it right away. */
  set onclose(handler: ((error: Error | undefined) => void) | undefined) {
    this.#onclose = handler;
    queueMicrotask(() => this.#reportEnd());
  }

  request(
    method: string,
    params: JsonObject = {},
    options: RequestOptions = {},
  ): Promise<JsonObject> {
    return this.#send({ method, params, options }, this.#readResult);
  }

  callTool(name: string, args: JsonObject, options: RequestOptions = {}): Promise<RawToolResult> {
    const { envelope } = this.#negotiated;
    // Not spread later: a copy with one more member costs more than all the rest of a call.
    const params =
      envelope === undefined
        ? { name, arguments: args }
        : { name, arguments: args, _meta: envelope };
    return this.#send({ method: "tools/call", params, options }, this.#readToolResult);
  }

  async listTools(options?: RequestOptions): Promise<ToolListing> {
    if (this.#channel.end !== undefined) throw this.#channel.end;
    // Without the capability there is nothing to ask for, and nothing wrong either.
    if (this.#missing.has("tools/list")) return { tools: [], rejected: [] };
    const { limits, clock } = this.#options;
    const { items, ...rest } = await collectPages(
      {
        request: (params, pageOptions) => this.request("tools/list", params, pageOptions),
        read: (result) => checkToolPage(result, this.#exchange("tools/list")),
        limits,
        clock,
      },
      options,
    );
    return { tools: items, ...rest };
  }

  async notify(method: string, params: JsonObject = {}): Promise<void> {
    if (this.#channel.end !== undefined) throw this.#channel.end;
    await this.#sender.notify(method, params);
  }

  async ping(options?: RequestOptions): Promise<void> {
    await this.request(this.era === "modern" ? "server/discover" : "ping", {}, options);
  }

  close(): Promise<void> {
    return this.#channel.close();
  }

  #send<T>(request: SentRequest, read: ReadResult<T>): Promise<T> {
    const { method } = request;
    if (this.#channel.end !== undefined) return Promise.reject(this.#channel.end);
    const capability = this.#missing.get(method);
    if (capability !== undefined)
      return Promise.reject(unsentFailure(capability, this.#exchange(method)));
    return this.#sender.request(request, read);
  }

  readonly #readResult = (result: JsonObject, { method }: SentRequest): JsonObject => {
    if (this.era === "legacy") return result;
    checkIsComplete(result, this.#exchange(method));
    const { resultType: _, ...rest } = result;
    return rest;
  };

  readonly #readToolResult = (result: JsonObject, request: SentRequest): RawToolResult => {
    const exchange = this.#exchange(request.method);
    if (this.era === "modern") checkIsComplete(result, exchange);
    return checkToolResult(result, request.params["name"] as string, exchange);
  };

  #reportEnd(): void {
    const handler = this.#onclose;
    const ended = this.#ended;
    if (handler === undefined || ended === undefined) return;
    this.#onclose = undefined;
    handler(ended.error);
  }

  #exchange(method: string): Exchange {
    return { serverName: this.#options.serverName, method };
  }
}
