import type { JSONRPCMessage } from "@modelcontextprotocol/client";

import { expectManyListeners } from "../../async/shared-signal.ts";
import type { Limits } from "../../config/keys/limits.ts";
import type { McpError } from "../../errors/mcp-error.ts";
import type { Clock } from "../../ports/clock.ts";
import type { Logger } from "../../ports/logger.ts";
import { isJsonObject, type JsonObject } from "../../text/json-object.ts";
import { serverText } from "../../text/untrusted/bounded-text.ts";
import {
  type ChannelTransport,
  RequestStream,
  type SendOptions,
} from "../wire/channel-transport.ts";
import { findInexactNumber } from "../wire/inexact-number.ts";
import type { InputHandlers } from "../wire/input-handlers.ts";
import { isRequestId, requestText, withMeta } from "../wire/json-rpc.ts";
import { allowsBatches, eraOfVersion, type ProtocolEra } from "../wire/protocol-versions.ts";
import {
  cancelledFailure,
  closedFailure,
  type Exchange,
  lostFailure,
  malformedAnswer,
  mismatchFailure,
  sendFailure,
  startFailure,
  withdrawnFailure,
} from "./channel-failures.ts";
import { RequestDeadlines } from "./deadlines.ts";
import { answerFailure, isPlainResult, isResponse } from "./incoming-message.ts";
import { type PendingRequest, PendingRequests } from "./pending-requests.ts";
import { withProgressToken } from "./progress-report.ts";
import { reportHandlerFailure, runHandler } from "./run-handler.ts";
import { ServerMessages } from "./server-messages.ts";
import { TokenBucket } from "./token-bucket.ts";

/** Counts of what came in, for error messages and logs. */
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
  /** Takes notifications and requests of the server. */
  readonly serverMessages: ServerMessages;
  /** Called with an error response that names no request: the server could not read the id of what it answers. */
  onanonymouserror: ((error: McpError) => void) | undefined;
  /** Called when the server answers a request with an error; a promise stands for the error that the caller gets instead. */
  onrefusal:
    | ((request: PendingRequest, error: McpError) => Promise<McpError> | undefined)
    | undefined;
  /** Called when a number in the result of a tool is not the one the server wrote, which is `literal`. */
  oninexact: ((request: PendingRequest, literal: string) => void) | undefined;
  /** Called once; `error` is absent when this side closed. */
  onend: ((error: McpError | undefined) => void) | undefined;

  readonly #transport: ChannelTransport;
  readonly #options: RpcChannelOptions;
  readonly #pending: PendingRequests;
  readonly #deadlines: RequestDeadlines;
  /** Bounds the rate of messages that mean nothing: junk and stray responses. */
  readonly #dropRate: TokenBucket;
  readonly #counts = { received: 0, junk: 0, anonymousErrors: 0 };
  #era: ProtocolEra | undefined;
  #hasBatches = false;
  #envelope: JsonObject | undefined;
  #end: McpError | undefined;
  #closing: Promise<void> | undefined;

  constructor(transport: ChannelTransport, options: RpcChannelOptions) {
    const { limits, clock, logger, serverName, strict } = options;
    this.#transport = transport;
    this.#options = options;
    this.#pending = new PendingRequests({ strict });
    this.#dropRate = new TokenBucket({
      perSecond: limits.maxNotificationsPerSecond,
      burst: limits.notificationBurst,
      clock,
    });
    this.#deadlines = new RequestDeadlines(this.#pending, {
      serverName,
      limits,
      clock,
      giveUp: (request, error, reason) => this.#giveUp(request, error, reason),
    });
    this.serverMessages = new ServerMessages({
      ...options,
      deadlines: this.#deadlines,
      era: () => this.#era,
      answer: (message) => this.#answer(message),
      withdraw: (id) => this.#withdrawn(id),
      onOverRate: () => transport.slowDown?.(),
    });
    transport.onmessage = (message: unknown, text) => this.#receive(message, text);
    transport.onclose = () => this.#ended(transport.failure ?? lostFailure(serverName));
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

  /** No request is pending; subscriptions, which stay open to hear of changes, do not count. */
  get isIdle(): boolean {
    for (const { options } of this.#pending.all())
      if (options.purpose !== "subscription") return false;
    return true;
  }

  get counts(): ChannelCounts {
    const { unmatched, repeated } = this.#pending;
    return { ...this.#counts, unmatched, repeated, overRate: this.serverMessages.overRate };
  }

  async start(): Promise<void> {
    try {
      await this.#transport.start();
    } catch (cause) {
      throw this.#end ?? startFailure(cause, this.#options.serverName);
    }
  }

  /** Sets the revision that both sides speak from here on; `envelope` is added to every notification. */
  setProtocolVersion(version: string, envelope?: JsonObject): void {
    this.#era = eraOfVersion(version);
    this.#hasBatches = allowsBatches(version);
    this.#envelope = envelope;
    this.#transport.setProtocolVersion?.(version);
    this.serverMessages.eraFound();
  }

  /** Sends a request; whatever becomes of it arrives at its `succeed` or `fail`. */
  request(request: PendingRequest): void {
    const { method, options } = request;
    const { signal, onProgress } = options;
    if (this.#end !== undefined) return request.fail(this.#end);
    if (signal !== undefined) {
      if (signal.aborted) return request.fail(this.#cancelled(method));
      request.onAbort = () =>
        this.#giveUp(request, this.#cancelled(method), "cancelled by the caller");
      // Node warns of a signal with many listeners; a lone call need not pay for preventing it.
      if (this.#pending.size > 0) expectManyListeners(signal);
      signal.addEventListener("abort", request.onAbort);
    }
    this.#pending.add(request);
    this.#deadlines.start(request);
    const { id } = request;
    const wantsProgress = onProgress !== undefined;
    const params = wantsProgress ? withProgressToken(request.params, id) : request.params;
    const paramsText = wantsProgress ? undefined : request.paramsText;
    const text = paramsText === undefined ? undefined : requestText(id, method, paramsText);
    if (this.hasPerRequestStream) request.stream = new RequestStream();
    this.#transmit({ jsonrpc: "2.0", id, method, params }, request, text);
  }

  /** Ends a request without telling its caller or the server; a late answer does not count against the server. */
  abandon(request: PendingRequest): boolean {
    const wasOpen = this.#pending.abandon(request);
    if (!wasOpen) return false;
    this.#release(request);
    request.stream?.abort();
    if (this.#pending.size === 0) this.#deadlines.stop();
    return true;
  }

  /** Cancels a request whose purpose is gone and tells the server. */
  withdraw(request: PendingRequest): void {
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
    this.#deadlines.stop();
    this.serverMessages.end();
    for (const request of this.#pending.drain()) {
      this.#release(request);
      this.#runHandler(() => request.fail(end));
    }
    this.#runHandler(() => this.onend?.(error));
  }

  /** `text`: the JSON of the message, where it is known. */
  #transmit(message: JSONRPCMessage, request: PendingRequest, text: string | undefined): void {
    let sending: Promise<void>;
    try {
      sending = this.#transport.send(message, sendOptions(request, text));
    } catch (cause) {
      return this.#unsent(request, cause);
    }
    Promise.resolve(sending).catch((cause: unknown) => this.#unsent(request, cause));
  }

  #unsent(request: PendingRequest, cause: unknown): void {
    if (!this.abandon(request)) return;
    this.#runHandler(() => request.fail(sendFailure(cause, this.#exchange(request.method))));
  }

  /** Ends a request without an answer and tells the server to stop working on it. */
  #giveUp(request: PendingRequest, error: McpError, reason: string): void {
    if (!this.abandon(request)) return;
    const { id, stream, options } = request;
    // In the modern era the end of the request's stream tells the server.
    const isToldByStream = stream !== undefined && this.#era === "modern";
    if (options.purpose !== "handshake" && !isToldByStream && stream?.isUnsent !== true)
      this.notify("notifications/cancelled", { requestId: id, reason }).catch(() => undefined);
    this.#runHandler(() => request.fail(error));
  }

  #release({ onAbort, options }: PendingRequest): void {
    if (onAbort !== undefined) options.signal?.removeEventListener("abort", onAbort);
  }

  #cancelled(method: string): McpError {
    return cancelledFailure(method, this.#options.serverName);
  }

  #receive(message: unknown, text: string | undefined): void {
    if (!Array.isArray(message)) return this.#dispatch(message, text);
    const refusal = this.#hasBatches
      ? undefined
      : "it came in a batch, which this protocol version does not have";
    for (const item of message as unknown[]) this.#dispatch(item, undefined, refusal);
  }

  /** `refusal` says why no answer in this message counts: whoever waits for it must still be told. */
  #dispatch(message: unknown, text: string | undefined, refusal?: string): void {
    if (this.#end !== undefined) return;
    this.#counts.received += 1;
    try {
      if (!isJsonObject(message)) this.#junk();
      else if (message["method"] === undefined) this.#answered(message, text, refusal);
      else if (!this.serverMessages.take(message)) this.#junk();
    } catch (error) {
      // It must not end the transport's read loop.
      const { logger, serverName } = this.#options;
      reportHandlerFailure(error, logger, serverName);
    }
  }

  #runHandler(task: () => void): void {
    const { logger, serverName } = this.#options;
    runHandler(task, logger, serverName);
  }

  #answered(message: JsonObject, text: string | undefined, refusal: string | undefined): void {
    const request = this.#pending.take(message["id"]);
    if (request === undefined) return this.#strayed(message);
    this.#release(request);
    if (request.options.keepRaw === true) request.raw = text;
    if (refusal === undefined && isPlainResult(message)) {
      if (text !== undefined) this.#checkNumbers(request, message.result, text);
      return request.succeed(message.result);
    }
    const exchange = this.#exchange(request.method);
    const failure =
      refusal === undefined ? answerFailure(message, exchange) : malformedAnswer(refusal, exchange);
    if (failure === undefined) request.succeed(message["result"] as JsonObject);
    else this.#refused(request, failure);
  }

  #refused(request: PendingRequest, failure: McpError): void {
    const later = this.onrefusal?.(request, failure);
    if (later === undefined) request.fail(failure);
    else void later.then((error) => this.#runHandler(() => request.fail(error)));
  }

  /** Text blocks carry their numbers as text, so only what goes beyond them can have been changed. */
  #checkNumbers(request: PendingRequest, result: JsonObject, text: string): void {
    const { structuredContent, _meta } = result;
    if (structuredContent === undefined && _meta === undefined) return;
    if (request.method !== "tools/call" || this.oninexact === undefined) return;
    const literal = findInexactNumber(text);
    if (literal !== undefined) this.#runHandler(() => this.oninexact?.(request, literal));
  }

  #strayed(message: JsonObject): void {
    const { id } = message;
    if (!isResponse(message)) return this.#junk();
    this.#dropped();
    if (!isRequestId(id)) {
      this.#counts.anonymousErrors += 1;
      const failure = answerFailure(message, this.#exchange("a request"));
      if (failure !== undefined) this.onanonymouserror?.(failure);
    } else if (this.#pending.countStray(id) === "violation") {
      const open = this.#pending.all().map((request) => request.id);
      this.#ended(mismatchFailure(open, id, this.#options.serverName));
      void this.close();
    }
  }

  #junk(): void {
    this.#counts.junk += 1;
    this.#dropped();
  }

  /** Slows reading when many messages mean nothing: at full speed they would leave no time for anything else. */
  #dropped(): void {
    if (!this.#dropRate.take()) this.#transport.slowDown?.();
  }

  /** The server ends a subscription; any other request of ours is its to answer. */
  #withdrawn(id: unknown): void {
    const request = this.#pending.get(id);
    if (request?.options.purpose !== "subscription" || !this.abandon(request)) return;
    request.fail(withdrawnFailure(this.#exchange(request.method)));
  }

  /** Answers a request of the server; whether the answer arrives is the server's concern. */
  #answer(message: JSONRPCMessage): void {
    (async () => await this.#transport.send(message))().catch(() => undefined);
  }

  #exchange(method: string): Exchange {
    const { serverName, secrets } = this.#options;
    return { serverName, method, secrets };
  }
}

function sendOptions({ stream, options }: PendingRequest, text?: string): SendOptions | undefined {
  if (stream === undefined) return text === undefined ? undefined : { text };
  return { text, stream, headers: options.headers };
}

/** Resolves when the transport has closed, with whatever success, or has had time enough. */
function closeTransport(transport: ChannelTransport, options: RpcChannelOptions): Promise<void> {
  const { clock, limits, logger, serverName } = options;
  return new Promise((resolve) => {
    // Ours keep to the grace by themselves; one handed over in code may never finish closing.
    const timer = clock.schedule(2 * limits.stopGraceMs, resolve);
    const closing = (async () => await transport.close())();
    closing
      .catch((error: unknown) =>
        logger.warn("the transport did not close cleanly", { serverName, error: String(error) }),
      )
      .finally(() => {
        timer.cancel();
        resolve();
      });
  });
}
