import type { JSONRPCMessage, Transport } from "@modelcontextprotocol/client";

import type { HttpTransportConfig } from "../config/server-config.ts";
import type { McpError } from "../errors/mcp-error.ts";
import type { Timer } from "../ports/clock.ts";
import type { SendOptions } from "../protocol/send-options.ts";
import type { HostTransport, TransportEvidence } from "./host-transport.ts";
import { DiscardedBody } from "./http-body.ts";
import { HttpCalls } from "./http-calls.ts";
import { type HttpRequest, type ResponseHead, headerOf } from "./http-exchange.ts";
import { isVisibleAscii, statedVersion } from "./http-headers.ts";
import { HttpLink, type HttpTransportOptions } from "./http-link.ts";
import { SseListener } from "./sse-listener.ts";

/** How long closing waits for the server to confirm the end of the session. */
const sessionEndMs = 1_000;

export interface StreamableHttpOptions extends HttpTransportOptions {
  readonly method: HttpTransportConfig["method"];
}

/**
 * Streamable HTTP in both eras. `send` settles with the fate of its message: for a request it
 * resolves once the answer was delivered through `onmessage` and rejects with an `McpError` when no
 * answer can come any more, so a call never hangs and nothing is ever sent twice. One failed call
 * says nothing about the next: `failure` stays undefined and `onclose` silent until `close()`.
 */
export function createStreamableHttpTransport(options: StreamableHttpOptions): HostTransport {
  return new StreamableHttpTransport(options);
}

class StreamableHttpTransport implements HostTransport {
  readonly kind = "streamable-http";
  readonly hasPerRequestStream = true;
  readonly takesStreams = true;

  onclose: Transport["onclose"];
  onerror: Transport["onerror"];
  onmessage: Transport["onmessage"];

  readonly #link: HttpLink;
  readonly #method: HttpTransportConfig["method"];
  readonly #calls: HttpCalls;
  #listener: SseListener;
  #starting: Promise<void> | undefined;
  #closing: Promise<void> | undefined;
  #failure: McpError | undefined;

  constructor(options: StreamableHttpOptions) {
    this.#method = options.method;
    this.#link = new HttpLink(this.kind, options, this);
    this.#link.oninitialized = (head) => this.#adoptSession(head);
    this.#calls = new HttpCalls(this.#link);
    this.#listener = new SseListener(this.#link);
  }

  get sessionId(): string | undefined {
    return this.#link.headers.sessionId;
  }

  get failure(): McpError | undefined {
    return this.#failure;
  }

  get evidence(): TransportEvidence {
    return this.#link.evidence;
  }

  get messageText(): string | undefined {
    return this.#link.messageText;
  }

  /** Gets ready to send; idempotent. Connects only when the server's own stream is required. */
  start(): Promise<void> {
    return (this.#starting ??= this.#start());
  }

  send(message: JSONRPCMessage, options?: SendOptions): Promise<void> {
    const sending = this.#calls.send(message, options);
    return isInitialized(message) ? sending.then(() => this.#listener.start()) : sending;
  }

  setProtocolVersion(version: string): void {
    this.#link.headers.protocolVersion = version;
  }

  close(): Promise<void> {
    this.#link.markClosed();
    return (this.#closing ??= this.#close());
  }

  /** The answer to `initialize` decides about the session. */
  #adoptSession(head: ResponseHead): void {
    const { headers, logger, peer } = this.#link;
    const id = headerOf(head, "mcp-session-id");
    const isUsable = id !== undefined && isVisibleAscii(id);
    if (id !== undefined && !isUsable)
      logger.warn("the server named a session in characters that no header may hold", {
        serverName: peer.serverName,
      });
    if (headers.sessionId !== undefined) {
      // What listens to the old session hears nothing of the new one.
      this.#listener.stop(this.#link.closedError());
      this.#listener = new SseListener(this.#link);
    }
    headers.sessionId = isUsable ? id : undefined;
  }

  async #start(): Promise<void> {
    await this.#link.acquire();
    if (this.#method === "POST") return;
    try {
      await this.#listener.require(this.#link.limits.connectTimeoutMs);
    } catch (error) {
      this.#failure = this.#link.isOpen ? (error as McpError) : undefined;
      await this.close();
      throw error;
    }
  }

  async #close(): Promise<void> {
    const closed = this.#link.closedError();
    this.#listener.stop(closed);
    this.#calls.cancelAll(closed);
    await this.#endSession();
    this.#link.headers.sessionId = undefined;
    await this.#link.release();
    this.onclose?.();
  }

  /** Tells the server that the session is over; whether it cares makes no difference. */
  async #endSession(): Promise<void> {
    if (this.sessionId === undefined) return;
    const { headers, clock } = this.#link;
    let timer: Timer | undefined;
    const request: HttpRequest = {
      method: "DELETE",
      headers: headers.forSessionEnd(),
      headersTimeoutMs: sessionEndMs,
      bodyTimeoutMs: sessionEndMs,
    };
    await new Promise<void>((resolve) => {
      const onEnd = (): void => resolve();
      const observer = { onHead: () => new DiscardedBody(), onEnd };
      const exchange = this.#link.open("calls", request, observer);
      // The deadlines of the request begin when it is written; this one counts the waiting, too.
      timer = clock.schedule(sessionEndMs, () => exchange.abort(this.#link.closedError()));
    });
    timer?.cancel();
  }
}

function isInitialized(message: JSONRPCMessage): boolean {
  return (
    "method" in message &&
    message.method === "notifications/initialized" &&
    statedVersion(message) === undefined
  );
}
