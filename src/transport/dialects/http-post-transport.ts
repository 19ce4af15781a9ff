import type { JSONRPCMessage } from "@modelcontextprotocol/client";

import type { McpError } from "../../errors/mcp-error.ts";
import type { SendOptions } from "../../protocol/wire/channel-transport.ts";
import type { HostTransport } from "../host-transport.ts";
import type { HttpTransportOptions } from "../http/http-client.ts";
import { headerOf, type ResponseHead } from "../http/http-exchange.ts";
import { MessageSender } from "../http/message-sender.ts";
import { HttpTransport } from "./http-transport.ts";

/**
 * JSON-RPC by POST and nothing else: every message goes to the address as configured, its answer
 * comes in the body, as JSON or as an event stream. What streamable HTTP adds for the 2025 revisions
 * does not exist here: no session, no stream of the server's own, no resuming. The negotiated
 * `MCP-Protocol-Version` is still sent, because servers of those revisions may insist on it and
 * simpler ones ignore it.
 */
export function createHttpPostTransport(options: HttpTransportOptions): HostTransport {
  return new HttpPostTransport(options);
}

class HttpPostTransport extends HttpTransport {
  readonly hasPerRequestStream = true;

  readonly #sender: MessageSender;

  constructor(options: HttpTransportOptions) {
    super("http-post", options);
    this.client.oninitialized = (head) => this.#warnOfSession(head);
    this.#sender = new MessageSender(this.client, { isResumable: false });
  }

  override send(message: JSONRPCMessage, options?: SendOptions): Promise<void> {
    return this.#sender.send(message, options);
  }

  setProtocolVersion(version: string): void {
    this.client.headers.protocolVersion = version;
  }

  protected override end(reason: McpError): void {
    this.#sender.cancelAll(reason);
  }

  /** Without this the refusal of the next message would be a riddle. */
  #warnOfSession(head: ResponseHead): void {
    if (headerOf(head, "mcp-session-id") === undefined) return;
    const { logger, peer } = this.client;
    const { serverName } = peer;
    logger.warn('the server opened a session; "transport": "streamable-http" keeps it', {
      serverName,
    });
  }
}
