import type { McpError } from "../../errors/mcp-error.ts";
import type { RequestStream } from "../../protocol/wire/channel-transport.ts";
import { type BodySink, TextBody } from "../http/http-body.ts";
import type { HttpClient } from "../http/http-client.ts";
import { peerError, tooLarge } from "../http/http-errors.ts";
import type { ExchangeObserver, ResponseHead } from "../http/http-exchange.ts";
import { RedirectableGet } from "../http/http-redirect.ts";

export interface RestRequest {
  readonly url: URL;
  /** The JSON text of a POST; a request without it is a GET. */
  readonly body?: string;
}

export interface RestResponse {
  readonly head: ResponseHead;
  readonly text: string;
}

/** Sends one request of plain JSON and reads its whole response, whatever the status. */
export class RestExchange implements ExchangeObserver {
  readonly #client: HttpClient;
  readonly #request: RestRequest;
  readonly #stream: RequestStream | undefined;
  #exchange: { abort(reason: McpError): void } | undefined;
  #head: ResponseHead | undefined;
  #text = "";
  #resolve: (response: RestResponse) => void = () => undefined;
  #reject: (failure: McpError) => void = () => undefined;

  constructor(client: HttpClient, request: RestRequest, stream: RequestStream | undefined) {
    this.#client = client;
    this.#request = request;
    this.#stream = stream;
  }

  /** Rejects with an `McpError` when no complete response can come any more. */
  run(): Promise<RestResponse> {
    return new Promise((resolve, reject) => {
      this.#resolve = resolve;
      this.#reject = reject;
      if (this.#stream?.isAborted === true) return this.onEnd(this.#cancelled());
      if (this.#stream !== undefined) this.#stream.listener = this;
      this.#send();
    });
  }

  /** Ends the exchange with `reason` unless it is over. */
  cancel(reason: McpError): void {
    this.#exchange?.abort(reason);
  }

  /** Cancels the exchange: the request's stream was aborted. */
  onAbort(): void {
    this.cancel(this.#cancelled());
  }

  onHead(head: ResponseHead): BodySink {
    const { peer, limits } = this.#client;
    const maxBytes = limits.maxMessageBytes;
    this.#head = head;
    return new TextBody({
      maxBytes,
      // Of a refusal only the beginning is read.
      ...(head.status < 300 && { tooLarge: () => tooLarge(peer, maxBytes) }),
      onText: (text) => {
        this.#text = text;
      },
    });
  }

  onEnd(failure: McpError | undefined): void {
    if (this.#stream !== undefined) this.#stream.listener = undefined;
    if (failure !== undefined) this.#reject(failure);
    else if (this.#head !== undefined) this.#resolve({ head: this.#head, text: this.#text });
  }

  #send(): void {
    const { url, body } = this.#request;
    const timeoutMs = this.#client.timeoutMs(this.#stream);
    const request = {
      url,
      headers: this.#client.headers.forJson(body !== undefined),
      headersTimeoutMs: timeoutMs,
      bodyTimeoutMs: timeoutMs,
    };
    if (body === undefined) {
      const get = new RedirectableGet(this.#client, "calls", request, this);
      this.#exchange = get;
      get.run();
    } else {
      this.#exchange = this.#client.open("calls", { ...request, method: "POST", body }, this);
    }
  }

  #cancelled(): McpError {
    return peerError(this.#client.peer, "cancelled", "the call was cancelled");
  }
}
