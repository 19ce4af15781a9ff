import type { JSONRPCMessage } from "@modelcontextprotocol/client";

import type { HttpTransportConfig } from "../../config/keys/server-config.ts";
import type { Timer } from "../../ports/clock.ts";
import type { SendOptions } from "../../protocol/wire/channel-transport.ts";
import type { HostTransport } from "../host-transport.ts";
import { DiscardedBody } from "../http/http-body.ts";
import type { HttpTransportOptions } from "../http/http-client.ts";
import { headerOf, type HttpRequest, type ResponseHead } from "../http/http-exchange.ts";
import { isVisibleAscii, statedVersion } from "../http/http-headers.ts";
import { MessageSender } from "../http/message-sender.ts";
import { HttpTransport } from "./http-transport.ts";
import { SseListener } from "./sse-listener.ts";

/** The longest time that closing waits for the server to confirm the end of the session. */
const sessionEndMs = 1_000;

export interface StreamableHttpOptions extends HttpTransportOptions {
  readonly method: HttpTransportConfig["method"];
}

/**
 * Speaks streamable HTTP in both eras. `send` settles with the fate of its message: for a request it
 * resolves once the answer was delivered through `onmessage` and rejects with an `McpError` when no
 * answer can come any more, so a call never hangs and nothing is ever sent twice. One failed call
 * says nothing about the next: `failure` stays undefined and `onclose` silent until `close()`.
 */
export function createStreamableHttpTransport(options: StreamableHttpOptions): HostTransport {
  return new StreamableHttpTransport(options);
}

class StreamableHttpTransport extends HttpTransport {
  readonly hasPerRequestStream = true;

  readonly #method: HttpTransportConfig["method"];
  readonly #sender: MessageSender;
  #listener: SseListener;

  constructor(options: StreamableHttpOptions) {
    super("streamable-http", options);
    this.#method = options.method;
    this.client.oninitialized = (head) => this.#adoptSession(head);
    this.#sender = new MessageSender(this.client);
    this.#listener = this.#createListener();
  }

  get sessionId(): string | undefined {
    return this.client.headers.sessionId;
  }

  override send(message: JSONRPCMessage, options?: SendOptions): Promise<void> {
    const sending = this.#sender.send(message, options);
    return isInitialized(message) ? sending.then(() => this.#listen()) : sending;
  }

  setProtocolVersion(version: string): void {
    this.client.headers.protocolVersion = version;
  }

  protected override async end(): Promise<void> {
    const closed = this.client.closedError();
    this.#listener.stop(closed);
    this.#sender.cancelAll(closed);
    await this.#endSession();
    this.client.headers.sessionId = undefined;
  }

  /** Takes the session from the answer to `initialize`. */
  #adoptSession(head: ResponseHead): void {
    const { headers, logger, peer } = this.client;
    const id = headerOf(head, "mcp-session-id");
    const isUsable = id !== undefined && isVisibleAscii(id);
    if (id !== undefined && !isUsable)
      logger.warn("the server named a session in characters that no header may hold", {
        serverName: peer.serverName,
      });
    if (headers.sessionId !== undefined) {
      // A stream of the old session gets no messages of the new one.
      this.#listener.stop(this.client.closedError());
      this.#listener = this.#createListener();
    }
    headers.sessionId = isUsable ? id : undefined;
  }

  /** Opens the stream after the handshake: a server with sessions refuses a stream without one. */
  async #listen(): Promise<void> {
    if (this.#method === "POST") this.#listener.start();
    else await this.#listener.require(this.client.limits.connectTimeoutMs);
  }

  /**
   * Creates the listener. It ends requests that are answered on its stream, because some servers leave
   * their own streams open.
   */
  #createListener(): SseListener {
    return new SseListener(this.client, (data) =>
      this.#sender.answeredElsewhere(this.client.receive(data)),
    );
  }

  /** Tells the server that the session is over. A failure is ignored. */
  async #endSession(): Promise<void> {
    if (this.sessionId === undefined) return;
    const { headers, clock } = this.client;
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
      const exchange = this.client.open("calls", request, observer);
      // The request's own deadlines begin when it is written; this one includes the wait for a connection.
      timer = clock.schedule(sessionEndMs, () => exchange.abort(this.client.closedError()));
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
