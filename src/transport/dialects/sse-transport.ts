import type { JSONRPCMessage } from "@modelcontextprotocol/client";

import type { McpError } from "../../errors/mcp-error.ts";
import type { Timer } from "../../ports/clock.ts";
import type { SendOptions } from "../../protocol/wire/channel-transport.ts";
import type { HostTransport } from "../host-transport.ts";
import { type BodySink, excerptBody } from "../http/http-body.ts";
import type { HttpClient, HttpTransportOptions } from "../http/http-client.ts";
import { peerError, tooLarge } from "../http/http-errors.ts";
import { type ExchangeObserver, type ResponseHead, mediaTypeOf } from "../http/http-exchange.ts";
import { RedirectableGet } from "../http/http-redirect.ts";
import { noStreamError } from "../http/http-status.ts";
import { MessageSender } from "../http/message-sender.ts";
import { SseFeed } from "../http/sse-events.ts";
import { cancelledId } from "../reading/message-ids.ts";
import { HttpTransport } from "./http-transport.ts";
import {
  type EndpointChoice,
  deriveMessageEndpoint,
  parseEndpointChoice,
  readAnnouncedEndpoint,
} from "./message-endpoint.ts";

/** The longest time until an open stream announces the address for messages. */
const announcementMs = 1_500;
/** The longest time until the stream opens; a server may have to wake up first. */
const openingMs = 10_000;

export interface SseTransportOptions extends HttpTransportOptions {
  /**
   * `auto` (default) waits for the address the server announces, `derive` uses the rule, else the address
   * itself.
   */
  readonly messageEndpoint?: string | undefined;
}

/**
 * Speaks HTTP with server-sent events, the transport of MCP before streamable HTTP: one stream brings all
 * messages of the server, and ours are POSTed to another address. `send` of a request resolves once the
 * server has accepted it; the answer comes through `onmessage`, from the stream or from the POST.
 *
 * The session lives and dies with its stream, so the end of the stream is the end of the connection.
 * Opening it again with `Last-Event-ID` would give a new session that knows nothing of the old one;
 * connecting anew, with a handshake, is up to the connection above.
 */
export function createSseTransport(options: SseTransportOptions): HostTransport {
  return new SseTransport(options);
}

class SseTransport extends HttpTransport {
  readonly #stream: SseStream;
  readonly #sender: MessageSender;
  readonly #choice: EndpointChoice;
  #onReady: ((failure: McpError | undefined) => void) | undefined;
  #timer: Timer | undefined;
  #failure: McpError | undefined;

  constructor(options: SseTransportOptions) {
    super("sse", options);
    this.#choice = parseEndpointChoice(options.messageEndpoint, this.client.peer);
    this.#sender = new MessageSender(this.client);
    const observer: SseStreamObserver = {
      onOpen: () => this.#opened(),
      onMessage: (data) => this.#receive(data),
      onOther: (event, data) => {
        if (event === "endpoint") this.#announced(data);
      },
      onEnd: (failure) => this.#ended(failure),
    };
    this.#stream = new SseStream(this.client, observer);
  }

  override get failure(): McpError | undefined {
    return this.#failure;
  }

  override send(message: JSONRPCMessage, options?: SendOptions): Promise<void> {
    if (this.#endpoint === undefined || !this.client.isOpen)
      return Promise.reject(this.#failure ?? this.client.notOpen());
    const cancelled = cancelledId(message);
    // The server never got a request that was still waiting for a connection.
    if (cancelled !== undefined && this.#sender.cancel(cancelled, this.#cancelled()))
      return Promise.resolve();
    return this.#sender.send(message, options);
  }

  setProtocolVersion(version: string): void {
    this.client.headers.protocolVersion = version;
  }

  /** Opens the stream and resolves when the address for messages is known. */
  protected override async open(): Promise<void> {
    const { logger, peer } = this.client;
    await super.open();
    logger.info("the server is reached over HTTP+SSE, which MCP has deprecated", {
      serverName: peer.serverName,
    });
    try {
      await new Promise<void>((resolve, reject) => {
        this.#onReady = (failure) => (failure === undefined ? resolve() : reject(failure));
        // The wait is bounded: some servers send the headers with their first event, which may be an answer.
        this.#readyAfter(this.#choice === "auto" ? openingMs : announcementMs);
        this.#stream.open();
      });
    } catch (error) {
      await this.close();
      throw error;
    }
  }

  #opened(): void {
    if (this.#choice === "auto") this.#readyAfter(announcementMs);
    else this.#ready();
  }

  /** Takes an address that is announced late; later messages go there. */
  #announced(text: string): void {
    if (this.#choice !== "auto") return;
    this.#sendTo(readAnnouncedEndpoint(text, this.#stream.url, this.client.peer));
    this.#ready();
  }

  #readyAfter(delayMs: number): void {
    this.#timer?.cancel();
    this.#timer = this.client.clock.schedule(delayMs, () => this.#ready());
  }

  #ready(): void {
    if (this.#endpoint === undefined)
      this.#sendTo(
        this.#choice instanceof URL ? this.#choice : deriveMessageEndpoint(this.#stream.url),
      );
    this.#settleStart(undefined);
  }

  #sendTo(url: URL): void {
    this.#sender.mode = { url, isAnsweredElsewhere: true };
  }

  get #endpoint(): URL | undefined {
    return this.#sender.mode.url;
  }

  #settleStart(failure: McpError | undefined): void {
    this.#timer?.cancel();
    this.#onReady?.(failure);
    this.#onReady = undefined;
  }

  #receive(text: string): void {
    this.#sender.answeredElsewhere(this.client.receive(text));
  }

  #ended(failure: McpError): void {
    if (this.client.isOpen) {
      this.#failure = failure;
      void this.close();
    }
    this.#settleStart(failure);
  }

  protected override end(reason: McpError): void {
    this.#settleStart(reason);
    this.#stream.abort(reason);
    this.#sender.cancelAll(reason);
  }

  #cancelled(): McpError {
    return peerError(this.client.peer, "cancelled", "the call was cancelled");
  }
}

/** Receives the events of one stream. An error that it throws ends the stream. */
interface SseStreamObserver {
  /** Called when the server has begun to answer. */
  onOpen(): void;
  onMessage(data: string): void;
  /** Called for an event of another name than `message`. */
  onOther(event: string, data: string): void;
  /** Called exactly once, when the stream has ended. */
  onEnd(failure: McpError): void;
}

/**
 * Reads the single stream of a legacy connection. It is opened once, may be silent for ever, and is never
 * reopened.
 */
class SseStream implements ExchangeObserver {
  readonly #client: HttpClient;
  readonly #observer: SseStreamObserver;
  readonly #get: RedirectableGet;

  constructor(client: HttpClient, observer: SseStreamObserver) {
    this.#client = client;
    this.#observer = observer;
    const headers = client.headers.forStream();
    const request = { url: client.peer.url, headers, headersTimeoutMs: 0, bodyTimeoutMs: 0 };
    this.#get = new RedirectableGet(client, "streams", request, this);
  }

  /** The address of the stream: the configured one, or the one that it redirected to. */
  get url(): URL {
    return this.#get.url;
  }

  open(): void {
    this.#get.run();
  }

  /** Ends the stream with `reason` unless it has ended. */
  abort(reason: McpError): void {
    this.#get.abort(reason);
  }

  onHead(head: ResponseHead): BodySink {
    const { peer, limits, clock } = this.#client;
    if (head.status !== 200 || mediaTypeOf(head) !== "text/event-stream")
      return excerptBody((text) => {
        throw noStreamError(peer, { head, text, hadSession: false, now: clock.now() });
      });
    this.#observer.onOpen();
    return new SseFeed({
      maxBytes: limits.maxMessageBytes,
      tooLarge: () => tooLarge(peer, limits.maxMessageBytes),
      onMessage: (data) => this.#observer.onMessage(data),
      onOther: (event, data) => this.#observer.onOther(event, data),
    }).connect();
  }

  onEnd(failure: McpError | undefined): void {
    const ended = "the server ended its stream, and the session with it";
    this.#observer.onEnd(failure ?? peerError(this.#client.peer, "connection_lost", ended));
  }
}
