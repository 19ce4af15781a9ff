import type { Transform } from "node:stream";

import type { Dispatcher } from "undici";

import type { McpError } from "../../errors/mcp-error.ts";
import { forgetRead, pauseRead, resumeRead } from "../../isolation/network/paused-reads.ts";
import type { Clock, Timer } from "../../ports/clock.ts";
import { readTurns } from "../reading/read-turns.ts";
import { type BodySink, createDecoder } from "./http-body.ts";
import { type HttpPeer, networkError, peerError, quote } from "./http-errors.ts";

/** How long a stream may stay open after its answer, at least; at most twice as long. */
const lingerMs = 1_000;

export interface HttpRequest {
  readonly method: "POST" | "GET" | "DELETE";
  /** Another address of the same origin than the configured one. */
  readonly url?: URL | undefined;
  /** Names and values in turn. */
  readonly headers: string[];
  readonly body?: string;
  /** How long the other side may take for the headers of its answer; `0` means for ever. */
  readonly headersTimeoutMs: number;
  /** How long it may be silent in the middle of the body; `0` means for ever. */
  readonly bodyTimeoutMs: number;
}

export interface ResponseHead {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
}

/** The first value of a header; `name` in lower case. */
export function headerOf(head: ResponseHead, name: string): string | undefined {
  const value = head.headers[name];
  return Array.isArray(value) ? value[0] : value;
}

/** The media type without its parameters, in lower case. */
export function mediaTypeOf(head: ResponseHead): string {
  return (headerOf(head, "content-type") ?? "").split(";", 1)[0]?.trim().toLowerCase() ?? "";
}

/** Follows one exchange. An error that it throws fails the exchange. */
export interface ExchangeObserver {
  /** Chooses, by status and headers, who reads the body. */
  onHead(head: ResponseHead): BodySink;
  /** Called exactly once, after the sink's `end` when there is no failure. */
  onEnd(failure: McpError | undefined): void;
}

/** A request that is under way, as whoever waits for it sees it. */
export interface Exchange {
  /** Whether it has a connection: from then on bytes of the request may have left. */
  readonly hasBegun: boolean;
  /** Ends the exchange with `reason` unless it is over; its connection is closed. */
  abort(reason: McpError): void;
}

/**
 * One HTTP request and its response, on undici's lowest level: no promise, no stream and no abort
 * signal per request. It follows no redirect and never repeats anything.
 */
export class HttpExchange implements Exchange, Dispatcher.DispatchHandler {
  readonly #peer: HttpPeer;
  readonly #observer: ExchangeObserver;
  #controller: Dispatcher.DispatchController | undefined;
  #sink: BodySink | undefined;
  #encoding: string | undefined;
  #decoder: Transform | undefined;
  #isDone = false;

  constructor(peer: HttpPeer, observer: ExchangeObserver) {
    this.#peer = peer;
    this.#observer = observer;
  }

  get hasBegun(): boolean {
    return this.#controller !== undefined;
  }

  run(dispatcher: Dispatcher, request: HttpRequest): void {
    const { origin, pathname, search } = request.url ?? this.#peer.url;
    dispatcher.dispatch(
      {
        origin,
        path: pathname + search,
        method: request.method,
        headers: request.headers,
        body: request.body ?? null,
        headersTimeout: request.headersTimeoutMs,
        bodyTimeout: request.bodyTimeoutMs,
      },
      this,
    );
  }

  abort(reason: McpError): void {
    this.#finish(reason);
    this.#controller?.abort(reason);
  }

  onRequestStart(controller: Dispatcher.DispatchController): void {
    // Aborted while it waited for a connection, which another request can have: the controller would
    // close it, though nothing has been written.
    if (this.#isDone) throw new Error("aborted");
    this.#controller = controller;
  }

  onResponseStart(
    _controller: Dispatcher.DispatchController,
    status: number,
    headers: ResponseHead["headers"],
  ): void {
    if (status < 200 || this.#isDone) return;
    const head = { status, headers };
    this.#encoding = headerOf(head, "content-encoding");
    this.#sink = this.#observer.onHead(head);
  }

  onResponseData(controller: Dispatcher.DispatchController, chunk: Buffer): void {
    if (this.#isDone) return;
    // Not before there is something to decode: nothing at all is no valid gzip.
    if (this.#encoding !== undefined) this.#startDecoding(this.#encoding);
    if (this.#decoder === undefined) this.#writeInTurn(controller, chunk);
    else if (!this.#decoder.write(chunk)) pauseRead(controller);
  }

  onResponseEnd(): void {
    if (this.#decoder === undefined) this.#complete();
    else this.#decoder.end();
  }

  onResponseError(_controller: Dispatcher.DispatchController, error: Error): void {
    this.#finish(networkError(this.#peer, error, this.hasBegun));
  }

  /** Decoding happens piece by piece: what the sink refuses is never inflated to the end. */
  #startDecoding(encoding: string): void {
    this.#encoding = undefined;
    const decoder = createDecoder(encoding);
    if (decoder === "unknown") {
      const message = `the answer is encoded as ${quote(this.#peer, encoding, 40)}, which was not asked for`;
      throw peerError(this.#peer, "http_error", message);
    }
    if (decoder === undefined) return;
    this.#decoder = decoder;
    const fail = (error: unknown): void => this.abort(networkError(this.#peer, error, true));
    decoder.on("drain", () => {
      if (this.#controller !== undefined) resumeRead(this.#controller);
    });
    decoder.on("error", fail);
    decoder.on("data", (chunk: Buffer) => {
      if (this.#isDone) return;
      try {
        this.#write(chunk);
      } catch (error) {
        fail(error);
      }
    });
    decoder.on("end", () => {
      try {
        this.#complete();
      } catch (error) {
        fail(error);
      }
    });
  }

  #writeInTurn(controller: Dispatcher.DispatchController, chunk: Buffer): void {
    readTurns.begin();
    this.#write(chunk);
    if (!this.#isDone) readTurns.end(controller);
  }

  #write(chunk: Buffer): void {
    if (this.#sink?.write(chunk) !== false) return;
    this.#complete();
    this.#controller?.abort(new Error("enough"));
  }

  #complete(): void {
    if (this.#isDone) return;
    this.#sink?.end();
    this.#finish(undefined);
  }

  #finish(failure: McpError | undefined): void {
    if (this.#isDone) return;
    this.#isDone = true;
    this.#decoder?.destroy();
    if (this.#controller !== undefined) forgetRead(this.#controller);
    this.#observer.onEnd(failure);
  }
}

/**
 * Ends exchanges whose answer has arrived. A server should end its stream then; one that does not would
 * keep a connection for ever, so after a moment the exchange is aborted. One timer serves them all.
 */
export class LingeringExchanges {
  readonly #clock: Clock;
  readonly #reason: McpError;
  #fresh = new Set<Exchange>();
  #overdue = new Set<Exchange>();
  #timer: Timer | undefined;

  constructor(clock: Clock, reason: McpError) {
    this.#clock = clock;
    this.#reason = reason;
  }

  add(exchange: Exchange): void {
    this.#fresh.add(exchange);
    this.#timer ??= this.#clock.schedule(lingerMs, this.#sweep);
  }

  /** Forgets an exchange that has ended. */
  delete(exchange: Exchange): void {
    if (!this.#fresh.delete(exchange)) this.#overdue.delete(exchange);
  }

  abortAll(): void {
    this.#timer?.cancel();
    this.#timer = undefined;
    for (const exchange of [...this.#fresh, ...this.#overdue]) exchange.abort(this.#reason);
  }

  readonly #sweep = (): void => {
    for (const exchange of this.#overdue) exchange.abort(this.#reason);
    this.#overdue = this.#fresh;
    this.#fresh = new Set();
    this.#timer =
      this.#overdue.size === 0 ? undefined : this.#clock.schedule(lingerMs, this.#sweep);
  };
}
