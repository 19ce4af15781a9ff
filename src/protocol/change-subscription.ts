import type { McpError } from "../errors/mcp-error.ts";
import type { Clock, Timer } from "../ports/clock.ts";
import type { Logger } from "../ports/logger.ts";
import { CallbackRequest, type RpcAnswer } from "./callback-request.ts";
import { isJsonObject, type JsonObject } from "./json-object.ts";
import type { ListKind } from "./list-kind.ts";
import type { RpcChannel } from "./rpc-channel.ts";

/** A subscription that lasted this long was worth opening; shorter ones make the next wait longer. */
const usefulLifeMs = 10_000;
const firstWaitMs = 1_000;
const longestWaitMs = 60_000;

const methodNotFound = -32_601;
const invalidParams = -32_602;

export interface ChangeSubscriptionOptions {
  readonly serverName: string;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly envelope: JsonObject;
  readonly kinds: readonly ListKind[];
  /** What may have changed unseen while no subscription was open. */
  readonly onGap: (kind: ListKind) => void;
}

/**
 * The one open request on which a server of the modern era reports changes of its lists. It is an
 * extra: its loss is no disconnect. It comes back by itself, later each time it proves short-lived,
 * unless the server says that there is no such thing.
 */
export class ChangeSubscription {
  readonly #channel: RpcChannel;
  readonly #options: ChangeSubscriptionOptions;
  #timer: Timer | undefined;
  #isStarted = false;
  #openedAt = 0;
  #shortLives = 0;

  constructor(channel: RpcChannel, options: ChangeSubscriptionOptions) {
    this.#channel = channel;
    this.#options = options;
  }

  /** Opens it in the background; idempotent. */
  start(): void {
    if (this.#isStarted || this.#options.kinds.length === 0) return;
    this.#isStarted = true;
    this.#open();
  }

  /** It does not come back any more. */
  stop(): void {
    this.#isStarted = true;
    this.#timer?.cancel();
  }

  #open(): void {
    const { kinds, envelope, clock } = this.#options;
    const notifications = Object.fromEntries(kinds.map((kind) => [`${kind}ListChanged`, true]));
    const request = {
      method: "subscriptions/listen",
      params: { notifications, _meta: envelope },
      options: { purpose: "subscription", timeoutMs: 0 } as const,
    };
    this.#openedAt = clock.monotonic();
    this.#channel.request(new CallbackRequest(request, (answer) => this.#ended(answer)));
  }

  #ended(answer: RpcAnswer): void {
    const { clock, logger, serverName } = this.#options;
    if (this.#channel.end !== undefined) return;
    const reason = answer.ok ? "the server ended it" : answer.error.message;
    if (!answer.ok && isFinal(answer.error)) {
      logger.debug("the server reports no changes of its lists", { serverName, reason });
      return;
    }
    const livedMs = clock.monotonic() - this.#openedAt;
    this.#shortLives = livedMs < usefulLifeMs ? this.#shortLives + 1 : 0;
    const waitMs = Math.min(firstWaitMs * 2 ** this.#shortLives, longestWaitMs);
    logger.debug("the subscription to changes ended", { serverName, reason, waitMs });
    this.#timer = clock.schedule(waitMs, () => this.#reopen());
  }

  #reopen(): void {
    const { kinds, onGap } = this.#options;
    this.#open();
    for (const kind of kinds) onGap(kind);
  }
}

/** Whether asking again would give the same answer. */
function isFinal({ code, details, retryable }: McpError): boolean {
  const { rpc, status } = details;
  if (code === "rpc_error" && isJsonObject(rpc))
    return rpc["code"] === methodNotFound || rpc["code"] === invalidParams;
  if (code === "http_error" && typeof status === "number") return status < 500 && !retryable;
  return !retryable;
}
