import type { JSONRPCMessage } from "@modelcontextprotocol/client";

import type { McpError } from "../../errors/mcp-error.ts";
import type { SendOptions } from "../../protocol/wire/channel-transport.ts";
import type { HostTransport } from "../host-transport.ts";
import type { HttpTransportOptions } from "../http/http-client.ts";
import { headerOf, type ResponseHead } from "../http/http-exchange.ts";
import { MessageSender } from "../http/message-sender.ts";
import { HttpTransport } from "./http-transport.ts";

/**
 * Speaks JSON-RPC by POST and nothing else: every message goes to the configured address, and its answer
 * comes in the body, as JSON or as an event stream. There is no session, no stream of the server's own and
 * no resuming, as streamable HTTP has them in the 2025 revisions. The negotiated `MCP-Protocol-Version` is
 * still sent, because servers of those revisions may insist on it and simpler ones ignore it.
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

  /** Warns that the server opened a session: it will refuse the next message without saying why. */
  #warnOfSession(head: ResponseHead): void {
    if (headerOf(head, "mcp-session-id") === undefined) return;
    const { logger, peer } = this.client;
    const { serverName } = peer;
    logger.warn('the server opened a session; "transport": "streamable-http" keeps it', {
      serverName,
    });
  }
}
