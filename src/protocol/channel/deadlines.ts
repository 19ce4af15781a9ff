import type { Limits } from "../../config/keys/limits.ts";
import type { McpError } from "../../errors/mcp-error.ts";
import type { Clock } from "../../ports/clock.ts";
import { durationText } from "../../text/duration-text.ts";
import type { JsonObject } from "../wire/json-object.ts";
import { noiseFailure, timeoutFailure } from "./channel-failures.ts";
import { DeadlineSweep } from "./deadline-sweep.ts";
import type { RequestLedger } from "./pending-requests.ts";
import { readProgress } from "./progress-report.ts";
import { deadlineAfter, expiryOf, totalTimeOf } from "./request-deadline.ts";
import type { RpcRequest } from "./rpc-request.ts";

export interface RequestWatchOptions {
  readonly serverName: string;
  readonly limits: Limits;
  readonly clock: Clock;
  /** Takes the request out of the ledger; `reason` is the short text the server gets to see. */
  readonly giveUp: (request: RpcRequest, error: McpError, reason: string) => void;
}

/**
 * How long the open requests may still wait: until their deadlines, which progress pushes back, and
 * as long as the server does not send too many notifications that nobody handles instead of answers.
 */
export class RequestWatch {
  readonly #ledger: RequestLedger;
  readonly #options: RequestWatchOptions;
  readonly #sweep: DeadlineSweep;
  /** Notifications that nobody handles, so far. */
  #noise = 0;

  constructor(ledger: RequestLedger, options: RequestWatchOptions) {
    this.#ledger = ledger;
    this.#options = options;
    this.#sweep = new DeadlineSweep(options.clock, (now) => this.#expire(now));
  }

  begin(request: RpcRequest): void {
    const { clock, limits } = this.#options;
    const now = clock.monotonic();
    request.sentAt = now;
    request.noiseBefore = this.#noise;
    request.deadlineAt = deadlineAfter(request, now, limits);
    this.#sweep.expect(request.deadlineAt, now);
  }

  stop(): void {
    this.#sweep.stop();
  }

  /**
   * The server asks something of us before it goes on. If only one request is open, it is asked on
   * behalf of that one, whose silence does not count until `end`; its total time does.
   */
  hold(): { readonly owner: RequestOwner | undefined; readonly end: () => void } {
    const [request, ...others] = [...this.#ledger.requests()].filter(
      ({ options }) => options.purpose === undefined,
    );
    if (request === undefined || others.length > 0)
      return { owner: undefined, end: () => undefined };
    const { limits, clock } = this.#options;
    request.deadlineAt = request.sentAt + totalTimeOf(request.options, limits);
    const end = () => {
      const now = clock.monotonic();
      request.deadlineAt = deadlineAfter(request, now, limits);
      if (this.#ledger.get(request.id) !== undefined) this.#sweep.expect(request.deadlineAt, now);
    };
    return { owner: request.options.owner, end };
  }

  /** Takes a progress notification; false when nobody waits for reports under its token. */
  progressed(params: JsonObject | undefined): boolean {
    const progress = readProgress(params);
    const request = progress && this.#ledger.get(progress.token);
    if (progress === undefined || request?.options.onProgress === undefined) return false;
    const { report } = progress;
    // A report that does not advance would keep a stuck call alive.
    if (report.progress <= request.lastProgress) return true;
    const { clock, limits } = this.#options;
    request.lastProgress = report.progress;
    request.deadlineAt = deadlineAfter(request, clock.monotonic(), limits);
    request.options.onProgress(report);
    return true;
  }

  /** Counts one notification that nobody handles; requests that have now sat through too many fail. */
  unhandled(): void {
    const { limits, serverName, giveUp } = this.#options;
    const limit = limits.maxUnhandledNotifications;
    this.#noise += 1;
    // Oldest first, so the first that may still wait is followed only by others that may.
    for (const request of this.#ledger.requests()) {
      if (request.options.purpose === "subscription") continue;
      if (this.#noise - request.noiseBefore <= limit) return;
      giveUp(request, noiseFailure(limit, serverName), "protocol violation");
    }
  }

  #expire(now: number): number {
    let next = Number.POSITIVE_INFINITY;
    for (const request of this.#ledger.requests()) {
      // Timers may fire a fraction early; a wait of under a millisecond is over.
      if (request.deadlineAt - now < 1) this.#timedOut(request);
      else next = Math.min(next, request.deadlineAt);
    }
    return next;
  }

  #timedOut(request: RpcRequest): void {
    const { limits, serverName, giveUp } = this.#options;
    const expiry = expiryOf(request, limits);
    const error = timeoutFailure(expiry, { serverName, method: request.method });
    giveUp(request, error, `timed out after ${durationText(expiry.limitMs)}`);
  }
}
