import type { Limits } from "../../config/keys/limits.ts";
import type { RequestOptions } from "../protocol-client.ts";
import type { RpcRequest } from "./rpc-request.ts";

export interface Expiry {
  readonly limitMs: number;
  /** The time for the whole request is over, not the time for the next sign of life. */
  readonly isTotal: boolean;
}

/** When `request` is over if nothing is heard of it from `now` on; infinity when it has no deadline. */
export function deadlineAfter(request: RpcRequest, now: number, limits: Limits): number {
  const { options, sentAt } = request;
  return Math.min(now + silenceOf(options, limits), sentAt + totalTimeOf(options, limits));
}

/** Which of its limits a request that is over has met. */
export function expiryOf({ options, sentAt, deadlineAt }: RpcRequest, limits: Limits): Expiry {
  const silenceMs = silenceOf(options, limits);
  const totalMs = totalTimeOf(options, limits);
  const isTotal = totalMs > silenceMs && deadlineAt === sentAt + totalMs;
  return { limitMs: isTotal ? totalMs : silenceMs, isTotal };
}

/** Longest time with progress; a longer silence was asked for explicitly and stands. */
export function totalTimeOf(options: RequestOptions, limits: Limits): number {
  return Math.max(silenceOf(options, limits), limits.totalCallTimeoutMs);
}

/** Longest silence; infinity when any is allowed. */
function silenceOf(options: RequestOptions, limits: Limits): number {
  const timeoutMs = options.timeoutMs ?? limits.callTimeoutMs;
  return timeoutMs > 0 ? timeoutMs : Number.POSITIVE_INFINITY;
}
