import type { JSONRPCMessage } from "@modelcontextprotocol/client";

import type { TransportKind } from "../../config/keys/server-config.ts";
import type { McpError } from "../../errors/mcp-error.ts";
import type { SendOptions } from "../../protocol/wire/channel-transport.ts";
import type { HostTransport, MaskedValues, TransportEvidence } from "../host-transport.ts";
import { HttpClient, type HttpTransportOptions } from "../http/http-client.ts";
import { readTurns } from "../reading/read-turns.ts";

/** The base of every transport over HTTP: it opens and closes its HTTP client once. */
export abstract class HttpTransport implements HostTransport {
  readonly kind: TransportKind;

  onclose: HostTransport["onclose"];
  onerror: HostTransport["onerror"];
  onmessage: HostTransport["onmessage"];

  protected readonly client: HttpClient;
  #starting: Promise<void> | undefined;
  #closing: Promise<void> | undefined;

  constructor(kind: TransportKind, options: HttpTransportOptions) {
    this.kind = kind;
    this.client = new HttpClient(kind, options, this);
  }

  /**
   * The reason why the transport ended. Undefined for most kinds: one failed call says nothing about the
   * next, so they never end by themselves.
   */
  get failure(): McpError | undefined {
    return undefined;
  }

  get evidence(): TransportEvidence {
    return this.client.evidence;
  }

  get masked(): MaskedValues {
    return this.client.masked;
  }

  slowDown(): void {
    readTurns.slowDown();
  }

  /** Prepares sending; idempotent. */
  start(): Promise<void> {
    return (this.#starting ??= this.open());
  }

  abstract send(message: JSONRPCMessage, options?: SendOptions): Promise<void>;

  /** Ends requests and streams, then the connections; idempotent. */
  close(): Promise<void> {
    this.client.markClosed();
    return (this.#closing ??= this.#close());
  }

  /** Prepares sending. Opens no connection, unless the transport needs a stream before its first message. */
  protected open(): Promise<void> {
    return this.client.acquire();
  }

  /** Ends requests and streams under way with `reason`; called while the connections are still open. */
  protected abstract end(reason: McpError): void | Promise<void>;

  async #close(): Promise<void> {
    await this.end(this.failure ?? this.client.closedError());
    await this.client.release();
    this.onclose?.();
  }
}
