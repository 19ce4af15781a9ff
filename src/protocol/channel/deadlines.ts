import type { Limits } from "../../config/keys/limits.ts";
import type { McpError } from "../../errors/mcp-error.ts";
import { type Clock, longestTimerMs, type Timer } from "../../ports/clock.ts";
import { durationText } from "../../text/duration-text.ts";
import type { JsonObject } from "../../text/json-object.ts";
import type { RequestOptions } from "../protocol-client.ts";
import type { RequestOwner } from "../wire/request-owner.ts";
import { type Expiry, timeoutFailure, unhandledFailure } from "./channel-failures.ts";
import type { PendingRequest, PendingRequests } from "./pending-requests.ts";
import { readProgress } from "./progress-report.ts";

/** Deadlines this close together are found in one sweep, so the last of them is late by as much. */
const minIntervalMs = 50;

export interface RequestDeadlinesOptions {
  readonly serverName: string;
  readonly limits: Limits;
  readonly clock: Clock;
  /** Takes out a pending request; `reason` is the short text the server gets to see. */
  readonly giveUp: (request: PendingRequest, error: McpError, reason: string) => void;
}

/** A question of the server that stops the silence of a request from counting. */
export interface PausedDeadline {
  /** `RequestOptions.owner` of the request; undefined when the question may be about any of several. */
  readonly owner: RequestOwner | undefined;
  /** Called when the question is over: silence counts again, from then on. */
  readonly resume: () => void;
}

/**
 * Decides how long pending requests may still wait: until their deadlines, which progress pushes back,
 * and as long as the server does not send too many notifications that nobody handles instead of answers.
 */
export class RequestDeadlines {
  readonly #pending: PendingRequests;
  readonly #options: RequestDeadlinesOptions;
  readonly #sweep: DeadlineSweep;
  #unhandledNotifications = 0;
  /** No pending request has waited through too many before so many have come. */
  #toleratedNotifications = 0;

  constructor(pending: PendingRequests, options: RequestDeadlinesOptions) {
    this.#pending = pending;
    this.#options = options;
    this.#sweep = new DeadlineSweep(options.clock, (now) => this.#expire(now));
  }

  /** Sets the deadline of a request that is sent now. */
  start(request: PendingRequest): void {
    const { clock, limits } = this.#options;
    const now = clock.monotonic();
    request.sentAt = now;
    request.unhandledBefore = this.#unhandledNotifications;
    request.deadlineAt = deadlineAfter(request, now, limits);
    this.#sweep.schedule(request.deadlineAt, now);
  }

  /** Stops the timer, when no request is pending; the next `start` sets it again. */
  stop(): void {
    this.#sweep.stop();
  }

  /**
   * The server asks something of us before it goes on. If only one request is pending, the question is
   * about that one, whose silence does not count until `resume`; its total time does.
   */
  pauseDeadline(): PausedDeadline {
    const [request, ...others] = this.#pending
      .all()
      .filter(({ options }) => options.purpose === undefined);
    if (request === undefined || others.length > 0)
      return { owner: undefined, resume: () => undefined };
    const { limits, clock } = this.#options;
    request.deadlineAt = request.sentAt + totalTimeOf(request.options, limits);
    const resume = () => {
      const now = clock.monotonic();
      request.deadlineAt = deadlineAfter(request, now, limits);
      if (this.#pending.get(request.id) !== undefined)
        this.#sweep.schedule(request.deadlineAt, now);
    };
    return { owner: request.options.owner, resume };
  }

  /** Takes a progress notification; false when no request wants reports under its token. */
  takeProgress(params: JsonObject | undefined): boolean {
    const progress = readProgress(params);
    const request = progress && this.#pending.get(progress.token);
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

  /** Counts a notification that nobody handles; requests that have now waited through too many fail. */
  countUnhandled(): void {
    const { limits, serverName, giveUp } = this.#options;
    const limit = limits.maxUnhandledNotifications;
    this.#unhandledNotifications += 1;
    if (this.#unhandledNotifications <= this.#toleratedNotifications) return;
    // A request that is sent later has a later limit.
    this.#toleratedNotifications = this.#unhandledNotifications + limit;
    for (const request of this.#pending.all()) {
      if (request.options.purpose === "subscription") continue;
      const tolerated = request.unhandledBefore + limit;
      if (tolerated < this.#unhandledNotifications)
        giveUp(request, unhandledFailure(limit, serverName), "protocol violation");
      else this.#toleratedNotifications = Math.min(this.#toleratedNotifications, tolerated);
    }
  }

  #expire(now: number): number {
    let next = Number.POSITIVE_INFINITY;
    for (const request of this.#pending.all()) {
      // Timers may fire a fraction early; a wait of under a millisecond is over.
      if (request.deadlineAt - now < 1) this.#timedOut(request);
      else next = Math.min(next, request.deadlineAt);
    }
    return next;
  }

  #timedOut(request: PendingRequest): void {
    const { limits, serverName, giveUp } = this.#options;
    const expiry = expiryOf(request, limits);
    const error = timeoutFailure(expiry, { serverName, method: request.method });
    giveUp(request, error, `timed out after ${durationText(expiry.limitMs)}`);
  }
}

/**
 * One timer for the deadlines of all requests of a connection. Setting a deadline costs a comparison as
 * long as a sweep is due before it, and nothing has to be taken back: a sweep that finds nothing over
 * only looks for the next deadline.
 */
export class DeadlineSweep {
  readonly #clock: Clock;
  /** Ends what is over at `now`; returns the next deadline, infinity when there is none. */
  readonly #sweep: (now: number) => number;
  #timer: Timer | undefined;
  #dueAt = Number.POSITIVE_INFINITY;

  constructor(clock: Clock, sweep: (now: number) => number) {
    this.#clock = clock;
    this.#sweep = sweep;
  }

  /** A sweep happens at `deadlineAt` or before. */
  schedule(deadlineAt: number, now: number): void {
    if (deadlineAt >= this.#dueAt) return;
    this.#timer?.cancel();
    this.#dueAt = deadlineAt;
    // A deadline beyond the longest timer takes several.
    this.#timer = this.#clock.schedule(Math.min(deadlineAt - now, longestTimerMs), this.#run);
  }

  stop(): void {
    this.#timer?.cancel();
    this.#dueAt = Number.POSITIVE_INFINITY;
  }

  readonly #run = (): void => {
    this.#dueAt = Number.POSITIVE_INFINITY;
    const now = this.#clock.monotonic();
    const next = this.#sweep(now);
    this.schedule(Math.max(next, now + minIntervalMs), now);
  };
}

/** Longest time a request may take with progress; a longer silence was asked for explicitly and stands. */
export function totalTimeOf(options: RequestOptions, limits: Limits): number {
  return Math.max(silenceOf(options, limits), limits.totalCallTimeoutMs);
}

/** When `request` is over if nothing is heard of it from `now` on; infinity when it has no deadline. */
function deadlineAfter(request: PendingRequest, now: number, limits: Limits): number {
  const { options, sentAt } = request;
  return Math.min(now + silenceOf(options, limits), sentAt + totalTimeOf(options, limits));
}

function expiryOf({ options, sentAt, deadlineAt }: PendingRequest, limits: Limits): Expiry {
  const silenceMs = silenceOf(options, limits);
  const totalMs = totalTimeOf(options, limits);
  const isTotal = totalMs > silenceMs && deadlineAt === sentAt + totalMs;
  return { limitMs: isTotal ? totalMs : silenceMs, isTotal };
}

/** Longest silence of a request; infinity when any is allowed. */
function silenceOf(options: RequestOptions, limits: Limits): number {
  const timeoutMs = options.timeoutMs ?? limits.callTimeoutMs;
  return timeoutMs > 0 ? timeoutMs : Number.POSITIVE_INFINITY;
}
