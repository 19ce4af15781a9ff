import type { McpError } from "../../errors/mcp-error.ts";
import type { JsonObject } from "../../text/json-object.ts";
import type { RequestOptions } from "../protocol-client.ts";
import type { RequestStream } from "../wire/channel-transport.ts";
import type { RequestId } from "../wire/json-rpc.ts";

/** Responses nobody asked for that a lenient connection drops before it gives up on the server. */
const maxUnmatched = 100;
/** How many ids of abandoned requests a strict connection remembers, so that it can tell late from wrong. */
const maxAbandoned = 1_000;
const fewestSlots = 64;

export interface RpcRequestOptions extends RequestOptions {
  /** Headers beside those the transport sends by itself, where each request has a stream of its own. */
  readonly headers?: Readonly<Record<string, string>> | undefined;
  /**
   * `handshake`: the server is not told when the request is given up, because a server that has not
   * been greeted expects no such message. `subscription`: the request stays open for as long as the
   * server likes.
   */
  readonly purpose?: "handshake" | "subscription" | undefined;
}

/** A request as its sender describes it. */
export interface OutgoingRequest {
  readonly method: string;
  readonly params: JsonObject;
  readonly options: RpcRequestOptions;
  /** The JSON of `params`, where it is known. */
  readonly paramsText?: string | undefined;
}

/** A request that was sent, as the reader of its result sees it. */
export interface SentRequest extends OutgoingRequest {
  /** Monotonic time. */
  readonly sentAt: number;
  readonly raw?: string | undefined;
  /** Set when the answer depends on what someone was asked in between. */
  readonly tookInput?: boolean;
}

/**
 * One request and all the channel keeps about it while it is unanswered. Exactly one of `succeed` and
 * `fail` is called, once, possibly before `RpcChannel.request` returns; neither after `abandon`.
 */
export abstract class PendingRequest implements SentRequest {
  readonly method: string;
  readonly params: JsonObject;
  readonly options: RpcRequestOptions;
  readonly paramsText: string | undefined;
  // Only the channel writes the fields from here on.
  id = 0;
  sentAt = 0;
  deadlineAt = Number.POSITIVE_INFINITY;
  lastProgress = Number.NEGATIVE_INFINITY;
  /** How many unhandled notifications had come before the request was sent. */
  unhandledBefore = 0;
  /** The stream of this request alone, on a transport that has one for each. */
  stream: RequestStream | undefined = undefined;
  onAbort: (() => void) | undefined = undefined;
  /** The response as it came; only with `keepRaw`, where the transport can tell. */
  raw: string | undefined = undefined;

  constructor({ method, params, options, paramsText }: OutgoingRequest) {
    this.method = method;
    this.params = params;
    this.options = options;
    this.paramsText = paramsText;
  }

  abstract succeed(result: JsonObject): void;
  abstract fail(error: McpError): void;
}

/** Makes of a result what the caller gets, or throws an `McpError`. */
export type ReadResult<T> = (result: JsonObject, request: SentRequest) => T | Promise<T>;

/** A request that settles a promise, the only one between the caller and the channel. */
export class PromisedRequest<T> extends PendingRequest {
  readonly promise: Promise<T>;
  readonly #read: ReadResult<T>;
  #resolve!: (value: T | Promise<T>) => void;
  #reject!: (error: unknown) => void;

  constructor(request: OutgoingRequest, read: ReadResult<T>) {
    super(request);
    this.#read = read;
    this.promise = new Promise((resolve, reject) => {
      this.#resolve = resolve;
      this.#reject = reject;
    });
  }

  override succeed(result: JsonObject): void {
    try {
      this.#resolve(this.#read(result, this));
    } catch (error) {
      this.#reject(error);
    }
  }

  override fail(error: McpError): void {
    this.#reject(error);
  }
}

/** How a request ended: the server's result object, or the one typed error that says why there is none. */
export type RpcAnswer =
  | { readonly ok: true; readonly result: JsonObject }
  | { readonly ok: false; readonly error: McpError };

/** A request that calls a function when it ends. */
export class CallbackRequest extends PendingRequest {
  readonly #settle: (answer: RpcAnswer) => void;

  constructor(request: OutgoingRequest, settle: (answer: RpcAnswer) => void) {
    super(request);
    this.#settle = settle;
  }

  override succeed(result: JsonObject): void {
    this.#settle({ ok: true, result });
  }

  override fail(error: McpError): void {
    this.#settle({ ok: false, error });
  }
}

/**
 * The kinds of responses whose id is not pending. `repeated`: the request is over. `unmatched`: no
 * request had the id. `violation`: it is one unmatched response too many, and the connection must close.
 */
export type Stray = "repeated" | "unmatched" | "violation";

/**
 * The requests that wait for an answer, by id. Ids are ours and count upwards, so that telling a late
 * answer from a wrong one needs no memory. They match by type and value: `"7"` never answers `7`. A
 * server that sends unmatched answers may be guessing ids, so past a bound they end the connection.
 *
 * Not a `Map`: one that is filled and emptied all the time is copied every few hundred entries, and each
 * copy keeps the next alive, with the requests in it, once one of them has grown old. With 64 calls in
 * flight that cost 1.8 µs of garbage collection a call, where a whole call takes 6.
 */
export class PendingRequests {
  readonly #strict: boolean;
  /** A request has the slot that the last bits of its id name; their number is a power of two. */
  #slots: (PendingRequest | undefined)[] = emptySlots(fewestSlots);
  #size = 0;
  readonly #abandoned = new Set<RequestId>();
  #lastId = 0;
  #unmatched = 0;
  #repeated = 0;

  constructor(options: { readonly strict: boolean }) {
    this.#strict = options.strict;
  }

  get size(): number {
    return this.#size;
  }

  /** How many responses answered no request of ours. */
  get unmatched(): number {
    return this.#unmatched;
  }

  /** How many responses came late or a second time. */
  get repeated(): number {
    return this.#repeated;
  }

  /** The requests as they are now, oldest first. */
  all(): readonly PendingRequest[] {
    return this.#slots.filter((it) => it !== undefined).toSorted((a, b) => a.id - b.id);
  }

  /** Gives the request its id. An id whose slot is taken is passed over. */
  add(request: PendingRequest): void {
    if (this.#size * 2 >= this.#slots.length) this.#grow();
    let id = this.#lastId + 1;
    while (this.#slots[this.#slotOf(id)] !== undefined) id += 1;
    request.id = id;
    this.#lastId = id;
    this.#slots[this.#slotOf(id)] = request;
    this.#size += 1;
  }

  /** The request that waits under exactly this id. */
  get(id: unknown): PendingRequest | undefined {
    if (typeof id !== "number") return undefined;
    const request = this.#slots[this.#slotOf(id)];
    return request?.id === id ? request : undefined;
  }

  /** Like `get`, and the request waits no longer. */
  take(id: unknown): PendingRequest | undefined {
    const request = this.get(id);
    if (request !== undefined) this.#free(request.id);
    return request;
  }

  /** Takes out a request whose answer may still come and is no offence then. False when it was not pending. */
  abandon(request: PendingRequest): boolean {
    const { id } = request;
    if (this.get(id) !== request) return false;
    this.#free(id);
    if (!this.#strict) return true;
    this.#abandoned.add(id);
    if (this.#abandoned.size > maxAbandoned) {
      const [oldest] = this.#abandoned;
      if (oldest !== undefined) this.#abandoned.delete(oldest);
    }
    return true;
  }

  /** Takes out all requests, when the connection ends. */
  drain(): readonly PendingRequest[] {
    const requests = this.all();
    for (const { id } of requests) this.#free(id);
    return requests;
  }

  /** Counts a response under an id that is not pending and says what it is. */
  countStray(id: RequestId): Stray {
    const isOver = typeof id === "number" && Number.isInteger(id) && id > 0 && id <= this.#lastId;
    if (isOver && (!this.#strict || this.#abandoned.has(id))) {
      this.#repeated += 1;
      return "repeated";
    }
    this.#unmatched += 1;
    return this.#strict || this.#unmatched > maxUnmatched ? "violation" : "unmatched";
  }

  #slotOf(id: number): number {
    return id & (this.#slots.length - 1);
  }

  #free(id: number): void {
    this.#slots[this.#slotOf(id)] = undefined;
    this.#size -= 1;
  }

  /** Doubles the slots: ids that had slots of their own among fewer have them among more. */
  #grow(): void {
    const before = this.#slots;
    this.#slots = emptySlots(before.length * 2);
    for (const request of before)
      if (request !== undefined) this.#slots[this.#slotOf(request.id)] = request;
  }
}

function emptySlots(count: number): (PendingRequest | undefined)[] {
  return Array.from({ length: count }, () => undefined);
}
