import type { RequestId } from "../wire/request-id.ts";
import { OpenRequests } from "./open-requests.ts";
import type { RpcRequest } from "./rpc-request.ts";

/** Responses nobody asked for that a lenient connection drops before it gives up on the server. */
const maxUnmatched = 100;
/** How many ids of abandoned requests a strict connection remembers, so that it can tell late from wrong. */
const maxAbandoned = 1_000;

/**
 * What a response with an id that is not open is: about a request that is over (`repeated`), about
 * none of ours (`unmatched`), or one too many of them, so that the connection must close.
 */
export type Stray = "repeated" | "unmatched" | "violation";

/**
 * Which requests wait for an answer, in the order they were sent. Ids are ours and count upwards, so
 * that what became of any of them needs no memory. They match by type and value: `"7"` never answers
 * `7`. Whoever sends unmatched answers may be guessing ids, so past a bound they end the connection.
 */
export class RequestLedger {
  readonly #strict: boolean;
  readonly #open = new OpenRequests();
  readonly #abandoned = new Set<RequestId>();
  #unmatched = 0;
  #repeated = 0;

  constructor(options: { readonly strict: boolean }) {
    this.#strict = options.strict;
  }

  get unmatched(): number {
    return this.#unmatched;
  }

  /** Late and second answers. */
  get repeated(): number {
    return this.#repeated;
  }

  get isEmpty(): boolean {
    return this.#open.size === 0;
  }

  /** Oldest first. */
  requests(): Iterable<RpcRequest> {
    return this.#open;
  }

  /** Gives the request its id. */
  open(request: RpcRequest): void {
    this.#open.add(request);
  }

  /** The request that waits under exactly this id. */
  get(id: unknown): RpcRequest | undefined {
    return this.#open.get(id);
  }

  /** Like `get`, and it waits no longer. */
  take(id: unknown): RpcRequest | undefined {
    const request = this.#open.get(id);
    if (request !== undefined) this.#open.delete(request);
    return request;
  }

  /** Nobody waits any longer; the answer may still come and is no offence. False when none was open. */
  abandon(request: RpcRequest): boolean {
    if (!this.#open.delete(request)) return false;
    if (!this.#strict) return true;
    this.#abandoned.add(request.id);
    if (this.#abandoned.size > maxAbandoned) {
      const [oldest] = this.#abandoned;
      if (oldest !== undefined) this.#abandoned.delete(oldest);
    }
    return true;
  }

  /** Removes all open requests, when the connection ends. */
  drain(): RpcRequest[] {
    const requests = [...this.#open];
    for (const request of requests) this.#open.delete(request);
    return requests;
  }

  judgeStray(id: RequestId): Stray {
    const isOver =
      typeof id === "number" && Number.isInteger(id) && id > 0 && id <= this.#open.lastId;
    if (isOver && (!this.#strict || this.#abandoned.has(id))) {
      this.#repeated += 1;
      return "repeated";
    }
    this.#unmatched += 1;
    return this.#strict || this.#unmatched > maxUnmatched ? "violation" : "unmatched";
  }
}
