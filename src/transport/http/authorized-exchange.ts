import type { Dispatcher } from "undici";

import type { RequestAuthorization } from "../../auth/request-authorization.ts";
import { McpError } from "../../errors/mcp-error.ts";
import { type BodySink, excerptBody } from "./http-body.ts";
import { type HttpPeer, networkError } from "./http-errors.ts";
import {
  type Exchange,
  type ExchangeObserver,
  headerOf,
  HttpExchange,
  type HttpRequest,
  type ResponseHead,
} from "./http-exchange.ts";

/**
 * How many tokens may end under one request. A server that ends a token after a few uses lets in only a few of many
 * parallel requests with each; with every token some get through, and this many are enough for all of a host.
 */
const maxTurns = 100;

/** Where a request goes, and who shows who is calling there. */
export interface AuthorizedPeer {
  readonly peer: HttpPeer;
  readonly dispatcher: Dispatcher;
  readonly authorization: RequestAuthorization;
}

/**
 * One HTTP request that shows who is calling. A server that refuses it has not acted on it, so it may be sent again
 * when there is a new token. The observer sees one exchange, the last.
 */
export class AuthorizedExchange implements Exchange, ExchangeObserver {
  readonly #peer: HttpPeer;
  readonly #observer: ExchangeObserver;
  readonly #authorization: RequestAuthorization;
  readonly #dispatcher: Dispatcher;
  readonly #request: HttpRequest;
  #fields: readonly string[] = [];
  #exchange: HttpExchange | undefined;
  #refusal: { readonly head: ResponseHead; readonly text: string } | undefined;
  #repeats = 0;
  #turns = 0;
  #isDone = false;

  constructor(
    { peer, dispatcher, authorization }: AuthorizedPeer,
    request: HttpRequest,
    observer: ExchangeObserver,
  ) {
    this.#peer = peer;
    this.#dispatcher = dispatcher;
    this.#authorization = authorization;
    this.#request = request;
    this.#observer = observer;
  }

  get hasBegun(): boolean {
    return this.#exchange?.hasBegun === true;
  }

  /** Asks for the fields and sends the request with them; most of the time they are there at once. */
  run(): void {
    const { method, url = this.#peer.url } = this.#request;
    const isRepeated = this.#repeats + this.#turns > 0;
    const fields = this.#authorization.fieldsFor({ method, url, isRepeated });
    if (!(fields instanceof Promise)) return this.#send(fields);
    fields.then(
      (given) => {
        if (!this.#isDone) this.#send(given);
      },
      (error: unknown) => this.#finish(this.#failureOf(error)),
    );
  }

  abort(reason: McpError): void {
    if (this.#exchange === undefined) this.#finish(reason);
    else this.#exchange.abort(reason);
  }

  onHead(head: ResponseHead): BodySink {
    if (head.status === 401 || head.status === 403)
      return excerptBody((text) => {
        this.#refusal = { head, text };
      });
    this.#authorization.accepted(this.#fields);
    return this.#observer.onHead(head);
  }

  onEnd(failure: McpError | undefined): void {
    const refusal = this.#refusal;
    this.#refusal = undefined;
    if (refusal === undefined || failure !== undefined) return this.#finish(failure);
    this.#exchange = undefined;
    const { head } = refusal;
    const judged = this.#authorization.refused({
      status: head.status,
      challenge: head.headers["www-authenticate"],
      dpopNonce: headerOf(head, "dpop-nonce"),
      fields: this.#fields,
      repeats: this.#repeats,
    });
    void judged.then((verdict) => {
      if (this.#isDone) return;
      if (verdict === "again") this.#repeats += 1;
      else if (verdict === "next") this.#turns += 1;
      else return this.#finish(verdict);
      if (this.#turns <= maxTurns) this.run();
      else this.#replay(refusal.head, refusal.text);
    });
  }

  #send(fields: readonly string[]): void {
    const request = this.#request;
    this.#fields = fields;
    this.#exchange = new HttpExchange(this.#peer, this);
    this.#exchange.run(
      this.#dispatcher,
      fields.length === 0 ? request : { ...request, headers: [...request.headers, ...fields] },
    );
  }

  /** Lets the observer judge a refusal that nobody can help. */
  #replay(head: ResponseHead, text: string): void {
    try {
      const sink = this.#observer.onHead(head);
      if (sink.write(Buffer.from(text))) sink.end();
      this.#finish(undefined);
    } catch (error) {
      this.#finish(this.#failureOf(error));
    }
  }

  #failureOf(error: unknown): McpError {
    return McpError.is(error) ? error : networkError(this.#peer, error, false);
  }

  #finish(failure: McpError | undefined): void {
    if (this.#isDone) return;
    this.#isDone = true;
    this.#observer.onEnd(failure);
  }
}
