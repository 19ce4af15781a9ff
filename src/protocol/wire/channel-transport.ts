import type { JSONRPCMessage } from "@modelcontextprotocol/client";

import type { McpError } from "../../errors/mcp-error.ts";

/**
 * The transport that a channel needs: it carries whole JSON-RPC messages in both directions. A
 * `Transport` of the SDK becomes one in `transport/adopt-transport.ts`.
 */
export interface ChannelTransport {
  /** Called with each message, and with its JSON where that is known and was not a batch. */
  onmessage?: ((message: JSONRPCMessage, text?: string) => void) | undefined;
  /** Called once, when the connection has ended or was closed. */
  onclose?: (() => void) | undefined;
  onerror?: ((error: Error) => void) | undefined;
  /** True when every request has a stream of its own: `SendOptions.stream` is set for each. */
  readonly hasPerRequestStream?: boolean;
  /** Why the connection ended by itself; undefined while it is open and after `close()`. */
  readonly failure?: McpError | undefined;
  start(): Promise<void>;
  /** Rejects when the message did not reach the server. */
  send(message: JSONRPCMessage, options?: SendOptions): Promise<void>;
  close(): Promise<void>;
  /** Called with the revision that was negotiated. */
  setProtocolVersion?(version: string): void;
  /** Called while a message is being delivered that is dropped because too many come. */
  slowDown?(): void;
}

/** What a transport is told about a message that it sends. */
export interface SendOptions {
  /** The JSON of the message, where it is known already. */
  readonly text?: string | undefined;
  /** The stream of a request, where every request has one. */
  readonly stream?: RequestStream | undefined;
  /** Headers of this request alone, where there are any on the wire. */
  readonly headers?: Readonly<Record<string, string>> | undefined;
}

/**
 * The stream of a single request: the channel aborts it, and the transport that opened it listens. It
 * does what an `AbortSignal` does, whose making and hearing is a noticeable part of a whole HTTP call.
 */
export class RequestStream {
  /** Called once, when the stream is no longer wanted. */
  listener: { onAbort(): void } | undefined;
  /** The listener sets it when nothing of the request had left, so that the server has never heard of it. */
  isUnsent = false;
  #isAborted = false;

  get isAborted(): boolean {
    return this.#isAborted;
  }

  abort(): void {
    if (this.#isAborted) return;
    this.#isAborted = true;
    this.listener?.onAbort();
  }
}
