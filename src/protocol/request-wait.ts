import type { Limits } from "../config/limits.ts";
import { createError } from "../errors/families.ts";
import type { McpError } from "../errors/mcp-error.ts";
import type { Clock } from "../ports/clock.ts";
import { cancelledFailure } from "./channel-failures.ts";
import { durationText } from "./duration-text.ts";
import type { Wait } from "./notification-budget.ts";
import type { Progress, RequestOptions } from "./protocol-client.ts";
import { RequestDeadline } from "./request-deadline.ts";

export interface RequestWaitContext {
  readonly serverName: string;
  readonly method: string;
  readonly limits: Limits;
  readonly clock: Clock;
}

/**
 * The caller's side of one request: deadline, cancellation and progress. The first reason to give
 * up wins and aborts `signal`, whose reason is the short text the server gets to see.
 */
export class RequestWait implements Wait {
  readonly #context: RequestWaitContext;
  readonly #options: RequestOptions;
  readonly #abort = new AbortController();
  readonly #deadline: RequestDeadline;
  #failure: McpError | undefined;
  #lastProgress = Number.NEGATIVE_INFINITY;

  constructor(options: RequestOptions, context: RequestWaitContext) {
    this.#options = options;
    this.#context = context;
    this.#deadline = new RequestDeadline({
      timeoutMs: options.timeoutMs ?? context.limits.callTimeoutMs,
      totalMs: context.limits.totalCallTimeoutMs,
      clock: context.clock,
      onExpire: ({ limitMs, isTotal }) => this.#expired(limitMs, isTotal),
    });
    if (options.signal?.aborted === true) this.#cancelled();
    else options.signal?.addEventListener("abort", this.#cancelled);
  }

  get signal(): AbortSignal {
    return this.#abort.signal;
  }

  /** Why the wait was given up; undefined while it lasts. */
  get failure(): McpError | undefined {
    return this.#failure;
  }

  fail(error: McpError): void {
    this.#giveUp(error, "protocol violation");
  }

  /** Takes the server's reports; undefined when the caller does not want any. */
  get onProgress(): ((report: Progress) => void) | undefined {
    const { onProgress } = this.#options;
    if (onProgress === undefined) return undefined;
    return (report) => {
      // A report that does not advance would keep a stuck call alive.
      if (this.#failure !== undefined || report.progress <= this.#lastProgress) return;
      this.#lastProgress = report.progress;
      this.#deadline.extend();
      onProgress(report);
    };
  }

  /** Releases the timer and the caller's signal; must be called however the request ended. */
  end(): void {
    this.#deadline.clear();
    this.#options.signal?.removeEventListener("abort", this.#cancelled);
  }

  readonly #cancelled = (): void => {
    const { method, serverName } = this.#context;
    this.#giveUp(cancelledFailure(method, serverName), "cancelled by the caller");
  };

  #expired(limitMs: number, isTotal: boolean): void {
    const { method, serverName } = this.#context;
    const limit = durationText(limitMs);
    const message = isTotal
      ? `${method} did not finish within ${limit}, progress included`
      : `no answer to ${method} within ${limit}`;
    const details = { method, timeoutMs: limitMs, isTotal };
    this.#giveUp(
      createError("timeout", message, { serverName, details }),
      `timed out after ${limit}`,
    );
  }

  #giveUp(failure: McpError, reason: string): void {
    if (this.#failure !== undefined) return;
    this.#failure = failure;
    this.#abort.abort(reason);
  }
}
