import type { JSONRPCMessage, Transport } from "@modelcontextprotocol/client";

import type { Limits } from "../config/limits.ts";
import { createError } from "../errors/families.ts";
import { McpError } from "../errors/mcp-error.ts";
import type { Clock } from "../ports/clock.ts";
import type { Logger } from "../ports/logger.ts";
import { answerServerRequest } from "./answer-server-request.ts";
import {
  closedFailure,
  type Exchange,
  invalidResult,
  malformedAnswer,
  mismatchFailure,
  rpcFailure,
  sendFailure,
} from "./channel-failures.ts";
import { readIncoming, type RequestId, type ResponseBody } from "./incoming-message.ts";
import { isJsonObject, type JsonObject } from "./json-object.ts";
import { isHandledNotification, NotificationBudget } from "./notification-budget.ts";
import { readProgress, withProgressToken } from "./progress-report.ts";
import type { Progress, ServerNotification } from "./protocol-client.ts";
import { allowsBatches, modernVersion } from "./protocol-versions.ts";
import { RequestLedger } from "./request-ledger.ts";
import { serverText } from "./server-text.ts";
import { TokenBucket } from "./token-bucket.ts";
import { failureOf } from "./transport-failure.ts";

/** How a request ended: the server's result object, or the one typed error that says why there is none. */
export type RpcAnswer =
  | { readonly ok: true; readonly result: JsonObject }
  | { readonly ok: false; readonly error: McpError };

export interface RpcRequest {
  readonly method: string;
  readonly params: JsonObject;
  /** Called exactly once, possibly before `request` returns; never after `abandon`. */
  readonly settle: (answer: RpcAnswer) => void;
  /** Asks the server to report progress under the request's id; never called once it is settled. */
  readonly onProgress?: ((report: Progress) => void) | undefined;
}

interface OpenRequest extends RpcRequest {
  /** Ends the request's own stream, on a transport that has one for each request. */
  readonly stream: AbortController | undefined;
}

/** What came in, for messages and logs. */
export interface ChannelCounts {
  readonly received: number;
  readonly junk: number;
  /** Error responses that name no request. */
  readonly anonymousErrors: number;
  /** Responses to no request of ours. */
  readonly unmatched: number;
  /** Messages nobody asked for that came faster than allowed and were dropped. */
  readonly overRate: number;
}

export interface RpcChannelOptions {
  readonly serverName: string;
  readonly limits: Limits;
  readonly strict: boolean;
  readonly clock: Clock;
  readonly logger: Logger;
}

/**
 * JSON-RPC over one transport with a peer that may be hostile: strict ids, bounded floods, every
 * answer typed, every open request settled when the connection ends. It knows neither deadlines nor
 * methods. Negotiation uses it first and the client afterwards, so nothing is lost in between.
 */
export class RpcChannel {
  /** Who waits for an answer, and how many unhandled notifications that may take. */
  readonly waits: NotificationBudget;
  onnotification: ((notification: ServerNotification) => void) | undefined;
  /** An error response that names no request: the server could not read the id of what it answers. */
  onanonymouserror: ((error: McpError) => void) | undefined;
  /** Called once; `error` is absent when this side closed. */
  onend: ((error: McpError | undefined) => void) | undefined;

  readonly #transport: Transport;
  readonly #options: RpcChannelOptions;
  readonly #ledger: RequestLedger<OpenRequest>;
  readonly #inbound: TokenBucket;
  readonly #counts = { received: 0, junk: 0, anonymousErrors: 0, overRate: 0 };
  #lastId = 0;
  #protocolVersion: string | undefined;
  #end: McpError | undefined;
  #closing: Promise<void> | undefined;

  constructor(transport: Transport, options: RpcChannelOptions) {
    const { limits, clock, logger, serverName, strict } = options;
    this.#transport = transport;
    this.#options = options;
    this.#ledger = new RequestLedger({ strict });
    this.waits = new NotificationBudget({ limit: limits.maxUnhandledNotifications, serverName });
    this.#inbound = new TokenBucket({
      perSecond: limits.maxNotificationsPerSecond,
      burst: limits.notificationBurst,
      clock,
    });
    transport.onmessage = (message: unknown) => this.#receive(message);
    transport.onclose = () => this.#ended(this.#transportFailure());
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

  get counts(): ChannelCounts {
    return { ...this.#counts, unmatched: this.#ledger.unmatched };
  }

  async start(): Promise<void> {
    const { serverName } = this.#options;
    try {
      await this.#transport.start();
    } catch (cause) {
      if (this.#end !== undefined) throw this.#end;
      if (McpError.is(cause)) throw cause;
      throw createError("unreachable", "the transport could not be opened", { serverName, cause });
    }
  }

  /** From here on both sides speak this revision. */
  setProtocolVersion(version: string): void {
    this.#protocolVersion = version;
    this.#transport.setProtocolVersion?.(version);
  }

  nextId(): RequestId {
    this.#lastId += 1;
    return this.#lastId;
  }

  /** Sends a request under an id of `nextId`; whatever becomes of it arrives at `request.settle`. */
  request(id: RequestId, request: RpcRequest): void {
    if (this.#end !== undefined) {
      request.settle({ ok: false, error: this.#end });
      return;
    }
    const { method, onProgress, settle } = request;
    const params = onProgress ? withProgressToken(request.params, id) : request.params;
    const stream = this.hasPerRequestStream ? new AbortController() : undefined;
    this.#ledger.open(id, { ...request, stream });
    this.#send({ jsonrpc: "2.0", id, method, params }, stream?.signal).catch((cause: unknown) => {
      if (this.#ledger.abandon(id) !== undefined)
        settle({ ok: false, error: sendFailure(cause, this.#exchange(method)) });
    });
  }

  /** The caller no longer waits; a late answer is dropped and does not count against the server. */
  abandon(id: RequestId): void {
    this.#ledger.abandon(id)?.stream?.abort();
  }

  /** Rejects with a typed error. Empty `params` are left out: some servers refuse them. */
  async notify(method: string, params: JsonObject = {}): Promise<void> {
    if (this.#end !== undefined) throw this.#end;
    const message = { jsonrpc: "2.0" as const, method };
    try {
      await this.#send(Object.keys(params).length === 0 ? message : { ...message, params });
    } catch (cause) {
      throw sendFailure(cause, this.#exchange(method));
    }
  }

  /** Idempotent: open requests settle as `closed` at once, then the transport closes in its own time. */
  close(): Promise<void> {
    this.#ended(undefined);
    this.#closing ??= this.#closeTransport();
    return this.#closing;
  }

  #closeTransport(): Promise<void> {
    const { clock, limits, logger, serverName } = this.#options;
    return new Promise((resolve) => {
      // Ours keep to the grace by themselves; one handed over in code may never finish closing.
      const timer = clock.schedule(2 * limits.stopGraceMs, resolve);
      const closing = (async () => await this.#transport.close())();
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

  #ended(error: McpError | undefined): void {
    if (this.#end !== undefined) return;
    const { logger, serverName } = this.#options;
    const end = error ?? closedFailure(serverName);
    this.#end = end;
    logger.debug("the connection ended", { serverName, code: end.code, ...this.counts });
    for (const request of this.#ledger.drain())
      this.#contain(() => request.settle({ ok: false, error: end }));
    this.#contain(() => this.onend?.(error));
  }

  /** A host's transport knows why it ended; any other has only ended. */
  #transportFailure(): McpError {
    const { failure } = this.#transport as { readonly failure?: unknown };
    if (McpError.is(failure)) return failure;
    const { serverName } = this.#options;
    return createError("connection_lost", "the server closed the connection", { serverName });
  }

  /** In an `async` function even a `send` that throws at once becomes a rejection. */
  async #send(message: JSONRPCMessage, requestSignal?: AbortSignal): Promise<void> {
    await this.#transport.send(message, requestSignal === undefined ? {} : { requestSignal });
  }

  #receive(message: unknown): void {
    const isBatch = Array.isArray(message);
    const refusal =
      isBatch && !allowsBatches(this.#protocolVersion)
        ? "it came in a batch, which this protocol version does not have"
        : undefined;
    for (const item of isBatch ? (message as unknown[]) : [message]) {
      if (this.#end !== undefined) return;
      this.#counts.received += 1;
      this.#contain(() => this.#dispatch(item, refusal));
    }
  }

  /** A handler that fails must neither end the transport's read loop nor keep others from being told. */
  #contain(task: () => void): void {
    try {
      task();
    } catch (error) {
      const { logger, serverName } = this.#options;
      logger.error("a handler failed", { serverName, error: String(error) });
    }
  }

  /** `refusal` says why no answer in this message counts: whoever waits for it must still be told. */
  #dispatch(raw: unknown, refusal: string | undefined): void {
    const message = readIncoming(raw);
    switch (message.kind) {
      case "response": {
        const body =
          refusal === undefined ? message.body : ({ kind: "malformed", reason: refusal } as const);
        this.#answered(message.id, body, failureOf(raw));
        return;
      }
      case "notification":
        this.#notified(message);
        return;
      case "request":
        // The modern era has no requests of the server: even a refusal would break its rules.
        if (this.#hasRoom() && this.#protocolVersion !== modernVersion)
          this.#send(answerServerRequest(message)).catch(() => undefined);
        return;
      case "junk":
        this.#counts.junk += 1;
    }
  }

  #answered(id: RequestId | null, body: ResponseBody, failure: McpError | undefined): void {
    if (id === null) {
      this.#counts.anonymousErrors += 1;
      const answer = readAnswer(body, this.#exchange("a request"));
      if (!answer.ok) this.onanonymouserror?.(failure ?? answer.error);
      return;
    }
    const match = this.#ledger.match(id);
    if (match.kind === "open") {
      const { method, settle } = match.entry;
      const answer = readAnswer(body, this.#exchange(method));
      settle(failure === undefined ? answer : { ok: false, error: failure });
    } else if (match.kind === "violation") {
      this.#ended(mismatchFailure(this.#ledger.openIds(), id, this.#options.serverName));
      void this.close();
    }
  }

  #notified(notification: ServerNotification): void {
    const { method, params } = notification;
    if (method === "notifications/progress") {
      if (this.#hasRoom() && !this.#progressed(params)) this.waits.unhandled();
      return;
    }
    if (!isHandledNotification(method)) this.waits.unhandled();
    if (this.#hasRoom())
      this.onnotification?.(params === undefined ? { method } : { method, params });
  }

  #progressed(params: JsonObject | undefined): boolean {
    const progress = readProgress(params);
    if (progress === undefined) return false;
    const onProgress = this.#ledger.get(progress.token)?.onProgress;
    onProgress?.(progress.report);
    return onProgress !== undefined;
  }

  /** Whether the rate allows one more message that nobody asked for. */
  #hasRoom(): boolean {
    if (this.#inbound.take()) return true;
    const { logger, serverName } = this.#options;
    if (this.#counts.overRate === 0)
      logger.warn("the server sends faster than allowed; messages are dropped", { serverName });
    this.#counts.overRate += 1;
    return false;
  }

  #exchange(method: string): Exchange {
    return { serverName: this.#options.serverName, method };
  }
}

function readAnswer(body: ResponseBody, exchange: Exchange): RpcAnswer {
  switch (body.kind) {
    case "result":
      return isJsonObject(body.result)
        ? { ok: true, result: body.result }
        : { ok: false, error: invalidResult("it is not an object", exchange) };
    case "error":
      return { ok: false, error: rpcFailure(body.error, exchange) };
    case "malformed":
      return { ok: false, error: malformedAnswer(body.reason, exchange) };
  }
}
