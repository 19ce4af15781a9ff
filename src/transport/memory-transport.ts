import type { JSONRPCMessage, Transport } from "@modelcontextprotocol/client";

import { createError } from "../errors/families.ts";
import type { McpError } from "../errors/mcp-error.ts";
import type { SendOptions } from "../protocol/wire/channel-transport.ts";
import type { HostTransport, TransportEvidence } from "./host-transport.ts";

export interface MemoryTransportOptions {
  readonly serverName: string;
}

/**
 * Two linked ends, the host's first and then the one for a server in the same process. Messages
 * travel as JSON, in order and never within `send`, so neither side holds an object of the other
 * nor runs inside its call. Closing one end closes the other once it has read what was sent.
 */
export function createMemoryTransportPair(
  options: MemoryTransportOptions,
): readonly [MemoryEnd, Transport] {
  const host = new MemoryEnd(options.serverName);
  const server = new MemoryEnd(options.serverName);
  host.link(server);
  server.link(host);
  return [host, server];
}

/** Stands in the inbox for the end of the connection. */
const end = Symbol("end");

/** Both a transport of the host and one of the SDK: it has nothing to say beside its messages. */
class MemoryEnd implements HostTransport, Transport {
  readonly kind = "memory";
  readonly evidence: TransportEvidence;
  onclose: Transport["onclose"];
  onerror: Transport["onerror"];
  onmessage: ((message: JSONRPCMessage) => void) | undefined;

  readonly #serverName: string;
  #other: MemoryEnd | undefined;
  readonly #inbox: (string | typeof end)[] = [];
  #isStarted = false;
  #isClosed = false;
  #isScheduled = false;
  #failure: McpError | undefined;

  constructor(serverName: string) {
    this.#serverName = serverName;
    this.evidence = { target: "in this process", junkMessages: 0 };
  }

  get failure(): McpError | undefined {
    return this.#failure;
  }

  link(other: MemoryEnd): void {
    this.#other = other;
  }

  async start(): Promise<void> {
    if (this.#isClosed) throw this.#error("closed", "the connection was closed");
    this.#isStarted = true;
    this.#schedule();
  }

  async send(message: JSONRPCMessage, options?: SendOptions): Promise<void> {
    if (this.#isClosed) throw this.#failure ?? this.#error("closed", "the connection was closed");
    if (!this.#isStarted) throw this.#error("not_connected", "the transport has not been started");
    let text: string;
    try {
      text = options?.text ?? JSON.stringify(message);
    } catch (cause) {
      throw this.#error("invalid_arguments", "the message cannot be written as JSON", cause);
    }
    this.#other?.put(text);
  }

  async close(): Promise<void> {
    if (this.#isClosed) return;
    this.#isClosed = true;
    this.#other?.put(end);
    this.onclose?.();
  }

  put(item: string | typeof end): void {
    if (this.#isClosed) return;
    this.#inbox.push(item);
    this.#schedule();
  }

  /** A turn of the event loop between rounds: two chatty ends cannot starve timers and sockets. */
  #schedule(): void {
    if (!this.#isStarted || this.#isScheduled || this.#inbox.length === 0) return;
    this.#isScheduled = true;
    setImmediate(() => {
      this.#isScheduled = false;
      for (const item of this.#inbox.splice(0)) this.#take(item);
    });
  }

  #take(item: string | typeof end): void {
    if (this.#isClosed) return;
    if (item === end) {
      this.#failure = this.#error("connection_lost", "the other end closed the connection");
      void this.close();
      return;
    }
    try {
      this.onmessage?.(JSON.parse(item) as JSONRPCMessage);
    } catch (error) {
      this.onerror?.(error instanceof Error ? error : new Error(String(error)));
    }
  }

  #error(
    code: "closed" | "not_connected" | "invalid_arguments" | "connection_lost",
    message: string,
    cause?: unknown,
  ): McpError {
    const details = { transport: this.kind };
    return createError(code, message, { serverName: this.#serverName, details, cause });
  }
}
