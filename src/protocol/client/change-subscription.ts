import type { McpError } from "../../errors/mcp-error.ts";
import type { Clock, Timer } from "../../ports/clock.ts";
import type { Logger } from "../../ports/logger.ts";
import type { JsonObject } from "../../text/json-object.ts";
import { CallbackRequest, type RpcAnswer } from "../channel/pending-requests.ts";
import type { RpcChannel } from "../channel/rpc-channel.ts";
import { methodNotFound, rpcCodeOf } from "../wire/json-rpc.ts";

/** A subscription that lasted this long was worth opening; shorter ones make the next wait longer. */
const usefulLifeMs = 10_000;
const firstWaitMs = 1_000;
const longestWaitMs = 60_000;

const invalidParams = -32_602;

export interface ChangeSubscriptionOptions {
  readonly serverName: string;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly envelope: JsonObject;
  /** The changes to be reported, as `subscriptions/listen` names them. */
  readonly notifications: JsonObject;
  /** No subscription was open for a while: anything may have changed unseen. */
  readonly onGap: () => void;
}

/**
 * An open request on which a server of the modern era reports changes. It is an extra: its loss is
 * no disconnect. It comes back by itself, later each time it proves short-lived, unless the server
 * says that there is no such thing.
 */
export class ChangeSubscription {
  readonly #channel: RpcChannel;
  readonly #options: ChangeSubscriptionOptions;
  #timer: Timer | undefined;
  #request: CallbackRequest | undefined;
  #isStarted = false;
  #isStopped = false;
  #openedAt = 0;
  #shortLives = 0;

  constructor(channel: RpcChannel, options: ChangeSubscriptionOptions) {
    this.#channel = channel;
    this.#options = options;
  }

  /** Opens it in the background; idempotent. */
  start(): void {
    const isEmpty = Object.keys(this.#options.notifications).length === 0;
    if (this.#isStarted || this.#isStopped || isEmpty) return;
    this.#isStarted = true;
    this.#open();
  }

  /** Ends it for good. */
  stop(): void {
    this.#isStopped = true;
    this.#timer?.cancel();
    if (this.#request !== undefined) this.#channel.withdraw(this.#request);
  }

  #open(): void {
    const { notifications, envelope, clock } = this.#options;
    const request = {
      method: "subscriptions/listen",
      params: { notifications, _meta: envelope },
      options: { purpose: "subscription", timeoutMs: 0 } as const,
    };
    this.#openedAt = clock.monotonic();
    this.#request = new CallbackRequest(request, (answer) => this.#ended(answer));
    this.#channel.request(this.#request);
  }

  #ended(answer: RpcAnswer): void {
    const { clock, logger, serverName } = this.#options;
    this.#request = undefined;
    if (this.#isStopped || this.#channel.end !== undefined) return;
    const reason = answer.ok ? "the server ended it" : answer.error.message;
    if (!answer.ok && isFinal(answer.error)) {
      logger.debug("the server reports no such changes", { serverName, reason });
      return;
    }
    const livedMs = clock.monotonic() - this.#openedAt;
    this.#shortLives = livedMs < usefulLifeMs ? this.#shortLives + 1 : 0;
    const waitMs = Math.min(firstWaitMs * 2 ** this.#shortLives, longestWaitMs);
    logger.debug("the subscription to changes ended", { serverName, reason, waitMs });
    this.#timer = clock.schedule(waitMs, () => this.#reopen());
  }

  #reopen(): void {
    this.#open();
    this.#options.onGap();
  }
}

/** True when asking again would give the same answer. */
function isFinal(error: McpError): boolean {
  const { code, details, retryable } = error;
  const { status } = details;
  const rpcCode = rpcCodeOf(error);
  if (rpcCode !== undefined) return rpcCode === methodNotFound || rpcCode === invalidParams;
  if (code === "http_error" && typeof status === "number") return status < 500 && !retryable;
  return !retryable;
}
