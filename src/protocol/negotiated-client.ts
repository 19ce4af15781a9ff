import type { McpError } from "../errors/mcp-error.ts";
import type { Exchange } from "./channel-failures.ts";
import { checkToolPage, checkToolResult } from "./checked-results.ts";
import { collectPages } from "./collect-pages.ts";
import type { JsonObject } from "./json-object.ts";
import type { Negotiated } from "./negotiate-era.ts";
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
import { RequestWait } from "./request-wait.ts";
import { capabilityFailure, missingCapability } from "./required-capability.ts";
import type { RpcChannel } from "./rpc-channel.ts";

export interface OutgoingRequest {
  readonly method: string;
  readonly params: JsonObject;
  /** Gives up through `wait.signal`: the sender must then cancel on the wire and reject. */
  readonly wait: RequestWait;
}

/** How requests reach the channel: what an implementation of the protocol adds to it. */
export interface RequestSender {
  /** Rejects with an `McpError` of the server or the connection. */
  request(request: OutgoingRequest): Promise<JsonObject>;
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
  #onclose: ((error: Error | undefined) => void) | undefined;
  #ended: { readonly error: McpError | undefined } | undefined;

  constructor({ channel, negotiated, sender, options }: NegotiatedClientOptions) {
    this.#channel = channel;
    this.#negotiated = negotiated;
    this.#sender = sender;
    this.#options = options;
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

  async request(
    method: string,
    params: JsonObject = {},
    options: RequestOptions = {},
  ): Promise<JsonObject> {
    const { limits, clock } = this.#options;
    const exchange = this.#exchange(method);
    if (this.#channel.end !== undefined) throw this.#channel.end;
    const missing = missingCapability(method, this.capabilities);
    if (missing !== undefined) throw capabilityFailure(missing, exchange);
    const wait = new RequestWait(options, { ...exchange, limits, clock });
    this.#channel.waits.begin(wait);
    try {
      if (wait.failure !== undefined) throw wait.failure;
      return await this.#sender.request({ method, params, wait });
    } catch (error) {
      throw wait.failure ?? error;
    } finally {
      this.#channel.waits.end(wait);
      wait.end();
    }
  }

  async callTool(name: string, args: JsonObject, options?: RequestOptions): Promise<RawToolResult> {
    const result = await this.request("tools/call", { name, arguments: args }, options);
    return checkToolResult(result, name, this.#exchange("tools/call"));
  }

  async listTools(options?: RequestOptions): Promise<ToolListing> {
    if (this.#channel.end !== undefined) throw this.#channel.end;
    // Without the capability there is nothing to ask for, and nothing wrong either.
    if (missingCapability("tools/list", this.capabilities) !== undefined)
      return { tools: [], rejected: [] };
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
