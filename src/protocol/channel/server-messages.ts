import type { JSONRPCMessage } from "@modelcontextprotocol/client";

import type { Limits } from "../../config/keys/limits.ts";
import type { Clock } from "../../ports/clock.ts";
import type { Logger } from "../../ports/logger.ts";
import { type JsonObject, isJsonObject } from "../../text/json-object.ts";
import { maskSecrets } from "../../text/secrets/mask-secrets.ts";
import type { ServerNotification } from "../protocol-client.ts";
import type { InputHandlers } from "../wire/input-handlers.ts";
import { isRequestId } from "../wire/json-rpc.ts";
import { type ListKind, changedList } from "../wire/list-kind.ts";
import type { ProtocolEra } from "../wire/protocol-versions.ts";
import type { RequestDeadlines } from "./deadlines.ts";
import { runHandler } from "./run-handler.ts";
import { type ServerRequest, ServerRequests } from "./server-requests.ts";
import { TokenBucket } from "./token-bucket.ts";

export interface ServerMessagesOptions {
  readonly serverName: string;
  readonly limits: Limits;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly inputHandlers?: InputHandlers | undefined;
  readonly secrets?: readonly string[] | undefined;
  readonly deadlines: RequestDeadlines;
  /** Returns undefined until the handshake has shown the era. */
  readonly era: () => ProtocolEra | undefined;
  readonly answer: (answer: JSONRPCMessage) => void;
  /** Called when a message is dropped because they come faster than allowed: reading may slow down. */
  readonly onOverRate: () => void;
  /** Called when the server cancels a pending request of ours, which only a subscription allows. */
  readonly withdraw: (id: unknown) => void;
}

/** Notifications the host has a use for; progress is decided by its token instead. */
const handledNotifications: ReadonlySet<string> = new Set([
  "notifications/cancelled",
  "notifications/elicitation/complete",
  "notifications/message",
  "notifications/prompts/list_changed",
  "notifications/resources/list_changed",
  "notifications/resources/updated",
  "notifications/subscriptions/acknowledged",
  "notifications/tools/list_changed",
]);

/** How many requests may wait for the era to be known. Nothing was offered yet, so further ones have no claim to an answer. */
const maxEarlyRequests = 16;

/**
 * Takes what the server sends by itself, its notifications and requests: sorts them, bounds their rate,
 * and hands each to whoever it concerns.
 */
export class ServerMessages {
  /** Called for every report of a changed list, however fast they come. */
  onlistchange: ((kind: ListKind) => void) | undefined;
  /** Called for every report of a changed resource, however fast they come, with the params as sent. */
  onresourcechange: ((params: JsonObject | undefined) => void) | undefined;

  readonly #options: ServerMessagesOptions;
  readonly #rate: TokenBucket;
  readonly #serverRequests: ServerRequests;
  #onnotification: ((notification: ServerNotification) => void) | undefined;
  /** Notifications that came before the first handler; undefined once it has heard them. */
  #early: EarlyNotifications | undefined = new EarlyNotifications();
  readonly #earlyRequests: ServerRequest[] = [];
  #overRate = 0;

  constructor(options: ServerMessagesOptions) {
    const { limits, clock, deadlines, answer, inputHandlers: handlers = {} } = options;
    this.#options = options;
    this.#rate = new TokenBucket({
      perSecond: limits.maxNotificationsPerSecond,
      burst: limits.notificationBurst,
      clock,
    });
    this.#serverRequests = new ServerRequests({
      handlers,
      send: answer,
      begin: () => deadlines.pauseDeadline(),
    });
  }

  get onnotification(): ((notification: ServerNotification) => void) | undefined {
    return this.#onnotification;
  }

  /** The first handler also gets, a moment later, the notifications that came before it was set. */
  set onnotification(handler: ((notification: ServerNotification) => void) | undefined) {
    this.#onnotification = handler;
    if (handler === undefined || this.#early === undefined) return;
    if (this.#early.isEmpty) this.#early = undefined;
    else queueMicrotask(() => this.#catchUp());
  }

  /** How many messages came faster than allowed and were dropped. */
  get overRate(): number {
    return this.#overRate;
  }

  /** Takes a message that has a method; false when it is neither notification nor request. */
  take(message: JsonObject): boolean {
    const { method, id, jsonrpc } = message;
    if (typeof method !== "string" || jsonrpc !== "2.0") return false;
    const params = isJsonObject(message["params"]) ? message["params"] : undefined;
    if (id === undefined) {
      this.#notified(method, params);
      return true;
    }
    if (!isRequestId(id)) return false;
    if (this.#hasRoom()) this.#asked({ id, method, params: params ?? {} });
    return true;
  }

  /** Called when the era is known: requests that came before are refused, or ignored in the modern era. */
  eraFound(): void {
    const early = this.#earlyRequests.splice(0);
    if (this.#options.era() === "modern") return;
    for (const request of early) this.#serverRequests.take(request, false);
  }

  /** The connection is over. */
  end(): void {
    this.#serverRequests.end();
  }

  /** The modern era has no requests of the server: even a refusal would break its rules. */
  #asked(request: ServerRequest): void {
    const era = this.#options.era();
    if (era === "legacy" || (era === undefined && request.method === "ping"))
      this.#serverRequests.take(request, era !== undefined);
    else if (era === undefined && this.#earlyRequests.length < maxEarlyRequests)
      this.#earlyRequests.push(request);
  }

  #notified(method: string, params: JsonObject | undefined): void {
    const { deadlines, secrets = [] } = this.#options;
    if (method === "notifications/progress") {
      if (this.#hasRoom() && !deadlines.takeProgress(maskSecrets(params, secrets)))
        deadlines.countUnhandled();
      return;
    }
    if (!handledNotifications.has(method)) deadlines.countUnhandled();
    // Before the rate is asked: a flood must not hide that something has changed.
    this.#note(method, params);
    if (!this.#hasRoom()) return;
    const notification =
      params === undefined ? { method } : { method, params: maskSecrets(params, secrets) };
    if (this.#early === undefined) this.#onnotification?.(notification);
    else this.#early.keep(notification);
  }

  #catchUp(): void {
    const { logger, serverName } = this.#options;
    const early = this.#early;
    if (early === undefined || this.#onnotification === undefined) return;
    for (const notification of early)
      runHandler(() => this.#onnotification?.(notification), logger, serverName);
    // Last: notifications that a handler causes wait for their turn.
    this.#early = undefined;
  }

  #note(method: string, params: JsonObject | undefined): void {
    const list = changedList(method);
    if (list !== undefined) this.onlistchange?.(list);
    else if (method === "notifications/resources/updated") this.onresourcechange?.(params);
    else if (method === "notifications/cancelled") this.#withdrawn(params?.["requestId"]);
  }

  #withdrawn(id: unknown): void {
    const { era, withdraw } = this.#options;
    if (era() === "modern") withdraw(id);
    else this.#serverRequests.cancel(id);
  }

  /** Takes one message off the rate; false, and the message is dropped, when they come too fast. */
  #hasRoom(): boolean {
    if (this.#rate.take()) return true;
    const { logger, serverName } = this.#options;
    if (this.#overRate === 0)
      logger.warn("the server sends faster than allowed; messages are dropped", { serverName });
    this.#overRate += 1;
    this.#options.onOverRate();
    return false;
  }
}

/** Enough for the messages of a server that starts; most of them are lines of log. */
const maxCount = 100;
/** Limit for all notifications together, roughly in characters of JSON. */
const maxWeight = 256 * 1_024;

/**
 * Keeps the notifications that came before there was a handler: the first ones, in order, as many as the
 * bounds allow. Later ones are dropped without a warning, because there may never be a handler.
 */
export class EarlyNotifications {
  readonly #kept: ServerNotification[] = [];
  #weight = 0;

  get isEmpty(): boolean {
    return this.#kept.length === 0;
  }

  keep(notification: ServerNotification): void {
    if (this.#kept.length === maxCount) return;
    const room = maxWeight - this.#weight;
    const weight = weightOf(notification, room);
    if (weight > room) return;
    this.#weight += weight;
    this.#kept.push(notification);
  }

  [Symbol.iterator](): IterableIterator<ServerNotification> {
    return this.#kept.values();
  }
}

/** Roughly the characters of JSON of `value`; the count stops once it is over `limit`. */
function weightOf(value: unknown, limit: number): number {
  if (typeof value === "string") return value.length + 2;
  if (typeof value !== "object" || value === null) return 8;
  let weight = 2;
  for (const key of Array.isArray(value) ? value.keys() : Object.keys(value)) {
    const member: unknown = (value as Readonly<Record<PropertyKey, unknown>>)[key];
    weight += String(key).length + weightOf(member, limit - weight);
    if (weight > limit) break;
  }
  return weight;
}
