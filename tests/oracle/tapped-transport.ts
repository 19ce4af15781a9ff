import type { JSONRPCMessage } from "@modelcontextprotocol/client";

import type { McpError } from "../../src/errors/mcp-error.ts";
import { RequestStream, type SendOptions } from "../../src/protocol/wire/channel-transport.ts";
import type { HostTransport, TransportEvidence } from "../../src/transport/host-transport.ts";

export interface WireMessage {
  readonly jsonrpc: string;
  readonly id?: string | number;
  readonly method?: string;
  readonly params?: Readonly<Record<string, unknown>>;
  readonly result?: unknown;
  readonly error?: unknown;
}

export interface SentMessage {
  readonly message: WireMessage;
  /** What the client wants sent along in the headers of the request, where there are any. */
  readonly headers: Readonly<Record<string, string>>;
  /** The transport is done with it. */
  isSettled: boolean;
  /** The client ended the message's own stream before it was answered. */
  isWithdrawn: boolean;
}

/** What a scripted server says about itself, beside the protocol. */
export type Marker = Readonly<Record<string, unknown>>;

/** One of our transports with an ear on it: what the client sent, and the markers of a scripted server. */
export class TappedTransport implements HostTransport {
  readonly kind: HostTransport["kind"];
  onmessage: HostTransport["onmessage"];
  onclose: HostTransport["onclose"];
  onerror: HostTransport["onerror"];

  readonly sent: SentMessage[] = [];
  /** Messages in both directions so far, and the end. */
  activity = 0;
  isClosed = false;
  /** It is being opened or closed. */
  isBusy = false;
  onmarker: ((marker: Marker) => void) | undefined;
  onactivity: (() => void) | undefined;

  readonly #inner: HostTransport;

  constructor(inner: HostTransport) {
    this.#inner = inner;
    this.kind = inner.kind;
    inner.onmessage = (message, text) => {
      if (!("oracle" in message)) this.onmessage?.(message, text);
      else this.onmarker?.(message.oracle as Marker);
      this.#happened();
    };
    inner.onerror = (error) => this.onerror?.(error);
    inner.onclose = () => {
      this.isClosed = true;
      this.onclose?.();
      this.#happened();
    };
  }

  get failure(): McpError | undefined {
    return this.#inner.failure;
  }

  get evidence(): TransportEvidence {
    return this.#inner.evidence;
  }

  get hasPerRequestStream(): boolean {
    return this.#inner.hasPerRequestStream === true;
  }

  start(): Promise<void> {
    return this.#busyWith(this.#inner.start());
  }

  send(message: JSONRPCMessage, options?: SendOptions): Promise<void> {
    const copy = JSON.parse(JSON.stringify(message)) as WireMessage;
    const headers = { ...options?.headers };
    const record: SentMessage = { message: copy, headers, isSettled: false, isWithdrawn: false };
    this.sent.push(record);
    this.#happened();
    const sending = this.#inner.send(message, options && this.#tapped(options, record));
    const settle = (): void => {
      record.isSettled = true;
      this.#happened();
    };
    sending.then(settle, settle);
    return sending;
  }

  close(): Promise<void> {
    return this.#busyWith(this.#inner.close());
  }

  setProtocolVersion(version: string): void {
    this.#inner.setProtocolVersion?.(version);
  }

  /** Notes when the stream of a request ends, and passes its end on to the transport. */
  #tapped(options: SendOptions, record: SentMessage): SendOptions {
    const { stream } = options;
    if (stream === undefined) return options;
    const inner = new RequestStream();
    stream.listener = {
      onAbort: () => {
        record.isWithdrawn = !record.isSettled;
        inner.abort();
        stream.isUnsent = inner.isUnsent;
      },
    };
    return { ...options, stream: inner };
  }

  #busyWith(task: Promise<void>): Promise<void> {
    this.isBusy = true;
    const end = (): void => {
      this.isBusy = false;
      this.#happened();
    };
    task.then(end, end);
    return task;
  }

  #happened(): void {
    this.activity += 1;
    this.onactivity?.();
  }
}
