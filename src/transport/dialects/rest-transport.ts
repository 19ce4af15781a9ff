import type { JSONRPCMessage, JSONRPCRequest } from "@modelcontextprotocol/client";

import type { McpError } from "../../errors/mcp-error.ts";
import type { RequestStream, SendOptions } from "../../protocol/wire/channel-transport.ts";
import type { JsonObject } from "../../text/json-object.ts";
import type { HostTransport } from "../host-transport.ts";
import type { HttpTransportOptions } from "../http/http-client.ts";
import { HttpTransport } from "./http-transport.ts";
import {
  readTools,
  readToolResult,
  requireHealth,
  type RestEndpoint,
  restUrl,
  type RestToolResult,
} from "./rest-dialect.ts";
import { RestExchange, type RestResponse } from "./rest-exchange.ts";

const methodNotFound = { code: -32_601, message: "Method not found" } as const;

/** The answer to a request: its MCP result, and the JSON text where the server sent one. */
type Answer = Partial<RestToolResult> & { readonly error?: typeof methodNotFound };

/**
 * Presents a plain REST service as an MCP server: `GET /health`, `GET /tools` and `POST /tools/call` below
 * the configured address. Requests become exchanges with these endpoints, and their bodies become MCP
 * results. Methods that the dialect lacks are refused as unknown, and notifications are dropped. `send`
 * settles with the fate of its message, and nothing is ever sent twice.
 */
export function createRestTransport(options: HttpTransportOptions): HostTransport {
  return new RestTransport(options);
}

class RestTransport extends HttpTransport {
  readonly hasPerRequestStream = true;

  readonly #exchanges = new Set<RestExchange>();

  constructor(options: HttpTransportOptions) {
    super("rest", options);
  }

  override async send(message: JSONRPCMessage, options?: SendOptions): Promise<void> {
    if (!this.client.isOpen) throw this.client.notOpen();
    if (!("method" in message && "id" in message)) return;
    const { text, ...answer } = await this.#answer(message, options?.stream);
    const { id } = message;
    const whole =
      text === undefined ? text : `{"jsonrpc":"2.0","id":${JSON.stringify(id)},"result":${text}}`;
    this.client.deliver({ jsonrpc: "2.0", id, ...answer }, whole);
  }

  protected override end(reason: McpError): void {
    for (const exchange of this.#exchanges) exchange.cancel(reason);
  }

  async #answer(
    { method, params = {} }: JSONRPCRequest,
    stream: RequestStream | undefined,
  ): Promise<Answer> {
    switch (method) {
      case "initialize":
        return { result: await this.#introduce(params["protocolVersion"], stream) };
      case "ping":
        if (!(await this.#checkHealth(stream))) await this.#listTools(stream);
        return { result: {} };
      case "tools/list":
        return { result: { tools: await this.#listTools(stream) } };
      case "tools/call":
        return await this.#callTool(params, stream);
      default:
        return { error: methodNotFound };
    }
  }

  /**
   * Answers the handshake in place of the service, with its address as its name. The service must be healthy
   * and list its tools, because it offers nothing else.
   */
  async #introduce(
    protocolVersion: unknown,
    stream: RequestStream | undefined,
  ): Promise<JsonObject> {
    const { logger, peer } = this.client;
    const hasHealth = await this.#checkHealth(stream);
    await this.#listTools(stream);
    if (!hasHealth)
      logger.warn("the server has no /health; its tool list stands in for it", {
        serverName: peer.serverName,
      });
    return {
      protocolVersion,
      capabilities: { tools: {} },
      serverInfo: { name: peer.url.host, version: "unknown" },
    };
  }

  /** Asks for the health of the service. False when it has no health check; throws when it is not healthy. */
  async #checkHealth(stream: RequestStream | undefined): Promise<boolean> {
    const response = await this.#exchange("health", undefined, stream);
    if (response.head.status === 404) return false;
    requireHealth(this.client, response);
    return true;
  }

  async #listTools(stream: RequestStream | undefined): Promise<readonly unknown[]> {
    return readTools(this.client, await this.#exchange("tools", undefined, stream));
  }

  async #callTool(params: JsonObject, stream: RequestStream | undefined): Promise<RestToolResult> {
    const { name, arguments: args = {} } = params;
    const body = this.client.stringify({ name, arguments: args });
    return readToolResult(this.client, await this.#exchange("call", body, stream));
  }

  async #exchange(
    endpoint: RestEndpoint,
    body: string | undefined,
    stream: RequestStream | undefined,
  ): Promise<RestResponse> {
    const url = restUrl(this.client.peer.url, endpoint);
    const request = body === undefined ? { url } : { url, body };
    const exchange = new RestExchange(this.client, request, stream);
    this.#exchanges.add(exchange);
    try {
      return await exchange.run();
    } finally {
      this.#exchanges.delete(exchange);
    }
  }
}
