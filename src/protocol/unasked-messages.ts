import type { JSONRPCMessage } from "@modelcontextprotocol/client";

import type { Limits } from "../config/limits.ts";
import type { Clock } from "../ports/clock.ts";
import type { Logger } from "../ports/logger.ts";
import { isHandledNotification } from "./handled-notification.ts";
import type { InputHandlers } from "./input-handlers.ts";
import { isJsonObject, type JsonObject } from "./json-object.ts";
import { changedList, type ListKind } from "./list-kind.ts";
import type { ProtocolEra, ServerNotification } from "./protocol-client.ts";
import { isRequestId } from "./request-id.ts";
import type { RequestWatch } from "./request-watch.ts";
import { ServerRequests } from "./server-requests.ts";
import { TokenBucket } from "./token-bucket.ts";

export interface UnaskedMessagesOptions {
  readonly serverName: string;
  readonly limits: Limits;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly inputHandlers?: InputHandlers | undefined;
  readonly watch: RequestWatch;
  /** Undefined until the handshake has shown it. */
  readonly era: () => ProtocolEra | undefined;
  readonly answer: (answer: JSONRPCMessage) => void;
  /** The server takes back an open request of ours, which only a subscription allows. */
  readonly withdraw: (id: unknown) => void;
}

/** Notifications and requests of the server: sorted, bounded in rate, handed to whoever they concern. */
export class UnaskedMessages {
  onnotification: ((notification: ServerNotification) => void) | undefined;
  /** Every report of a changed list, however fast they come. */
  onlistchange: ((kind: ListKind) => void) | undefined;
  /** Every report of a changed resource, likewise, with the params as they came. */
  onresourcechange: ((params: JsonObject | undefined) => void) | undefined;

  readonly #options: UnaskedMessagesOptions;
  readonly #rate: TokenBucket;
  readonly #serverRequests: ServerRequests;
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
    const era = this.#options.era();
    // The modern era has no requests of the server: even a refusal would break its rules.
    if (this.#hasRoom() && era !== "modern")
      this.#serverRequests.take({ id, method, params: params ?? {} }, era !== undefined);
    return true;
  }

  /** The connection is over. */
  end(): void {
    this.#serverRequests.end();
  }

  #notified(method: string, params: JsonObject | undefined): void {
    const { watch } = this.#options;
    if (method === "notifications/progress") {
      if (this.#hasRoom() && !watch.progressed(params)) watch.unhandled();
      return;
    }
    if (!isHandledNotification(method)) watch.unhandled();
    // Before the rate is asked: a flood must not hide that something has changed.
    this.#note(method, params);
    if (this.#hasRoom())
      this.onnotification?.(params === undefined ? { method } : { method, params });
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
    return false;
  }
}
