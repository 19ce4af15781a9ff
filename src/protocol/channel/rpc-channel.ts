import type { JSONRPCMessage, Transport } from "@modelcontextprotocol/client";

import { expectManyListeners } from "../../async/shared-signal.ts";
import type { Limits } from "../../config/keys/limits.ts";
import type { McpError } from "../../errors/mcp-error.ts";
import type { Clock } from "../../ports/clock.ts";
import type { Logger } from "../../ports/logger.ts";
import { isJsonObject, type JsonObject } from "../../text/json-object.ts";
import type { ProtocolEra } from "../protocol-client.ts";
import { findInexactNumber } from "../wire/inexact-number.ts";
import type { InputHandlers } from "../wire/input-handlers.ts";
import { withMeta } from "../wire/message-meta.ts";
import { allowsBatches, eraOfVersion } from "../wire/protocol-versions.ts";
import { isRequestId } from "../wire/request-id.ts";
import { serverText } from "../wire/server-text.ts";
import {
  cancelledFailure,
  closedFailure,
  type Exchange,
  malformedAnswer,
  mismatchFailure,
  sendFailure,
  withdrawnFailure,
} from "./channel-failures.ts";
import {
  closeTransport,
  endFailure,
  messageTextOf,
  openStream,
  slowReading,
  startFailure,
} from "./channel-transport.ts";
import { RequestWatch } from "./deadlines.ts";
import { answerFailure, isPlainResult, isResponse } from "./incoming-message.ts";
import { RequestLedger } from "./pending-requests.ts";
import { withProgressToken } from "./progress-report.ts";
import { RequestStream } from "./request-stream.ts";
import { requestText } from "./request-text.ts";
import type { RpcRequest } from "./rpc-request.ts";
import { contain, reportHandlerFailure } from "./run-handler.ts";
import type { SendOptions } from "./send-options.ts";
import { UnaskedMessages } from "./server-messages.ts";
import { TokenBucket } from "./token-bucket.ts";

/** What came in, for messages and logs. */
export interface ChannelCounts {
  readonly received: number;
  readonly junk: number;
  /** Error responses that name no request. */
  readonly anonymousErrors: number;
  /** Responses to no request of ours. */
  readonly unmatched: number;
  /** Responses to requests that were answered or given up before. */
  readonly repeated: number;
  /** Messages nobody asked for that came faster than allowed and were dropped. */
  readonly overRate: number;
}

export interface RpcChannelOptions {
  readonly serverName: string;
  readonly limits: Limits;
  readonly strict: boolean;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly inputHandlers?: InputHandlers | undefined;
  readonly secrets?: readonly string[] | undefined;
}

/**
 * JSON-RPC over one transport with a peer that may be hostile: strict ids, bounded floods, deadlines,
 * every answer typed, every open request settled when the connection ends. What the methods mean is
 * not its concern. Negotiation uses it first and the client afterwards, so nothing is lost in between.
 */
export class RpcChannel {
  /** Where notifications of the server arrive. */
  readonly unasked: UnaskedMessages;
  /** An error response that names no request: the server could not read the id of what it answers. */
  onanonymouserror: ((error: McpError) => void) | undefined;
  /** The server answered a request with an error: what to tell the caller, if that is not clear yet. */
  onrefusal: ((request: RpcRequest, error: McpError) => Promise<McpError> | undefined) | undefined;
  /** The result of a tool holds a number that is not the one the server wrote; `literal` is. */
  oninexact: ((request: RpcRequest, literal: string) => void) | undefined;
  /** Called once; `error` is absent when this side closed. */
  onend: ((error: McpError | undefined) => void) | undefined;

  readonly #transport: Transport;
  readonly #options: RpcChannelOptions;
  readonly #ledger: RequestLedger;
  readonly #watch: RequestWatch;
  /** Of messages that count for nothing. */
  readonly #dropRate: TokenBucket;
  readonly #counts = { received: 0, junk: 0, anonymousErrors: 0 };
  #era: ProtocolEra | undefined;
  #hasBatches = false;
  #envelope: JsonObject | undefined;
  /** A promise of the transport's `send` that is known to be fulfilled. */
  #fulfilled: Promise<void> | undefined;
  #end: McpError | undefined;
  #closing: Promise<void> | undefined;

  constructor(transport: Transport, options: RpcChannelOptions) {
    const { limits, clock, logger, serverName, strict } = options;
    this.#transport = transport;
    this.#options = options;
    this.#ledger = new RequestLedger({ strict });
    this.#dropRate = new TokenBucket({
      perSecond: limits.maxNotificationsPerSecond,
      burst: limits.notificationBurst,
      clock,
    });
    this.#watch = new RequestWatch(this.#ledger, {
      serverName,
      limits,
      clock,
      giveUp: (request, error, reason) => this.#giveUp(request, error, reason),
    });
    this.unasked = new UnaskedMessages({
      ...options,
      watch: this.#watch,
      era: () => this.#era,
      answer: (message) => this.#answer(message),
      withdraw: (id) => this.#withdrawn(id),
      onOverRate: () => slowReading(transport),
    });
    transport.onmessage = (message: unknown) => this.#receive(message);
    transport.onclose = () => this.#ended(endFailure(transport, serverName));
    transport.onerror = (error) =>
      logger.debug("the transport reported an error", {
        serverName,
        error: serverText(String(error)),
      });
  }

  get hasPerRequestStream(): boolean {
    return this.#transport.hasPerRequestStream === true;
  }

  /** Why nothing can be sent any more; undefined while the channel is open. */
  get end(): McpError | undefined {
    return this.#end;
  }

  /** Nothing is waited for; what stays open to hear of changes does not count. */
  get isIdle(): boolean {
    for (const { options } of this.#ledger.requests())
      if (options.purpose !== "subscription") return false;
    return true;
  }

  get counts(): ChannelCounts {
    const { unmatched, repeated } = this.#ledger;
    return { ...this.#counts, unmatched, repeated, overRate: this.unasked.overRate };
  }

  async start(): Promise<void> {
    try {
      await this.#transport.start();
    } catch (cause) {
      throw this.#end ?? startFailure(cause, this.#options.serverName);
    }
  }

  /** From here on both sides speak this revision; `envelope` goes along in every notification. */
  setProtocolVersion(version: string, envelope?: JsonObject): void {
    this.#era = eraOfVersion(version);
    this.#hasBatches = allowsBatches(version);
    this.#envelope = envelope;
    this.#transport.setProtocolVersion?.(version);
    this.unasked.eraFound();
  }

  /** Sends a request; whatever becomes of it arrives at its `succeed` or `fail`. */
  request(request: RpcRequest): void {
    const { method, options } = request;
    const { signal, onProgress } = options;
    if (this.#end !== undefined) return request.fail(this.#end);
    if (signal !== undefined) {
      if (signal.aborted) return request.fail(this.#cancelled(method));
      request.onAbort = () =>
        this.#giveUp(request, this.#cancelled(method), "cancelled by the caller");
      // A lone call need not pay for what only many need.
      if (!this.#ledger.isEmpty) expectManyListeners(signal);
      signal.addEventListener("abort", request.onAbort);
    }
    this.#ledger.open(request);
    this.#watch.begin(request);
    const { id } = request;
    const isWatched = onProgress !== undefined;
    const params = isWatched ? withProgressToken(request.params, id) : request.params;
    const paramsText = isWatched ? undefined : request.paramsText;
    const text = paramsText === undefined ? undefined : requestText(id, method, paramsText);
    if (this.hasPerRequestStream) request.stream = openStream(this.#transport);
    this.#transmit({ jsonrpc: "2.0", id, method, params }, request, text);
  }

  /** The caller no longer waits, and the server is not told; a late answer does not count against it. */
  abandon(request: RpcRequest): boolean {
    const wasOpen = this.#ledger.abandon(request);
    if (!wasOpen) return false;
    this.#release(request);
    request.stream?.abort();
    if (this.#ledger.isEmpty) this.#watch.stop();
    return true;
  }

  /** The caller no longer wants what the request was for, and the server is told. */
  withdraw(request: RpcRequest): void {
    const error = this.#cancelled(request.method);
    this.#giveUp(request, error, "no longer wanted");
  }

  /** Rejects with a typed error. Empty `params` are left out: some servers refuse them. */
  async notify(method: string, params: JsonObject = {}): Promise<void> {
    if (this.#end !== undefined) throw this.#end;
    const message = { jsonrpc: "2.0" as const, method };
    const full = this.#envelope === undefined ? params : withMeta(params, this.#envelope);
    try {
      await this.#transport.send(
        Object.keys(full).length === 0 ? message : { ...message, params: full },
      );
    } catch (cause) {
      throw sendFailure(cause, this.#exchange(method));
    }
  }

  /** Idempotent: open requests fail with the reason, else as `closed`, at once, then the transport closes in its own time. */
  close(reason?: McpError): Promise<void> {
    this.#ended(reason);
    this.#closing ??= closeTransport(this.#transport, this.#options);
    return this.#closing;
  }

  #ended(error: McpError | undefined): void {
    if (this.#end !== undefined) return;
    const { logger, serverName } = this.#options;
    const end = error ?? closedFailure(serverName);
    this.#end = end;
    logger.debug("the connection ended", { serverName, code: end.code, ...this.counts });
    this.#watch.stop();
    this.unasked.end();
    for (const request of this.#ledger.drain()) {
      this.#release(request);
      this.#contain(() => request.fail(end));
    }
    this.#contain(() => this.onend?.(error));
  }

  /** `text`: the JSON of the message, where it is known. */
  #transmit(message: JSONRPCMessage, request: RpcRequest, text: string | undefined): void {
    let sending: Promise<void>;
    try {
      sending = this.#transport.send(message, sendOptions(request, text));
    } catch (cause) {
      return this.#unsent(request, cause);
    }
    // A transport that answers every send with the same promise needs to be watched only once.
    if (sending === this.#fulfilled) return;
    Promise.resolve(sending).then(
      () => {
        this.#fulfilled = sending;
      },
      (cause: unknown) => this.#unsent(request, cause),
    );
  }

  #unsent(request: RpcRequest, cause: unknown): void {
    if (!this.abandon(request)) return;
    this.#contain(() => request.fail(sendFailure(cause, this.#exchange(request.method))));
  }

  /** The request is over without an answer, and the server is told to stop working on it. */
  #giveUp(request: RpcRequest, error: McpError, reason: string): void {
    if (!this.abandon(request)) return;
    const { id, stream, options } = request;
    // In the modern era the end of the request's stream says it all.
    const isToldByStream = stream !== undefined && this.#era === "modern";
    const isUnsent = stream instanceof RequestStream && stream.isUnsent;
    if (options.purpose !== "handshake" && !isToldByStream && !isUnsent)
      this.notify("notifications/cancelled", { requestId: id, reason }).catch(() => undefined);
    this.#contain(() => request.fail(error));
  }

  #release({ onAbort, options }: RpcRequest): void {
    if (onAbort !== undefined) options.signal?.removeEventListener("abort", onAbort);
  }

  #cancelled(method: string): McpError {
    return cancelledFailure(method, this.#options.serverName);
  }

  #receive(message: unknown): void {
    if (!Array.isArray(message)) return this.#dispatch(message, undefined);
    const refusal = this.#hasBatches
      ? undefined
      : "it came in a batch, which this protocol version does not have";
    for (const item of message as unknown[]) this.#dispatch(item, refusal);
  }

  /** `refusal` says why no answer in this message counts: whoever waits for it must still be told. */
  #dispatch(message: unknown, refusal: string | undefined): void {
    if (this.#end !== undefined) return;
    this.#counts.received += 1;
    try {
      if (!isJsonObject(message)) this.#junk();
      else if (message["method"] === undefined) this.#answered(message, refusal);
      else if (!this.unasked.take(message)) this.#junk();
    } catch (error) {
      // It must not end the transport's read loop.
      const { logger, serverName } = this.#options;
      reportHandlerFailure(error, logger, serverName);
    }
  }

  #contain(task: () => void): void {
    const { logger, serverName } = this.#options;
    contain(task, logger, serverName);
  }

  #answered(message: JsonObject, refusal: string | undefined): void {
    const request = this.#ledger.take(message["id"]);
    if (request === undefined) return this.#strayed(message);
    this.#release(request);
    if (request.options.keepRaw === true) request.raw = messageTextOf(this.#transport);
    if (refusal === undefined && isPlainResult(message)) {
      this.#checkNumbers(request, message.result);
      return request.succeed(message.result);
    }
    const exchange = this.#exchange(request.method);
    const failure =
      refusal === undefined ? answerFailure(message, exchange) : malformedAnswer(refusal, exchange);
    if (failure === undefined) request.succeed(message["result"] as JsonObject);
    else this.#refused(request, failure);
  }

  #refused(request: RpcRequest, failure: McpError): void {
    const later = this.onrefusal?.(request, failure);
    if (later === undefined) request.fail(failure);
    else void later.then((error) => this.#contain(() => request.fail(error)));
  }

  /** Text blocks carry their numbers as text, so only what goes beyond them can have been changed. */
  #checkNumbers(request: RpcRequest, { structuredContent, _meta }: JsonObject): void {
    if (structuredContent === undefined && _meta === undefined) return;
    if (request.method !== "tools/call" || this.oninexact === undefined) return;
    const literal = findInexactNumber(messageTextOf(this.#transport) ?? "");
    if (literal !== undefined) this.#contain(() => this.oninexact?.(request, literal));
  }

  #strayed(message: JsonObject): void {
    const { id } = message;
    if (!isResponse(message)) return this.#junk();
    this.#dropped();
    if (!isRequestId(id)) {
      this.#counts.anonymousErrors += 1;
      const failure = answerFailure(message, this.#exchange("a request"));
      if (failure !== undefined) this.onanonymouserror?.(failure);
    } else if (this.#ledger.judgeStray(id) === "violation") {
      const open = [...this.#ledger.requests()].map((request) => request.id);
      this.#ended(mismatchFailure(open, id, this.#options.serverName));
      void this.close();
    }
  }

  #junk(): void {
    this.#counts.junk += 1;
    this.#dropped();
  }

  /** Reading on at full speed would leave no time for anything else. */
  #dropped(): void {
    if (!this.#dropRate.take()) slowReading(this.#transport);
  }

  /** The server ends a subscription; any other request of ours is its to answer. */
  #withdrawn(id: unknown): void {
    const request = this.#ledger.get(id);
    if (request?.options.purpose !== "subscription" || !this.abandon(request)) return;
    request.fail(withdrawnFailure(this.#exchange(request.method)));
  }

  /** To a request of the server; whether it arrives is the server's concern. */
  #answer(message: JSONRPCMessage): void {
    (async () => await this.#transport.send(message))().catch(() => undefined);
  }

  #exchange(method: string): Exchange {
    const { serverName, secrets } = this.#options;
    return { serverName, method, secrets };
  }
}

function sendOptions({ stream, options }: RpcRequest, text?: string): SendOptions | undefined {
  if (stream === undefined) return text === undefined ? undefined : { text };
  const { headers } = options;
  return stream instanceof RequestStream
    ? { text, stream, headers }
    : { text, requestSignal: stream.signal, headers };
}
