import type { JSONRPCMessage } from "@modelcontextprotocol/client";

import type { Limits } from "../../config/keys/limits.ts";
import type { Clock } from "../../ports/clock.ts";
import type { Logger } from "../../ports/logger.ts";
import { isJsonObject, type JsonObject } from "../../text/json-object.ts";
import { maskSecrets } from "../../text/mask-secrets.ts";
import type { ProtocolEra, ServerNotification } from "../protocol-client.ts";
import type { InputHandlers } from "../wire/input-handlers.ts";
import { changedList, type ListKind } from "../wire/list-kind.ts";
import { isRequestId } from "../wire/request-id.ts";
import type { RequestWatch } from "./deadlines.ts";
import { EarlyNotifications } from "./early-notifications.ts";
import { isHandledNotification } from "./handled-notification.ts";
import { contain } from "./run-handler.ts";
import { type ServerRequest, ServerRequests } from "./server-requests.ts";
import { TokenBucket } from "./token-bucket.ts";

export interface UnaskedMessagesOptions {
  readonly serverName: string;
  readonly limits: Limits;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly inputHandlers?: InputHandlers | undefined;
  readonly secrets?: readonly string[] | undefined;
  readonly watch: RequestWatch;
  /** Undefined until the handshake has shown it. */
  readonly era: () => ProtocolEra | undefined;
  readonly answer: (answer: JSONRPCMessage) => void;
  /** Messages come faster than allowed and are dropped: whoever reads them need not hurry. */
  readonly onOverRate: () => void;
  /** The server takes back an open request of ours, which only a subscription allows. */
  readonly withdraw: (id: unknown) => void;
}

/** Requests that may wait for the era to be known; nothing was offered yet, so further ones have no claim to an answer. */
const maxEarlyRequests = 16;

/** Notifications and requests of the server: sorted, bounded in rate, handed to whoever they concern. */
export class UnaskedMessages {
  /** Every report of a changed list, however fast they come. */
  onlistchange: ((kind: ListKind) => void) | undefined;
  /** Every report of a changed resource, likewise, with the params as they came. */
  onresourcechange: ((params: JsonObject | undefined) => void) | undefined;

  readonly #options: UnaskedMessagesOptions;
  readonly #rate: TokenBucket;
  readonly #serverRequests: ServerRequests;
  #onnotification: ((notification: ServerNotification) => void) | undefined;
  /** Undefined once they have been heard. */
  #early: EarlyNotifications | undefined = new EarlyNotifications();
  readonly #earlyRequests: ServerRequest[] = [];
  #overRate = 0;

  constructor(options: UnaskedMessagesOptions) {
    const { limits, clock, watch, answer, inputHandlers: handlers = {} } = options;
    this.#options = options;
    this.#rate = new TokenBucket({
      perSecond: limits.maxNotificationsPerSecond,
      burst: limits.notificationBurst,
      clock,
    });
    this.#serverRequests = new ServerRequests({
      handlers,
      send: answer,
      begin: () => watch.hold(),
    });
  }

  get onnotification(): ((notification: ServerNotification) => void) | undefined {
    return this.#onnotification;
  }

  /** The first handler hears in a moment what came before it, and then what comes. */
  set onnotification(handler: ((notification: ServerNotification) => void) | undefined) {
    this.#onnotification = handler;
    if (handler === undefined || this.#early === undefined) return;
    if (this.#early.isEmpty) this.#early = undefined;
    else queueMicrotask(() => this.#catchUp());
  }

  /** Messages that came faster than allowed and were dropped. */
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

  /** The era is known from now on: what was asked before is refused, or left alone. */
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
    const { watch, secrets = [] } = this.#options;
    if (method === "notifications/progress") {
      if (this.#hasRoom() && !watch.progressed(maskSecrets(params, secrets))) watch.unhandled();
      return;
    }
    if (!isHandledNotification(method)) watch.unhandled();
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
      contain(() => this.#onnotification?.(notification), logger, serverName);
    // Not before: what a handler brings about is to wait for its turn.
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

  /** Whether the rate allows one more message that nobody asked for. */
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
