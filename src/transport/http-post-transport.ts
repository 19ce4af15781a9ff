import type { JSONRPCMessage, Transport } from "@modelcontextprotocol/client";

import type { SendOptions } from "../protocol/send-options.ts";
import type { HostTransport, TransportEvidence } from "./host-transport.ts";
import { HttpCalls } from "./http-calls.ts";
import { type ResponseHead, headerOf } from "./http-exchange.ts";
import { HttpLink, type HttpTransportOptions } from "./http-link.ts";

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

class HttpPostTransport implements HostTransport {
  readonly kind = "http-post";
  readonly hasPerRequestStream = true;
  readonly takesStreams = true;
  /** One failed call says nothing about the next, so this transport never ends by itself. */
  readonly failure = undefined;

  onclose: Transport["onclose"];
  onerror: Transport["onerror"];
  onmessage: Transport["onmessage"];

  readonly #link: HttpLink;
  readonly #calls: HttpCalls;
  #starting: Promise<void> | undefined;
  #closing: Promise<void> | undefined;

  constructor(options: HttpTransportOptions) {
    this.#link = new HttpLink(this.kind, options, this);
    this.#link.oninitialized = (head) => this.#warnOfSession(head);
    this.#calls = new HttpCalls(this.#link, { isResumable: false });
  }

  get evidence(): TransportEvidence {
    return this.#link.evidence;
  }

  get messageText(): string | undefined {
    return this.#link.messageText;
  }

  /** Gets ready to send and connects to nothing; idempotent. */
  start(): Promise<void> {
    return (this.#starting ??= this.#link.acquire());
  }

  send(message: JSONRPCMessage, options?: SendOptions): Promise<void> {
    return this.#calls.send(message, options);
  }

  setProtocolVersion(version: string): void {
    this.#link.headers.protocolVersion = version;
  }

  close(): Promise<void> {
    this.#link.markClosed();
    return (this.#closing ??= this.#close());
  }

  /** Without this the refusal of the next message would be a riddle. */
  #warnOfSession(head: ResponseHead): void {
    if (headerOf(head, "mcp-session-id") === undefined) return;
    const { logger, peer } = this.#link;
    const { serverName } = peer;
    logger.warn('the server opened a session; "transport": "streamable-http" keeps it', {
      serverName,
    });
  }

  async #close(): Promise<void> {
    this.#calls.cancelAll(this.#link.closedError());
    await this.#link.release();
    this.onclose?.();
  }
}
