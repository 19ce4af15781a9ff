import type { McpError } from "../../errors/mcp-error.ts";
import { redirectWithin } from "../../isolation/network/judge-redirect.ts";
import { type BodySink, DiscardedBody } from "./http-body.ts";
import type { HttpClient } from "./http-client.ts";
import {
  type Exchange,
  type ExchangeObserver,
  type HttpRequest,
  type ResponseHead,
  headerOf,
} from "./http-exchange.ts";
import type { PoolName } from "./http-pool.ts";

const maxRedirects = 3;
const redirectStatuses: ReadonlySet<number> = new Set([301, 302, 303, 307, 308]);

/**
 * Returns the target of a redirect that answers a GET of `from`, if it lies within the same origin: the
 * credentials of the request may go there and nowhere else.
 */
export function sameOriginRedirect(head: ResponseHead, from: URL): URL | undefined {
  return redirectStatuses.has(head.status)
    ? redirectWithin(from, headerOf(head, "location"))
    : undefined;
}

export interface GetRequest extends Omit<HttpRequest, "method" | "body" | "url"> {
  readonly url: URL;
}

/**
 * A GET that follows redirects within its origin, three at most: frameworks answer `/tools/` with a
 * redirect to `/tools`. The observer sees one exchange, the last; a redirect that is not followed is
 * a response like any other.
 */
export class RedirectableGet implements ExchangeObserver {
  readonly #client: HttpClient;
  readonly #pool: PoolName;
  readonly #request: GetRequest;
  readonly #observer: ExchangeObserver;
  #exchange: Exchange | undefined;
  #url: URL;
  #next: URL | undefined;
  #redirects = 0;

  constructor(client: HttpClient, pool: PoolName, request: GetRequest, observer: ExchangeObserver) {
    this.#client = client;
    this.#pool = pool;
    this.#request = request;
    this.#observer = observer;
    this.#url = request.url;
  }

  /** The address that redirects have led to so far. */
  get url(): URL {
    return this.#url;
  }

  run(): void {
    const request: HttpRequest = { ...this.#request, method: "GET", url: this.#url };
    this.#exchange = this.#client.open(this.#pool, request, this);
  }

  /** Ends the GET with `reason` unless it is over. */
  abort(reason: McpError): void {
    this.#exchange?.abort(reason);
  }

  onHead(head: ResponseHead): BodySink {
    this.#next = this.#redirects < maxRedirects ? sameOriginRedirect(head, this.#url) : undefined;
    return this.#next === undefined ? this.#observer.onHead(head) : new DiscardedBody();
  }

  onEnd(failure: McpError | undefined): void {
    const next = this.#next;
    this.#next = undefined;
    if (next === undefined || failure !== undefined) return this.#observer.onEnd(failure);
    this.#redirects += 1;
    this.#url = next;
    this.run();
  }
}
