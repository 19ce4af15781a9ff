import type { JSONRPCMessage, Transport } from "@modelcontextprotocol/client";

import type { TransportKind } from "../../config/keys/server-config.ts";
import type { McpError } from "../../errors/mcp-error.ts";
import type { SendOptions } from "../../protocol/channel/channel-transport.ts";
import type { HostTransport, TransportEvidence } from "../host-transport.ts";
import { HttpLink, type HttpTransportOptions } from "../http/http-client.ts";
import { readTurns } from "../reading/read-turns.ts";

/** What every transport over HTTP is, whatever it sends: a link to its server that opens and closes once. */
export abstract class HttpTransport implements HostTransport {
  readonly kind: TransportKind;

  onclose: Transport["onclose"];
  onerror: Transport["onerror"];
  onmessage: Transport["onmessage"];

  protected readonly link: HttpLink;
  #starting: Promise<void> | undefined;
  #closing: Promise<void> | undefined;

  constructor(kind: TransportKind, options: HttpTransportOptions) {
    this.kind = kind;
    this.link = new HttpLink(kind, options, this);
  }

  /** One failed call says nothing about the next, so most of them never end by themselves. */
  get failure(): McpError | undefined {
    return undefined;
  }

  get evidence(): TransportEvidence {
    return this.link.evidence;
  }

  get messageText(): string | undefined {
    return this.link.messageText;
  }

  slowDown(): void {
    readTurns.slowDown();
  }

  /** Gets ready to send; idempotent. */
  start(): Promise<void> {
    return (this.#starting ??= this.open());
  }

  abstract send(message: JSONRPCMessage, options?: SendOptions): Promise<void>;

  /** Idempotent. */
  close(): Promise<void> {
    this.link.markClosed();
    return (this.#closing ??= this.#close());
  }

  /** Connects to nothing, unless the transport needs more than what a message opens by itself. */
  protected open(): Promise<void> {
    return this.link.acquire();
  }

  /** Ends what is under way with `reason`; the connections are still there. */
  protected abstract end(reason: McpError): void | Promise<void>;

  async #close(): Promise<void> {
    await this.end(this.failure ?? this.link.closedError());
    await this.link.release();
    this.onclose?.();
  }
}
